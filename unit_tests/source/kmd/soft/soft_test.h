#pragma once

#include "shared/os/linux_os.h"
#include "source/kmd/soft/soft_backend.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace causeway::kmd::soft {

inline constexpr uint64_t page = uint64_t{64} << 10;
inline constexpr uint64_t largePage = uint64_t{2} << 20;
inline constexpr uint64_t deviceBytes = uint64_t{1} << 40; ///< sparse: nobody touches it all

/// One soft backend over an Os that fails on demand, with one pool and one address space.
class SoftTest : public fakes::ResourceCheckedTest {
  protected:
    explicit SoftTest(SoftConfig config = {}) { start(config); }

    void start(SoftConfig config) {
        pool_.reset();
        space_.reset();
        if (config.memoryBytes == 0) {
            config.memoryBytes = deviceBytes;
        }
        backend_ = std::make_unique<SoftBackend>(os_, config);
        pool_ = std::move(*backend_->createPool());
        space_ = std::move(*backend_->createAddressSpace());
    }

    [[nodiscard]] const Device &device() const { return *backend_->devices().front(); }

    [[nodiscard]] uint64_t usedBytes() const {
        return device().properties().memoryBytes - device().freeBytes();
    }

    [[nodiscard]] std::shared_ptr<Memory> create(uint64_t sizeBytes,
                                                 Placement placement = Placement::Device) {
        auto memory = pool_->create(device(), {.placement = placement, .sizeBytes = sizeBytes});
        EXPECT_TRUE(memory) << memory.error().message;
        return memory ? std::move(*memory) : nullptr;
    }

    [[nodiscard]] std::vector<std::shared_ptr<Memory>> createMany(size_t count,
                                                                  uint64_t sizeBytes) {
        std::vector<std::shared_ptr<Memory>> objects(count);
        std::ranges::generate(objects, [&] { return create(sizeBytes); });
        return objects;
    }

    [[nodiscard]] Result<TravelFd> exportOne(const Memory &memory) {
        const Extent extent = {.offset = memory.backingOffset(), .sizeBytes = memory.sizeBytes()};
        return memory.backing()->exportDescriptor({&extent, 1});
    }

    /// How many open descriptors have this in their name.
    [[nodiscard]] static size_t descriptorsNamed(const std::string &text) {
        const auto all = fakes::ResourceSnapshot::take().descriptors;
        return static_cast<size_t>(std::ranges::count_if(
            all, [&](const auto &entry) { return entry.second.find(text) != std::string::npos; }));
    }

    fakes::FaultyOs os_{linuxOs()};
    std::unique_ptr<SoftBackend> backend_;
    std::unique_ptr<MemoryPool> pool_;
    std::unique_ptr<AddressSpace> space_;
};

/// The same with every object in a bank.
class SoftBankTest : public SoftTest {
  protected:
    SoftBankTest() : SoftTest({.ownFileBudget = 0}) {}
};

[[nodiscard]] inline std::span<std::byte> bytesAt(uint64_t va, uint64_t sizeBytes) {
    return {reinterpret_cast<std::byte *>(va), sizeBytes}; // NOLINT(performance-no-int-to-ptr)
}

[[nodiscard]] inline bool holds(uint64_t va, uint64_t sizeBytes, uint8_t value) {
    return std::ranges::all_of(bytesAt(va, sizeBytes),
                               [&](std::byte byte) { return byte == std::byte{value}; });
}

inline void fill(uint64_t va, uint64_t sizeBytes, uint8_t value) {
    std::ranges::fill(bytesAt(va, sizeBytes), std::byte{value});
}

} // namespace causeway::kmd::soft
