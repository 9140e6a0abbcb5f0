#include "unit_tests/source/memory/memory_fixture.h"

namespace causeway::memory {
namespace {

class SnapshotTest : public MemoryFixture {};

TEST_F(SnapshotTest, ShowsThePiecesInOrder) {
    const uint64_t va = reserve(3);
    const auto first = object(4);
    const auto second = object(1, Placement::Host);
    map(va, 2, first, 1, Access::ReadOnly);
    map(va + 2 * devicePage, 1, second);

    const RangeSnapshot snapshot = must(manager_->snapshot(va, 3 * devicePage));

    EXPECT_EQ(snapshot.address, va);
    EXPECT_EQ(snapshot.windowBytes, 3 * devicePage);
    EXPECT_EQ(snapshot.leadBytes, 0U);
    ASSERT_EQ(snapshot.pieces.size(), 2U);
    EXPECT_EQ(snapshot.pieces[0].object, first);
    EXPECT_EQ(snapshot.pieces[0].offset, devicePage);
    EXPECT_EQ(snapshot.pieces[0].sizeBytes, 2 * devicePage);
    EXPECT_EQ(snapshot.pieces[0].access, Access::ReadOnly);
    EXPECT_EQ(snapshot.pieces[1].object, second);
    EXPECT_EQ(snapshot.pieces[1].sizeBytes, devicePage);
}

TEST_F(SnapshotTest, IsWidenedToWholeOsPages) {
    const uint64_t va = reserve(2);
    map(va, 2, object(3), 1);

    const RangeSnapshot snapshot = must(manager_->snapshot(va + osPage + 100, osPage));

    EXPECT_EQ(snapshot.leadBytes, 100U);
    EXPECT_EQ(snapshot.windowBytes, osPage);
    ASSERT_EQ(snapshot.pieces.size(), 1U);
    EXPECT_EQ(snapshot.pieces[0].offset, devicePage + osPage);
    EXPECT_EQ(snapshot.pieces[0].sizeBytes, 2 * osPage);
}

TEST_F(SnapshotTest, OfOneByte) {
    const uint64_t va = reserve(1);
    map(va, 1, object(1));

    const RangeSnapshot snapshot = must(manager_->snapshot(va + devicePage - 1, 1));

    EXPECT_EQ(snapshot.leadBytes, osPage - 1);
    EXPECT_EQ(snapshot.pieces[0].offset, devicePage - osPage);
    EXPECT_EQ(snapshot.pieces[0].sizeBytes, osPage);
}

TEST_F(SnapshotTest, SpansReservations) {
    const uint64_t first = reserve(1);
    (void)reserveBehind(first, 1, 1);
    map(first, 1, object(1));
    map(first + devicePage, 1, object(1));

    EXPECT_EQ(must(manager_->snapshot(first, 2 * devicePage)).pieces.size(), 2U);
}

TEST_F(SnapshotTest, ChecksInTheOrderDecided) {
    const uint64_t allocation = allocate(AllocationKind::Device, devicePage);

    EXPECT_TRUE(failsWith(manager_->snapshot(0, 0), Status::InvalidNullPointer));
    EXPECT_TRUE(failsWith(manager_->snapshot(allocation, 0), Status::InvalidSize));
    // Unmapped before and wrapping behind it: the allocation is what counts.
    EXPECT_TRUE(failsWith(manager_->snapshot(allocation - devicePage, UINT64_MAX),
                          Status::InvalidArgument,
                          fmt::format("{:#x}", allocation)));
    EXPECT_TRUE(
        failsWith(manager_->snapshot(allocation - 1, 2), Status::InvalidArgument, "allocation"));
    EXPECT_TRUE(failsWith(manager_->snapshot(allocation - 1, 1), Status::AddressNotFound));
}

TEST_F(SnapshotTest, AnyKindOfAllocationIsRefused) {
    for (const auto kind : {AllocationKind::Device, AllocationKind::Host, AllocationKind::Shared}) {
        const uint64_t va = allocate(kind, devicePage);
        EXPECT_TRUE(failsWith(manager_->snapshot(va, devicePage), Status::InvalidArgument));
    }
}

TEST_F(SnapshotTest, ThatWrapsAroundIsNotFound) {
    const uint64_t va = reserve(1);
    map(va, 1, object(1));

    EXPECT_TRUE(failsWith(manager_->snapshot(va, UINT64_MAX), Status::AddressNotFound, "beyond"));
    EXPECT_TRUE(failsWith(manager_->snapshot(UINT64_MAX, 1), Status::AddressNotFound));
    EXPECT_TRUE(failsWith(manager_->snapshot(UINT64_MAX - 10, 5), Status::AddressNotFound));
}

TEST_F(SnapshotTest, NamesAHoleAtTheStart) {
    const uint64_t va = reserve(2);
    map(va + devicePage, 1, object(1));

    EXPECT_TRUE(failsWith(
        manager_->snapshot(va + 100, 2 * devicePage - 100),
        Status::AddressNotFound,
        fmt::format("hole at {:#x}, {} bytes, after piece 0", va + 100, devicePage - 100)));
}

TEST_F(SnapshotTest, NamesAHoleInTheMiddle) {
    const uint64_t va = reserve(4);
    map(va, 1, object(1));
    map(va + devicePage, 1, object(1));
    map(va + 3 * devicePage, 1, object(1));

    EXPECT_TRUE(failsWith(
        manager_->snapshot(va, 4 * devicePage),
        Status::AddressNotFound,
        fmt::format("hole at {:#x}, {} bytes, after piece 2", va + 2 * devicePage, devicePage)));
}

TEST_F(SnapshotTest, NamesAHoleAtTheEndAsFarAsTheWindowGoes) {
    const uint64_t va = reserve(2);
    map(va, 1, object(1));

    EXPECT_TRUE(failsWith(manager_->snapshot(va, devicePage + 100),
                          Status::AddressNotFound,
                          fmt::format("hole at {:#x}, 100 bytes, after piece 1", va + devicePage)));
}

TEST_F(SnapshotTest, IsNotChangedByWhatComesLater) {
    const uint64_t va = reserve(2);
    const auto memory = object(2);
    map(va, 2, memory);
    const RangeSnapshot snapshot = must(manager_->snapshot(va, 2 * devicePage));

    must(manager_->setAccess(va, devicePage, Access::None));
    must(manager_->unmap(va, 2 * devicePage));
    must(manager_->freeReservation(va, 2 * devicePage));

    ASSERT_EQ(snapshot.pieces.size(), 1U);
    EXPECT_EQ(snapshot.pieces[0].object, memory);
    EXPECT_EQ(snapshot.pieces[0].access, Access::ReadWrite);
}

TEST_F(SnapshotTest, IsEqualWhileTheLayoutIsUnchanged) {
    const uint64_t va = reserve(2);
    map(va, 1, object(1));
    map(va + devicePage, 1, object(1));

    EXPECT_EQ(must(manager_->snapshot(va, devicePage)), must(manager_->snapshot(va, devicePage)));
    EXPECT_NE(must(manager_->snapshot(va, devicePage)),
              must(manager_->snapshot(va, 2 * devicePage)));
}

TEST_F(SnapshotTest, DiffersAfterTheSameObjectWasMappedAnew) {
    const uint64_t va = reserve(1);
    const auto memory = object(1);
    map(va, 1, memory);
    const RangeSnapshot before = must(manager_->snapshot(va, devicePage));

    must(manager_->unmap(va, devicePage));
    map(va, 1, memory);

    EXPECT_NE(must(manager_->snapshot(va, devicePage)), before);
}

TEST_F(SnapshotTest, DiffersWhileTheAccessDiffers) {
    const uint64_t va = reserve(2);
    map(va, 2, object(2));
    const RangeSnapshot before = must(manager_->snapshot(va, 2 * devicePage));

    must(manager_->setAccess(va, devicePage, Access::ReadOnly));
    EXPECT_NE(must(manager_->snapshot(va, 2 * devicePage)), before);

    must(manager_->setAccess(va, devicePage, Access::ReadWrite));
    EXPECT_EQ(must(manager_->snapshot(va, 2 * devicePage)), before);
}

TEST_F(SnapshotTest, OfAnImportKnowsItsOrigin) {
    const auto handle = std::make_shared<const wire::IpcHandle>();
    auto transaction = must(manager_->beginImport(devicePage));
    auto imported = piece(0);
    imported.origin = {.handle = handle, .object = 7};
    bind(transaction, imported);
    const uint64_t va = transaction.commit(0, devicePage, device());

    const RangeSnapshot snapshot = must(manager_->snapshot(va, devicePage));

    EXPECT_EQ(snapshot.pieces[0].origin.handle, handle);
    EXPECT_EQ(snapshot.pieces[0].origin.object, 7U);
    must(manager_->closeImport(va));
}

TEST_F(SnapshotTest, OfAnImportEndsWithItsWindow) {
    const uint64_t va = importRange({Access::ReadWrite}, 100, 200);
    const uint64_t size = devicePage - 300;

    EXPECT_TRUE(succeeds(manager_->snapshot(va, size)));
    EXPECT_TRUE(succeeds(manager_->snapshot(va + 10, 1)));
    EXPECT_TRUE(failsWith(manager_->snapshot(va - 1, 1), Status::AddressNotFound, "byte 0 of"));
    EXPECT_TRUE(failsWith(manager_->snapshot(va - 1, 10), Status::AddressNotFound));
    EXPECT_TRUE(failsWith(manager_->snapshot(va, size + 1),
                          Status::AddressNotFound,
                          fmt::format("byte {} of", size)));
    EXPECT_TRUE(failsWith(manager_->snapshot(va + size + 5, 1),
                          Status::AddressNotFound,
                          fmt::format("no mapping at {:#x}, byte 0 of", va + size + 5)));
}

TEST_F(SnapshotTest, OfAnObjectEndsWithWhatWasAskedFor) {
    const uint64_t va = allocate(AllocationKind::Device, 100);
    EXPECT_EQ(must(manager_->snapshotObject(va + 99)).windowBytes, 100U);
    EXPECT_TRUE(failsWith(manager_->snapshotObject(va + 100), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(manager_->snapshotObject(va + devicePage - 1), Status::InvalidArgument));
    must(manager_->free(va));
}

TEST_F(SnapshotTest, OfAnImportedObjectEndsWithItsWindow) {
    const uint64_t va = importRange({Access::ReadWrite}, 100, 200);
    const uint64_t size = devicePage - 300;
    EXPECT_EQ(must(manager_->snapshotObject(va)).windowBytes, size);
    EXPECT_EQ(must(manager_->snapshotObject(va + size - 1)).windowBytes, size);
    EXPECT_TRUE(failsWith(manager_->snapshotObject(va - 1), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(manager_->snapshotObject(va + size), Status::InvalidArgument));
    must(manager_->closeImport(va));
}

} // namespace
} // namespace causeway::memory
