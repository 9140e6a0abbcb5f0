#pragma once

#include "source/kmd/kmd.h"
#include "unit_tests/fakes/fake_address_space.h"
#include "unit_tests/fakes/fake_state.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace causeway::fakes {

struct FakeConfig {
    uint32_t deviceCount = 1;
    uint64_t memoryBytes = uint64_t{1} << 40;  ///< of each device; host memory is not limited
    uint64_t granularity = uint64_t{64} << 10; ///< of device memory; host memory: 4 KiB
};

/// A kmd that keeps books and holds no memory: sizes, addresses and counts are real, bytes are not,
/// and no descriptor is ever made. It checks what kmd.h demands of the caller (FakeAddressSpace)
/// and fails on demand. For tests of the memory manager; tests of IPC use the soft backend.
class FakeBackend final : public kmd::Backend {
  public:
    explicit FakeBackend(const FakeConfig &config = {});
    FakeBackend(const FakeBackend &) = delete;
    FakeBackend &operator=(const FakeBackend &) = delete;
    /// Fails the test if memory or a backing is left.
    ~FakeBackend() override;

    [[nodiscard]] std::span<const std::unique_ptr<kmd::Device>> devices() const override {
        return devices_;
    }

    /// Its own devices only.
    [[nodiscard]] bool canReach(const kmd::Device &device, const DeviceUuid &uuid) const override;
    [[nodiscard]] Result<kmd::FoundObject> identify(UniqueFd file) const override;
    [[nodiscard]] Result<std::unique_ptr<kmd::MemoryPool>> createPool() override;
    [[nodiscard]] Result<std::unique_ptr<kmd::AddressSpace>> createAddressSpace() override;
    void reclaim() override;

    /// The k-th operation from now (1: the next) fails once with `status` and has no effect; 0:
    /// none will. Operations: createPool, createAddressSpace, create, importObject, reserve,
    /// release, bind, unbind, protect.
    void failAt(uint64_t k, Status status) { state_->failAt(k, status); }

    [[nodiscard]] uint64_t operations() const { return state_->operations(); }

    /// The name of the operation that was made to fail last; empty if none was.
    [[nodiscard]] std::string lastFault() const { return state_->lastFault(); }

    [[nodiscard]] uint64_t liveMemory() const { return state_->liveMemory(); }

    [[nodiscard]] uint64_t liveBackings() const { return state_->liveBackings(); }

    [[nodiscard]] uint64_t reclaims() const { return reclaims_; }

  private:
    std::shared_ptr<FakeState> state_ = std::make_shared<FakeState>();
    std::vector<std::unique_ptr<kmd::Device>> devices_;
    std::atomic<uint64_t> reclaims_ = 0;
};

} // namespace causeway::fakes
