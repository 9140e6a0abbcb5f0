#include "unit_tests/fakes/fake_backend.h"

#include "shared/base/checked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace causeway::fakes {
namespace {

constexpr uint64_t hostGranularity = 4096;

class FakeDevice final : public kmd::Device {
  public:
    FakeDevice(const FakeConfig &config, uint32_t index, std::shared_ptr<FakeState> state)
        : granularity_(config.granularity), state_(std::move(state)) {
        properties_.name = "fake device";
        properties_.uuid.fill(0xFA);
        properties_.uuid.back() = static_cast<uint8_t>(index);
        properties_.memoryBytes = config.memoryBytes;
        properties_.threadCount = 1;
    }

    [[nodiscard]] const kmd::DeviceProperties &properties() const override { return properties_; }

    [[nodiscard]] kmd::PageRules pageRules(Placement placement) const override {
        return {.granularity = placement == Placement::Host ? hostGranularity : granularity_,
                .preferredSmall = granularity_,
                .preferredLarge = uint64_t{2} << 20,
                .largeFrom = uint64_t{2} << 20};
    }

    [[nodiscard]] uint64_t freeBytes() const override {
        return properties_.memoryBytes - state_->bytesInUse(*this);
    }

  private:
    kmd::DeviceProperties properties_;
    uint64_t granularity_;
    std::shared_ptr<FakeState> state_;
};

class FakeBacking final : public kmd::Backing {
  public:
    FakeBacking(std::shared_ptr<FakeState> state, ObjectKind kind, uint64_t sizeBytes)
        : state_(std::move(state)), kind_(kind), sizeBytes_(sizeBytes) {
        state_->addBacking();
    }

    FakeBacking(const FakeBacking &) = delete;
    FakeBacking &operator=(const FakeBacking &) = delete;

    ~FakeBacking() override { state_->removeBacking(); }

    [[nodiscard]] ObjectKind kind() const override { return kind_; }

    [[nodiscard]] uint64_t sizeBytes() const override { return sizeBytes_; }

    [[nodiscard]] bool holdsOneObject() const override { return false; }

    [[nodiscard]] bool canTravel() const override { return false; }

    [[nodiscard]] std::shared_ptr<kmd::PublishedFile> publish(kmd::PublishUntil) override {
        return nullptr;
    }

    [[nodiscard]] Result<kmd::TravelFd> exportDescriptor(std::span<const kmd::Extent>) override {
        return fail(Status::UnsupportedFeature, "fake memory has no descriptor");
    }

  private:
    std::shared_ptr<FakeState> state_;
    ObjectKind kind_;
    uint64_t sizeBytes_;
};

class FakeMemory final : public kmd::Memory {
  public:
    FakeMemory(std::shared_ptr<FakeState> state,
               const kmd::Device &device,
               const kmd::ImportInfo &info,
               uint64_t chargedBytes,
               bool imported)
        : state_(std::move(state))
        , device_(device)
        , info_(info)
        , chargedBytes_(chargedBytes)
        , imported_(imported)
        , backing_(std::make_shared<FakeBacking>(state_, info.kind, info.sizeBytes)) {
        state_->addMemory();
    }

    FakeMemory(const FakeMemory &) = delete;
    FakeMemory &operator=(const FakeMemory &) = delete;

    ~FakeMemory() override {
        state_->returnBytes(device_, chargedBytes_);
        state_->removeMemory(*this);
    }

    [[nodiscard]] uint64_t sizeBytes() const override { return info_.sizeBytes; }

    [[nodiscard]] Placement placement() const override { return info_.placement; }

    [[nodiscard]] const kmd::Device &device() const override { return device_; }

    [[nodiscard]] const DeviceUuid &owner() const override { return info_.owner; }

    [[nodiscard]] const std::shared_ptr<kmd::Backing> &backing() const override { return backing_; }

    [[nodiscard]] uint64_t backingOffset() const override { return 0; }

    void dropDescriptor() override {
        if (imported_) {
            state_->drop(*this);
        }
    }

  private:
    std::shared_ptr<FakeState> state_;
    const kmd::Device &device_;
    kmd::ImportInfo info_;
    uint64_t chargedBytes_;
    bool imported_;
    std::shared_ptr<kmd::Backing> backing_;
};

class FakePool final : public kmd::MemoryPool {
  public:
    explicit FakePool(std::shared_ptr<FakeState> state) : state_(std::move(state)) {}

    [[nodiscard]] Result<std::shared_ptr<kmd::Memory>> create(
        const kmd::Device &device, const kmd::CreateInfo &wanted) override {
        const auto [placement, sizeBytes, file] = wanted;
        if (auto error = state_->fault("create")) {
            return std::unexpected(std::move(*error));
        }
        if (sizeBytes == 0 || !isAligned(sizeBytes, device.pageRules(placement).granularity)) {
            ADD_FAILURE() << "create of " << sizeBytes << " bytes: not at the granularity";
            return fail(Status::InvalidArgument, "not at the granularity");
        }
        const uint64_t charged = placement == Placement::Device ? sizeBytes : 0;
        if (!state_->takeBytes(device, charged, device.properties().memoryBytes)) {
            return fail(Status::OutOfDeviceMemory, "the fake device has no {} bytes", sizeBytes);
        }
        const kmd::ImportInfo info = {
            .placement = placement, .sizeBytes = sizeBytes, .owner = device.properties().uuid};
        return std::make_shared<FakeMemory>(state_, device, info, charged, false);
    }

    /// Takes any descriptor for what it is said to be, and closes it.
    [[nodiscard]] Result<std::shared_ptr<kmd::Memory>> importObject(
        const kmd::Device &device, UniqueFd, const kmd::ImportInfo &info) override {
        if (auto error = state_->fault("importObject")) {
            return std::unexpected(std::move(*error));
        }
        return std::make_shared<FakeMemory>(state_, device, info, 0, true);
    }

  private:
    std::shared_ptr<FakeState> state_;
};

} // namespace

FakeBackend::FakeBackend(const FakeConfig &config) {
    for (uint32_t i = 0; i < config.deviceCount; ++i) {
        devices_.push_back(std::make_unique<FakeDevice>(config, i, state_));
    }
}

FakeBackend::~FakeBackend() {
    EXPECT_EQ(liveMemory(), 0U) << "memory outlives its backend";
    EXPECT_EQ(liveBackings(), 0U) << "a backing outlives its backend";
}

bool FakeBackend::canReach(const kmd::Device &, const DeviceUuid &uuid) const {
    return std::ranges::any_of(
        devices_, [&](const auto &device) { return device->properties().uuid == uuid; });
}

Result<kmd::FoundObject> FakeBackend::identify(UniqueFd) const {
    return fail(Status::InvalidArgument, "it is no fake memory: that has no descriptors");
}

Result<std::unique_ptr<kmd::MemoryPool>> FakeBackend::createPool() {
    if (auto error = state_->fault("createPool")) {
        return std::unexpected(std::move(*error));
    }
    return std::make_unique<FakePool>(state_);
}

Result<std::unique_ptr<kmd::AddressSpace>> FakeBackend::createAddressSpace() {
    if (auto error = state_->fault("createAddressSpace")) {
        return std::unexpected(std::move(*error));
    }
    return std::make_unique<FakeAddressSpace>(state_);
}

void FakeBackend::reclaim() {
    ++reclaims_;
}

} // namespace causeway::fakes
