#include "unit_tests/source/memory/memory_fixture.h"

namespace causeway::memory {
namespace {

class AccessTest : public MemoryFixture {
  protected:
    void expectAccess(uint64_t va, uint64_t asked, Access access, uint64_t sizeBytes) {
        const auto stretch = manager_->access(va, asked);
        ASSERT_TRUE(succeeds(stretch));
        EXPECT_EQ(stretch->access, access);
        EXPECT_EQ(stretch->sizeBytes, sizeBytes);
    }
};

TEST_F(AccessTest, OfReservedAndUnmappedIsNone) {
    const uint64_t va = reserve(2);

    expectAccess(va, devicePage, Access::None, 2 * devicePage);
}

TEST_F(AccessTest, StopsWhereItChanges) {
    const uint64_t va = reserve(4);
    map(va, 2, object(2), 0, Access::ReadOnly);
    map(va + 2 * devicePage, 1, object(1), 0, Access::ReadWrite);

    expectAccess(va, 4 * devicePage, Access::ReadOnly, 2 * devicePage);
    expectAccess(va + 2 * devicePage, 2 * devicePage, Access::ReadWrite, devicePage);
    expectAccess(va + 3 * devicePage, devicePage, Access::None, devicePage);
}

TEST_F(AccessTest, BeginsAtTheAddressAskedAbout) {
    const uint64_t va = reserve(2);
    map(va, 2, object(2));

    expectAccess(va + osPage, osPage, Access::ReadWrite, 2 * devicePage - osPage);
}

TEST_F(AccessTest, GoesOnAcrossMappingsOfTheSameAccess) {
    const uint64_t va = reserve(3);
    map(va, 1, object(1));
    map(va + devicePage, 1, object(1));

    expectAccess(va, 3 * devicePage, Access::ReadWrite, 2 * devicePage);
}

TEST_F(AccessTest, OfAnUnmappedGapEndsAtTheNextMapping) {
    const uint64_t va = reserve(3);
    map(va + 2 * devicePage, 1, object(1));

    expectAccess(va, devicePage, Access::None, 2 * devicePage);
}

TEST_F(AccessTest, OfNothingIsRefused) {
    const uint64_t va = reserve(1);
    const uint64_t allocation = allocate(AllocationKind::Device, devicePage);

    EXPECT_TRUE(failsWith(manager_->access(va, 0), Status::UnsupportedSize));
    EXPECT_TRUE(
        failsWith(manager_->access(va - osPage, osPage), Status::InvalidArgument, "not reserved"));
    EXPECT_TRUE(failsWith(manager_->access(allocation, osPage), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(manager_->access(0, osPage), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(manager_->access(va, osPage + 1), Status::UnsupportedSize));
    EXPECT_TRUE(failsWith(manager_->access(va + 1, osPage), Status::UnsupportedAlignment));
    EXPECT_TRUE(
        failsWith(manager_->access(va, UINT64_MAX - osPage + 1), Status::InvalidArgument, "wrap"));
}

TEST_F(AccessTest, IsChangedForAPartOfAMapping) {
    const uint64_t va = reserve(3);
    map(va, 3, object(3));

    must(manager_->setAccess(va + devicePage, devicePage, Access::None));

    expectAccess(va, 3 * devicePage, Access::ReadWrite, devicePage);
    expectAccess(va + devicePage, 2 * devicePage, Access::None, devicePage);
    expectAccess(va + 2 * devicePage, devicePage, Access::ReadWrite, devicePage);
    EXPECT_EQ(backend_.space().bindingAt(va + devicePage)->access, Access::None);
}

TEST_F(AccessTest, AMappingChangedInPartIsStillOne) {
    const uint64_t va = reserve(3);
    map(va, 3, object(3));
    const uint64_t id = manager_->pointerInfo(va).id;

    must(manager_->setAccess(va + devicePage, devicePage, Access::ReadOnly));

    for (uint64_t page = 0; page < 3; ++page) {
        const auto whole = must(manager_->addressRange(va + page * devicePage));
        EXPECT_EQ(whole.base, va);
        EXPECT_EQ(whole.sizeBytes, 3 * devicePage);
        EXPECT_EQ(manager_->pointerInfo(va + page * devicePage).id, id);
    }
}

TEST_F(AccessTest, IsChangedForSeveralMappingsAtOnce) {
    const uint64_t first = reserve(2);
    (void)reserveBehind(first, 2, 2);
    map(first, 2, object(2));
    map(first + 2 * devicePage, 2, object(2), 0, Access::ReadOnly);

    must(manager_->setAccess(first + devicePage, 2 * devicePage, Access::None));

    expectAccess(first, devicePage, Access::ReadWrite, devicePage);
    expectAccess(first + devicePage, 3 * devicePage, Access::None, 2 * devicePage);
    expectAccess(first + 3 * devicePage, devicePage, Access::ReadOnly, devicePage);
}

TEST_F(AccessTest, IsKeptByTheRestOfACutMapping) {
    const uint64_t va = reserve(3);
    map(va, 3, object(3), 0, Access::ReadOnly);

    must(manager_->unmap(va + devicePage, devicePage));

    expectAccess(va, devicePage, Access::ReadOnly, devicePage);
    expectAccess(va + 2 * devicePage, devicePage, Access::ReadOnly, devicePage);
}

TEST_F(AccessTest, OfAHoleCannotBeChanged) {
    const uint64_t va = reserve(3);
    map(va, 1, object(1));
    map(va + 2 * devicePage, 1, object(1));
    const MemoryState before = state();

    EXPECT_TRUE(failsWith(manager_->setAccess(va, 3 * devicePage, Access::ReadOnly),
                          Status::InvalidArgument,
                          fmt::format("{:#x}", va + devicePage)));
    EXPECT_EQ(difference(before, state()), "");
}

TEST_F(AccessTest, OfAnAllocationCannotBeChanged) {
    const uint64_t va = allocate(AllocationKind::Device, devicePage);

    EXPECT_TRUE(
        failsWith(manager_->setAccess(va, devicePage, Access::ReadOnly), Status::InvalidArgument));
}

TEST_F(AccessTest, IsChangedInWholePages) {
    const uint64_t va = reserve(1);
    map(va, 1, object(1));

    EXPECT_TRUE(failsWith(manager_->setAccess(va, 0, Access::None), Status::UnsupportedSize));
    EXPECT_TRUE(failsWith(manager_->setAccess(va, 1, Access::None), Status::UnsupportedSize));
    EXPECT_TRUE(
        failsWith(manager_->setAccess(va + 1, osPage, Access::None), Status::UnsupportedAlignment));
    EXPECT_TRUE(failsWith(manager_->setAccess(va, osPage, Access::None),
                          Status::UnsupportedAlignment,
                          "within a page"));
    expectAccess(va, devicePage, Access::ReadWrite, devicePage);
}

TEST_F(AccessTest, OfAnImportIsLoweredAndRestoredButNeverRaised) {
    const uint64_t va = importRange({Access::ReadOnly});

    must(manager_->setAccess(va, devicePage, Access::None));
    must(manager_->setAccess(va, devicePage, Access::ReadOnly));
    EXPECT_TRUE(failsWith(
        manager_->setAccess(va, devicePage, Access::ReadWrite), Status::InvalidArgument, "shared"));
    expectAccess(va, devicePage, Access::ReadOnly, devicePage);
}

TEST_F(AccessTest, OfAnImportIsLimitedPieceByPiece) {
    const uint64_t va = importRange({Access::ReadWrite, Access::ReadOnly, Access::None});
    const MemoryState before = state();

    EXPECT_TRUE(failsWith(manager_->setAccess(va, 2 * devicePage, Access::ReadWrite),
                          Status::InvalidArgument));
    EXPECT_TRUE(failsWith(manager_->setAccess(va + 2 * devicePage, devicePage, Access::ReadOnly),
                          Status::InvalidArgument));
    EXPECT_EQ(difference(before, state()), "");
    EXPECT_TRUE(succeeds(manager_->setAccess(va, 2 * devicePage, Access::ReadOnly)));
    EXPECT_TRUE(succeeds(manager_->setAccess(va, devicePage, Access::ReadWrite)));
}

} // namespace
} // namespace causeway::memory
