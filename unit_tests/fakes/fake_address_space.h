#pragma once

#include "shared/base/mutex.h"
#include "source/kmd/kmd.h"
#include "unit_tests/fakes/fake_state.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace causeway::fakes {

/// What the fake has bound at an address. `memory` may be compared, and used while it lives.
struct FakeBinding {
    uint64_t va = 0;
    uint64_t sizeBytes = 0;
    const kmd::Memory *memory = nullptr;
    uint64_t offset = 0; ///< in the memory object
    Access access = Access::None;
};

/// An address space that is a pair of interval maps: nothing is mapped, addresses must not be
/// touched. Each breach of kmd.h's rules by the caller (binding over something bound, outside
/// reserved space, beyond the object, not at its granularity; a release that is no whole
/// reservation; protecting what is not bound) fails the test and answers InvalidArgument.
class FakeAddressSpace final : public kmd::AddressSpace {
  public:
    explicit FakeAddressSpace(std::shared_ptr<FakeState> state);
    FakeAddressSpace(const FakeAddressSpace &) = delete;
    FakeAddressSpace &operator=(const FakeAddressSpace &) = delete;
    /// Fails the test if a reservation is left.
    ~FakeAddressSpace() override;

    [[nodiscard]] Result<uint64_t> reserve(uint64_t hint,
                                           uint64_t sizeBytes,
                                           uint64_t alignment) override;
    [[nodiscard]] Result<void> release(uint64_t va, uint64_t sizeBytes) override;
    void discard(uint64_t va, uint64_t sizeBytes) noexcept override;
    [[nodiscard]] Result<void> bind(std::span<const kmd::Binding> bindings) override;
    [[nodiscard]] Result<void> unbind(uint64_t va, uint64_t sizeBytes) override;
    [[nodiscard]] Result<void> protect(uint64_t va, uint64_t sizeBytes, Access access) override;

    /// The binding that holds this address.
    [[nodiscard]] std::optional<FakeBinding> bindingAt(uint64_t va) const;
    [[nodiscard]] std::vector<FakeBinding> bindings() const;
    [[nodiscard]] size_t reservationCount() const;
    [[nodiscard]] bool binds(const kmd::Memory &memory) const;

  private:
    using Bound = std::map<uint64_t, FakeBinding>;

    [[nodiscard]] bool isFree(uint64_t va, uint64_t sizeBytes) const REQUIRES(mutex_);
    [[nodiscard]] bool isReserved(uint64_t va, uint64_t sizeBytes) const REQUIRES(mutex_);
    [[nodiscard]] bool isBoundThroughout(uint64_t va, uint64_t sizeBytes) const REQUIRES(mutex_);
    [[nodiscard]] Bound::const_iterator firstBoundAfter(uint64_t va) const REQUIRES(mutex_);
    [[nodiscard]] Result<void> check(const kmd::Binding &binding) const REQUIRES(mutex_);
    void splitAt(uint64_t va) REQUIRES(mutex_);
    void erase(uint64_t va, uint64_t sizeBytes) REQUIRES(mutex_);

    std::shared_ptr<FakeState> state_;
    mutable Mutex mutex_;
    std::map<uint64_t, uint64_t> reserved_ GUARDED_BY(mutex_); ///< size by address
    Bound bound_ GUARDED_BY(mutex_);
    uint64_t next_ GUARDED_BY(mutex_) = uint64_t{1} << 44; ///< above it all is free
};

} // namespace causeway::fakes
