#pragma once

#include "unit_tests/fakes/fake_backend.h"

#include <memory>
#include <utility>

namespace causeway::memory {

/// The fake backend, with a look at the address space that a memory manager made itself.
class WatchedBackend final : public kmd::Backend {
  public:
    explicit WatchedBackend(const fakes::FakeConfig &config = {}) : fake_(config) {}

    [[nodiscard]] std::span<const std::unique_ptr<kmd::Device>> devices() const override {
        return fake_.devices();
    }

    [[nodiscard]] bool canReach(const kmd::Device &device, const DeviceUuid &uuid) const override {
        return fake_.canReach(device, uuid);
    }

    [[nodiscard]] Result<kmd::FoundObject> identify(UniqueFd file) const override {
        return fake_.identify(std::move(file));
    }

    [[nodiscard]] Result<std::unique_ptr<kmd::MemoryPool>> createPool() override {
        return fake_.createPool();
    }

    [[nodiscard]] Result<std::unique_ptr<kmd::AddressSpace>> createAddressSpace() override {
        auto space = fake_.createAddressSpace();
        space_ = space ? static_cast<fakes::FakeAddressSpace *>(space->get()) : nullptr;
        return space;
    }

    void reclaim() override { fake_.reclaim(); }

    [[nodiscard]] fakes::FakeBackend &fake() { return fake_; }

    /// The one made last; valid as long as its memory manager.
    [[nodiscard]] const fakes::FakeAddressSpace &space() const { return *space_; }

  private:
    fakes::FakeBackend fake_;
    fakes::FakeAddressSpace *space_ = nullptr;
};

} // namespace causeway::memory
