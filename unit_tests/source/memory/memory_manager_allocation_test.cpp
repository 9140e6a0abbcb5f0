#include "unit_tests/source/memory/memory_fixture.h"

namespace causeway::memory {
namespace {

class AllocationTest : public MemoryFixture {
  protected:
    [[nodiscard]] Result<uint64_t> tryAllocate(AllocationKind kind,
                                               uint64_t sizeBytes,
                                               uint64_t alignment = 0) {
        return manager_->allocate(
            {.kind = kind, .device = &device(), .sizeBytes = sizeBytes, .alignment = alignment});
    }
};

TEST_F(AllocationTest, HasTheSizeAskedForAndAWholePageBehindIt) {
    const uint64_t va = allocate(AllocationKind::Device, 1000);

    const auto range = must(manager_->addressRange(va + 999));
    EXPECT_EQ(range.base, va);
    EXPECT_EQ(range.sizeBytes, 1000U);
    EXPECT_EQ(backend_.space().bindingAt(va)->sizeBytes, devicePage);
    EXPECT_EQ(backend_.space().bindingAt(va)->access, Access::ReadWrite);
}

TEST_F(AllocationTest, WhatFillsItsPageIsNotOurs) {
    const uint64_t va = allocate(AllocationKind::Host, 1000);

    EXPECT_TRUE(failsWith(manager_->addressRange(va + 1000), Status::AddressNotFound));
    EXPECT_EQ(manager_->pointerInfo(va + 1000).kind, PointerKind::Unknown);
}

TEST_F(AllocationTest, SizeZeroAndMoreThanTheDeviceHasAreUnsupported) {
    EXPECT_TRUE(failsWith(tryAllocate(AllocationKind::Device, 0), Status::UnsupportedSize));
    EXPECT_TRUE(failsWith(tryAllocate(AllocationKind::Shared, (uint64_t{1} << 40) + 1),
                          Status::UnsupportedSize));
    EXPECT_TRUE(
        failsWith(tryAllocate(AllocationKind::Device, UINT64_MAX), Status::UnsupportedSize));
    EXPECT_TRUE(failsWith(tryAllocate(AllocationKind::Host, UINT64_MAX), Status::UnsupportedSize));
}

TEST_F(AllocationTest, BeyondWhatIsLeftIsOutOfDeviceMemory) {
    const uint64_t va = allocate(AllocationKind::Device, (uint64_t{1} << 40) - devicePage);

    EXPECT_TRUE(
        failsWith(tryAllocate(AllocationKind::Device, 2 * devicePage), Status::OutOfDeviceMemory));
    EXPECT_EQ(backend_.space().reservationCount(), 1U);

    must(manager_->free(va));
    EXPECT_TRUE(succeeds(tryAllocate(AllocationKind::Device, 2 * devicePage)));
}

TEST_F(AllocationTest, AlignmentMustBeAPowerOfTwo) {
    EXPECT_TRUE(failsWith(tryAllocate(AllocationKind::Device, devicePage, 3),
                          Status::UnsupportedAlignment,
                          "power of two"));
    EXPECT_EQ(backend_.fake().liveMemory(), 0U);
}

TEST_F(AllocationTest, AlignmentIsKept) {
    (void)allocate(AllocationKind::Device, devicePage);

    const uint64_t va = must(tryAllocate(AllocationKind::Device, devicePage, uint64_t{1} << 30));

    EXPECT_EQ(va % (uint64_t{1} << 30), 0U);
    EXPECT_EQ(must(tryAllocate(AllocationKind::Host, 1, 1)) % osPage, 0U);
}

TEST_F(AllocationTest, AnAlignmentBeyondTheAddressesIsOutOfDeviceMemory) {
    EXPECT_TRUE(failsWith(tryAllocate(AllocationKind::Device, devicePage, uint64_t{1} << 63),
                          Status::OutOfDeviceMemory));
    EXPECT_EQ(backend_.fake().liveMemory(), 0U);
}

TEST_F(AllocationTest, IsFreedByItsBaseOnceOnly) {
    const uint64_t va = allocate(AllocationKind::Device, 2 * devicePage);

    EXPECT_TRUE(failsWith(manager_->free(va + devicePage), Status::InvalidArgument));
    EXPECT_TRUE(succeeds(manager_->free(va)));
    EXPECT_TRUE(failsWith(manager_->free(va), Status::InvalidArgument, "not the start"));
    EXPECT_EQ(backend_.fake().liveMemory(), 0U);
    EXPECT_EQ(backend_.space().reservationCount(), 0U);
}

TEST_F(AllocationTest, ReservationsMappingsAndImportsAreNotFreed) {
    const uint64_t va = reserve(1);
    map(va, 1, object(1));
    const uint64_t import = importRange({Access::ReadWrite});

    for (const uint64_t address : {uint64_t{0}, va, import}) {
        EXPECT_TRUE(failsWith(manager_->free(address), Status::InvalidArgument));
    }
}

TEST_F(AllocationTest, PointerInfoSaysTheKindAskedFor) {
    const uint64_t onDevice = allocate(AllocationKind::Device, 10);
    const uint64_t host = allocate(AllocationKind::Host, 10);
    const uint64_t shared = allocate(AllocationKind::Shared, 10);

    EXPECT_EQ(manager_->pointerInfo(onDevice + 9).kind, PointerKind::Device);
    EXPECT_EQ(manager_->pointerInfo(onDevice).device, &device());
    EXPECT_EQ(manager_->pointerInfo(host + 9).kind, PointerKind::Host);
    EXPECT_EQ(manager_->pointerInfo(host).device, nullptr);
    EXPECT_EQ(manager_->pointerInfo(shared + 9).kind, PointerKind::Shared);
    EXPECT_EQ(manager_->pointerInfo(shared).device, &device());
}

} // namespace
} // namespace causeway::memory
