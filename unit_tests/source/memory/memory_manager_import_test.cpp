#include "unit_tests/source/memory/memory_fixture.h"

#include <array>
#include <utility>

namespace causeway::memory {
namespace {

class ImportTest : public MemoryFixture {};

TEST_F(ImportTest, NothingShowsBeforeTheCommit) {
    auto transaction = must(manager_->beginImport(devicePage));
    bind(transaction, piece(0));
    const uint64_t va = backend_.space().bindings().front().va;

    EXPECT_EQ(manager_->pointerInfo(va).kind, PointerKind::Unknown);
    EXPECT_TRUE(failsWith(manager_->addressRange(va), Status::AddressNotFound));
    EXPECT_TRUE(failsWith(manager_->access(va, osPage), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(manager_->snapshot(va, 1), Status::AddressNotFound));
    EXPECT_TRUE(failsWith(manager_->closeImport(va), Status::InvalidArgument));
}

TEST_F(ImportTest, UncommittedIsUndoneByItsEnd) {
    const MemoryState before = state();
    {
        auto transaction = must(manager_->beginImport(4 * devicePage));
        bind(transaction, piece(0));
        bind(transaction, piece(2 * devicePage));
    }
    EXPECT_EQ(difference(before, state()), "");
}

TEST_F(ImportTest, MovedFromUndoesNothing) {
    auto transaction = must(manager_->beginImport(devicePage));
    bind(transaction, piece(0));
    uint64_t va = 0;
    {
        ImportTransaction moved = std::move(transaction);
        va = moved.commit(0, devicePage, device());
    }
    EXPECT_EQ(manager_->pointerInfo(va).kind, PointerKind::Device);
}

TEST_F(ImportTest, PiecesOfOneObjectMayLieApart) {
    auto transaction = must(manager_->beginImport(3 * devicePage));
    auto first = piece(0);
    auto second = first;
    second.position = 2 * devicePage;
    second.access = Access::ReadOnly;
    const std::array pieces = {first, second};
    must(transaction.bind(pieces));
    bind(transaction, piece(devicePage));

    const uint64_t va = transaction.commit(0, 3 * devicePage, device());

    EXPECT_EQ(must(manager_->snapshot(va, 3 * devicePage)).pieces.size(), 3U);
    EXPECT_EQ(backend_.space().bindingAt(va + 2 * devicePage)->memory, first.object.get());
    EXPECT_EQ(backend_.space().bindingAt(va + 2 * devicePage)->access, Access::ReadOnly);
}

TEST_F(ImportTest, TheWindowBeginsBehindTheLead) {
    auto transaction = must(manager_->beginImport(devicePage));
    bind(transaction, piece(0));
    const uint64_t start = backend_.space().bindings().front().va;

    EXPECT_EQ(transaction.commit(123, 1000, device()), start + 123);
    EXPECT_EQ(must(manager_->addressRange(start + 123)).sizeBytes, 1000U);
}

TEST_F(ImportTest, MoreThanThereIsIsOutOfDeviceMemory) {
    EXPECT_TRUE(failsWith(manager_->beginImport(uint64_t{1} << 60), Status::OutOfDeviceMemory));
}

TEST_F(ImportTest, IsClosedByTheAddressThatOpenReturnedAndNoOther) {
    const uint64_t va = importRange({Access::ReadWrite, Access::ReadWrite}, 100, 200);
    const MemoryState before = state();

    for (const uint64_t wrong : {va - 100, va - 1, va + 1, va + devicePage, uint64_t{0}}) {
        EXPECT_TRUE(failsWith(manager_->closeImport(wrong), Status::InvalidArgument)) << wrong;
    }
    EXPECT_EQ(difference(before, state()), "");
    EXPECT_TRUE(succeeds(manager_->closeImport(va)));
    EXPECT_EQ(backend_.fake().liveMemory(), 0U);
}

TEST_F(ImportTest, IsClosedOnce) {
    const uint64_t va = importRange({Access::ReadWrite});
    must(manager_->closeImport(va));

    EXPECT_TRUE(failsWith(manager_->closeImport(va), Status::InvalidArgument, "not returned"));
}

TEST_F(ImportTest, ReservationsAndAllocationsAreNotClosed) {
    const uint64_t reservation = reserve(1);
    const uint64_t allocation = allocate(AllocationKind::Device, devicePage);

    EXPECT_TRUE(failsWith(manager_->closeImport(reservation), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(manager_->closeImport(allocation), Status::InvalidArgument));
}

TEST_F(ImportTest, OpenTwiceIsTwoWithDifferentIds) {
    const uint64_t first = importRange({Access::ReadWrite});
    const uint64_t second = importRange({Access::ReadWrite});

    EXPECT_NE(first, second);
    EXPECT_LT(manager_->pointerInfo(first).id, manager_->pointerInfo(second).id);
    must(manager_->closeImport(first));
    EXPECT_TRUE(succeeds(manager_->addressRange(second)));
}

TEST_F(ImportTest, AFailedBindLeavesTheTransactionAsItWas) {
    auto transaction = must(manager_->beginImport(2 * devicePage));
    bind(transaction, piece(0));
    const auto failing = piece(devicePage, Access::ReadOnly);
    backend_.fake().failAt(1, Status::OutOfDeviceMemory);
    ASSERT_TRUE(failsWith(transaction.bind({&failing, 1}), Status::OutOfDeviceMemory));

    const auto instead = piece(devicePage, Access::ReadWrite);
    bind(transaction, instead);
    const uint64_t va = transaction.commit(0, 2 * devicePage, device());

    const RangeSnapshot snapshot = must(manager_->snapshot(va, 2 * devicePage));
    ASSERT_EQ(snapshot.pieces.size(), 2U);
    EXPECT_EQ(snapshot.pieces[1].object, instead.object);
    EXPECT_EQ(snapshot.pieces[1].access, Access::ReadWrite);
}

TEST_F(ImportTest, AFailedImportObjectLeavesNothing) {
    backend_.fake().failAt(1, Status::InvalidArgument);
    EXPECT_TRUE(failsWith(
        manager_->importObject(
            device(), UniqueFd(), {.placement = Placement::Device, .sizeBytes = devicePage}),
        Status::InvalidArgument));
    EXPECT_EQ(backend_.fake().liveMemory(), 0U);
}

} // namespace
} // namespace causeway::memory
