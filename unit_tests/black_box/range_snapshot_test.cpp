#include "unit_tests/black_box/ipc_fixture.h"

#include <set>

namespace causeway::black_box {

namespace {

/// An export is what was mapped at its time, whatever the exporter does later.
class RangeSnapshotTest : public IpcTest {
  protected:
    /// Opens in a new process, which cannot know anything from before.
    static void expectOpens(const ze_ipc_mem_handle_t &handle, uint64_t size, uint64_t checksum) {
        Peer peer;
        const uint64_t base = peer.open(handle);
        EXPECT_EQ(peer.checksum(base, size), checksum);
        EXPECT_EQ(peer.addressRange(base).size, size);
    }
};

} // namespace

TEST_F(RangeSnapshotTest, UnmappedPiecesAreStillShared) {
    Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    range.unmapPiece(1);
    expectOpens(handle, range.size(), range.checksum());
}

TEST_F(RangeSnapshotTest, FieldCase09_RemappedPieceIsStillTheOldObject) {
    Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    const uint64_t before = range.checksum();
    range.unmapPiece(1);
    range.mapNewObject(1);
    ASSERT_NE(range.checksum(), before);
    expectOpens(handle, range.size(), before);
    expectOpens(range.exportWhole(), range.size(), range.checksum());
}

TEST_F(RangeSnapshotTest, FieldCase09_GrowthIsNotShared) {
    auto pieces = manyPieces(2);
    pieces.push_back(Piece::hole(chunk));
    Range range(context(), pieces);
    const auto handle = range.exportWindow(0, 2 * chunk);
    const uint64_t before = range.checksum(0, 2 * chunk);
    range.mapNewObject(2);
    expectOpens(handle, 2 * chunk, before);
    expectOpens(range.exportWhole(), 3 * chunk, range.checksum());
}

TEST_F(RangeSnapshotTest, ChangeOfAccessIsNotShared) {
    const Range range(context(), manyPieces(1));
    const auto handle = range.exportWhole();
    require(zeVirtualMemSetAccessAttribute(
                context(), range.base(), chunk, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY),
            "zeVirtualMemSetAccessAttribute");
    Peer peer;
    const uint64_t base = peer.open(handle);
    EXPECT_EQ(peer.access(base, chunk).number, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    const uint64_t later = peer.open(range.exportWhole());
    EXPECT_EQ(peer.access(later, chunk).number, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
}

TEST_F(RangeSnapshotTest, FieldCase46_DestroyedObjectsAreStillShared) {
    Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    range.destroyObjects();
    expectOpens(handle, range.size(), range.checksum());
}

TEST_F(RangeSnapshotTest, FieldCase46_FreedReservationIsStillShared) {
    Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    range.freeReservations();
    expectOpens(handle, range.size(), range.checksum());
}

TEST_F(RangeSnapshotTest, FieldCase41_RangeThatIsGoneIsStillShared) {
    Range range(context(),
                {Piece::of(chunk),
                 Piece::window(4 * chunk, chunk, 2 * chunk),
                 Piece::of(chunk).onHost(),
                 Piece::again(0, 0, chunk)});
    const auto handle = range.exportWindow(7, range.size() - 7);
    range.unmapPiece(0);
    range.freeReservations();
    range.destroyObjects();
    expectOpens(handle, range.size() - 7, range.checksum(7, range.size() - 7));
}

TEST_F(RangeSnapshotTest, OpenViewIsUntouchedByLaterChanges) {
    Range range(context(), manyPieces(3));
    const uint64_t before = range.checksum();
    Peer peer;
    const uint64_t base = peer.open(range.exportWhole());
    range.unmapPiece(1);
    range.mapNewObject(1);
    range.freeReservations();
    range.destroyObjects();
    EXPECT_EQ(peer.checksum(base, range.size()), before);
}

// The same address has other memory later.
TEST_F(RangeSnapshotTest, FieldCase36_AddressUsedAgainIsAnotherRange) {
    Range range(context(), manyPieces(1));
    const uint64_t before = range.checksum();
    Peer peer;
    const uint64_t first = peer.open(range.exportWhole());
    range.unmapPiece(0);
    range.destroyObjects();
    range.mapNewObject(0);
    const uint64_t second = peer.open(range.exportWhole());
    EXPECT_NE(first, second);
    EXPECT_EQ(peer.checksum(first, chunk), before);
    EXPECT_EQ(peer.checksum(second, chunk), range.checksum());
}

// A cache that sees neither alloc nor free has the id alone.
TEST_F(RangeSnapshotTest, FieldCase40_EachMappingHasANewIdWhateverIsShared) {
    Range range(context(), {Piece::hole(chunk)});
    std::set<uint64_t> ids;
    ze_ipc_mem_handle_t last = {};
    for (int round = 0; round < 50; ++round) {
        range.mapNewObject(0);
        ze_memory_allocation_properties_t properties = {};
        properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
        require(zeMemGetAllocProperties(context(), range.base(), &properties, nullptr), "id");
        EXPECT_TRUE(ids.insert(properties.id).second) << round;
        const auto handle = range.exportWhole();
        EXPECT_FALSE(equalBytes(handle, last));
        last = handle;
        range.unmapPiece(0);
    }
}

// The same base has another size later.
TEST_F(RangeSnapshotTest, FieldCase38_SameBaseWithAnotherSizeIsAnotherRange) {
    auto pieces = manyPieces(2);
    pieces.push_back(Piece::hole(2 * chunk));
    Range range(context(), pieces);
    Peer peer;
    const auto small = range.exportWindow(0, 2 * chunk);
    const uint64_t first = peer.open(small);
    range.unmapPiece(0);
    range.unmapPiece(1);
    range.destroyObjects();
    for (size_t piece = 0; piece < 3; ++piece) {
        range.mapNewObject(piece);
    }
    const uint64_t second = peer.open(range.exportWhole());
    EXPECT_EQ(peer.addressRange(first).size, 2 * chunk);
    EXPECT_EQ(peer.addressRange(second).size, 4 * chunk);
    EXPECT_EQ(peer.checksum(second, 4 * chunk), range.checksum());
}

TEST_F(RangeSnapshotTest, FieldCase03_OverlappingWindowsAreCoherentAndIndependent) {
    const Range range(context(), manyPieces(4));
    const auto left = range.exportWindow(0, 3 * chunk);
    const auto right = range.exportWindow(chunk, 3 * chunk);
    Peer peer;
    const uint64_t first = peer.open(left);
    const uint64_t second = peer.open(right);
    peer.setWord(first + chunk + 8, 31);
    EXPECT_EQ(peer.word(second + 8), 31U);
    EXPECT_EQ(peer.close(first), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer.word(second + 8), 31U);
    EXPECT_EQ(putIpcHandle(context(), left), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer.word(peer.open(right) + 8), 31U);
}

} // namespace causeway::black_box
