#include "unit_tests/source/memory/memory_fixture.h"

namespace causeway::memory {
namespace {

class UnmapTest : public MemoryFixture {};

TEST_F(UnmapTest, WhatIsNotMappedIsASuccess) {
    const uint64_t va = reserve(4);

    EXPECT_TRUE(succeeds(manager_->unmap(va, 4 * devicePage)));
    EXPECT_TRUE(succeeds(manager_->unmap(va + osPage, osPage)));
}

TEST_F(UnmapTest, SizeAndAddressMustBeWholeOsPages) {
    const uint64_t va = reserve(4);

    EXPECT_TRUE(failsWith(manager_->unmap(va, 0), Status::UnsupportedSize, "not 0"));
    EXPECT_TRUE(failsWith(manager_->unmap(va, osPage - 1), Status::UnsupportedSize, "not 4095"));
    EXPECT_TRUE(failsWith(manager_->unmap(va + 1, osPage), Status::UnsupportedAlignment));
    EXPECT_TRUE(failsWith(
        manager_->unmap(uint64_t{0} - osPage, 2 * osPage), Status::InvalidArgument, "wrap"));
}

TEST_F(UnmapTest, MustLieWhollyInReservedAddresses) {
    const uint64_t va = reserve(2);
    map(va, 2, object(2));
    const MemoryState before = state();

    EXPECT_TRUE(
        failsWith(manager_->unmap(va, 3 * devicePage), Status::InvalidArgument, "is not reserved"));
    EXPECT_EQ(difference(before, state()), "");
}

TEST_F(UnmapTest, ImportsAndAllocationsAreRefused) {
    const uint64_t import = importRange({Access::ReadWrite});
    const uint64_t allocation = allocate(AllocationKind::Shared, devicePage);

    EXPECT_TRUE(
        failsWith(manager_->unmap(import, devicePage), Status::InvalidArgument, "imported range"));
    EXPECT_TRUE(
        failsWith(manager_->unmap(allocation, devicePage), Status::InvalidArgument, "allocation"));
}

TEST_F(UnmapTest, TheMiddleLeavesBothEnds) {
    const uint64_t va = reserve(4);
    const auto memory = object(5);
    map(va, 4, memory, 1);

    must(manager_->unmap(va + devicePage, 2 * devicePage));

    const auto bindings = backend_.space().bindings();
    ASSERT_EQ(bindings.size(), 2U);
    EXPECT_EQ(bindings[0].offset, devicePage);
    EXPECT_EQ(bindings[1].offset, 4 * devicePage);
    EXPECT_EQ(must(manager_->addressRange(va)).sizeBytes, devicePage);
    EXPECT_EQ(must(manager_->addressRange(va + 3 * devicePage)).base, va + 3 * devicePage);
    EXPECT_EQ(must(manager_->snapshot(va + 3 * devicePage, 1)).pieces[0].offset, 4 * devicePage);
    EXPECT_TRUE(failsWith(manager_->addressRange(va + devicePage), Status::AddressNotFound));
}

TEST_F(UnmapTest, TheStartLeavesTheEndAtItsOffset) {
    const uint64_t va = reserve(2);
    map(va, 2, object(2));

    must(manager_->unmap(va, devicePage));

    EXPECT_EQ(must(manager_->snapshot(va + devicePage, 1)).pieces[0].offset, devicePage);
}

TEST_F(UnmapTest, AHoleCanBeMappedAnew) {
    const uint64_t va = reserve(3);
    map(va, 3, object(3));
    const uint64_t id = manager_->pointerInfo(va).id;
    must(manager_->unmap(va + devicePage, devicePage));

    map(va + devicePage, 1, object(1));

    EXPECT_EQ(manager_->pointerInfo(va).id, id);
    EXPECT_GT(manager_->pointerInfo(va + devicePage).id, id);
    EXPECT_EQ(must(manager_->addressRange(va)).sizeBytes, devicePage);
}

TEST_F(UnmapTest, ACutThroughADevicePageIsRefused) {
    const uint64_t va = reserve(2);
    map(va, 2, object(2));
    const MemoryState before = state();

    EXPECT_TRUE(failsWith(manager_->unmap(va, osPage), Status::UnsupportedAlignment, "65536"));
    EXPECT_TRUE(failsWith(manager_->unmap(va + osPage, 2 * devicePage - osPage),
                          Status::UnsupportedAlignment,
                          "within a page"));
    EXPECT_EQ(difference(before, state()), "");
}

TEST_F(UnmapTest, HostMemoryIsCutAtOsPages) {
    const uint64_t va = reserve(1);
    map(va, 1, object(1, Placement::Host));

    must(manager_->unmap(va + 3 * osPage, osPage));

    EXPECT_EQ(must(manager_->addressRange(va)).sizeBytes, 3 * osPage);
    EXPECT_EQ(must(manager_->addressRange(va + 4 * osPage)).sizeBytes, devicePage - 4 * osPage);
}

TEST_F(UnmapTest, TakesSeveralMappingsWithTheirGaps) {
    const uint64_t va = reserve(6);
    const auto memory = object(2);
    map(va, 2, memory);
    map(va + 3 * devicePage, 1, memory);
    map(va + 4 * devicePage, 2, memory);

    must(manager_->unmap(va + devicePage, 4 * devicePage));

    ASSERT_EQ(backend_.space().bindings().size(), 2U);
    EXPECT_EQ(backend_.space().bindings()[1].va, va + 5 * devicePage);
}

TEST_F(UnmapTest, ReachesAcrossReservationsThatTouch) {
    const uint64_t first = reserve(2);
    (void)reserveBehind(first, 2, 2);
    map(first, 4, object(4));

    must(manager_->unmap(first + devicePage, 2 * devicePage));

    EXPECT_EQ(backend_.space().bindings().size(), 2U);
}

TEST_F(UnmapTest, TwiceIsASuccess) {
    const uint64_t va = reserve(1);
    map(va, 1, object(1));

    must(manager_->unmap(va, devicePage));
    EXPECT_TRUE(succeeds(manager_->unmap(va, devicePage)));
}

} // namespace
} // namespace causeway::memory
