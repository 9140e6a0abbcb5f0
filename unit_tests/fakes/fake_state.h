#pragma once

#include "shared/base/mutex.h"
#include "source/kmd/kmd.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace causeway::fakes {

class FakeAddressSpace;

/// What the parts of a FakeBackend share: counters, the fault plan and what is alive. Thread-safe;
/// shared, so that memory may outlive its pool and even the backend. Locks its own mutex before an
/// address space's.
class FakeState {
  public:
    /// Nothing, or the error that this operation must answer. Each operation that can fail asks
    /// once, before it does anything.
    [[nodiscard]] std::optional<Error> fault(const char *operation);

    void failAt(uint64_t k, Status status);
    [[nodiscard]] uint64_t operations() const;
    [[nodiscard]] std::string lastFault() const;

    void addMemory();
    /// Fails the test if an address space still binds it.
    void removeMemory(const kmd::Memory &memory);
    [[nodiscard]] uint64_t liveMemory() const;
    /// Binding it fails from now on.
    void drop(const kmd::Memory &memory);
    [[nodiscard]] bool isDropped(const kmd::Memory &memory) const;
    void addBacking();
    void removeBacking();
    [[nodiscard]] uint64_t liveBackings() const;

    void addSpace(const FakeAddressSpace &space);
    void removeSpace(const FakeAddressSpace &space);

    /// Nothing where `sizeBytes` more would exceed `limit`.
    [[nodiscard]] bool takeBytes(const kmd::Device &device, uint64_t sizeBytes, uint64_t limit);
    void returnBytes(const kmd::Device &device, uint64_t sizeBytes);
    [[nodiscard]] uint64_t bytesInUse(const kmd::Device &device) const;

  private:
    mutable Mutex mutex_;
    uint64_t operations_ GUARDED_BY(mutex_) = 0;
    uint64_t failing_ GUARDED_BY(mutex_) = 0; ///< number of the operation, 0: none
    Status status_ GUARDED_BY(mutex_) = Status::Unknown;
    std::string lastFault_ GUARDED_BY(mutex_);
    uint64_t memory_ GUARDED_BY(mutex_) = 0;
    uint64_t backings_ GUARDED_BY(mutex_) = 0;
    std::set<const kmd::Memory *> dropped_ GUARDED_BY(mutex_);
    std::vector<const FakeAddressSpace *> spaces_ GUARDED_BY(mutex_);
    std::map<const kmd::Device *, uint64_t> bytes_ GUARDED_BY(mutex_);
};

} // namespace causeway::fakes
