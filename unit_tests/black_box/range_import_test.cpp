#include "unit_tests/black_box/ipc_fixture.h"

#include <utility>
#include <vector>

namespace causeway::black_box {

namespace {

/// What another process reads of an exported range. Handles travel by value.
class RangeImportTest : public IpcTest {
  protected:
    /// Exports [offset, offset + size), opens it in a peer, and compares every byte and the size.
    void expectWindow(const Range &range, size_t offset, size_t size) {
        const auto handle = range.exportWindow(offset, size);
        const uint64_t base = peer().open(handle);
        EXPECT_EQ(peer().checksum(base, size), range.checksum(offset, size))
            << "window of " << size << " bytes at " << offset;
        const auto found = peer().addressRange(base);
        EXPECT_EQ(found.result, ZE_RESULT_SUCCESS);
        EXPECT_EQ(found.address, base);
        EXPECT_EQ(found.size, size);
        EXPECT_EQ(peer().close(base), ZE_RESULT_SUCCESS);
        EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    }

    void expectWhole(const Range &range) { expectWindow(range, 0, range.size()); }

    Peer &peer() {
        if (!peer_) {
            peer_ = std::make_unique<Peer>();
        }
        return *peer_;
    }

    void TearDown() override {
        peer_.reset();
        IpcTest::TearDown();
    }

  private:
    std::unique_ptr<Peer> peer_;
};

} // namespace

TEST_F(RangeImportTest, FieldCase01_ObjectsArriveWholeAndInOrder) {
    expectWhole(Range(context(), manyPieces(3)));
}

TEST_F(RangeImportTest, SingleObjectArrives) {
    expectWhole(Range(context(), manyPieces(1)));
}

TEST_F(RangeImportTest, FieldCase11_ObjectsOfDifferentSizesArrive) {
    expectWhole(Range(context(),
                      {Piece::of(chunk),
                       Piece::of(2 << 20),
                       Piece::of(chunk),
                       Piece::of(4 << 20),
                       Piece::of(3 * chunk)}));
}

TEST_F(RangeImportTest, WindowsBeginAndEndInsideObjects) {
    const Range range(context(), manyPieces(4, 4 * chunk));
    expectWindow(range, chunk, 2 * chunk);
    expectWindow(range, 3 * chunk, 2 * chunk);
    expectWindow(range, 2 * chunk, 13 * chunk);
    expectWindow(range, 4 * chunk, 4 * chunk);
}

// Byte-exact, or not at all.
TEST_F(RangeImportTest, FieldCase07_UnalignedWindowsAreByteExact) {
    const Range range(context(), manyPieces(4));
    for (const auto &[offset, size] :
         std::vector<std::pair<size_t, size_t>>{{1, 1},
                                                {64, chunk},
                                                {smallPage - 1, 2},
                                                {chunk - 1, 2},
                                                {chunk - 3, 2 * chunk + 7},
                                                {0, 4 * chunk - 1},
                                                {4 * chunk - 1, 1},
                                                {4095, 4097},
                                                {chunk + 4097, 2 * chunk + 1}}) {
        expectWindow(range, offset, size);
    }
}

// The offset at which an object is mapped is kept.
TEST_F(RangeImportTest, FieldCase06_ObjectMappedFromItsMiddleArrivesFromThere) {
    expectWhole(
        Range(context(), {Piece::window(4 * chunk, 2 * chunk, 2 * chunk), Piece::of(chunk)}));
}

TEST_F(RangeImportTest, ObjectMappedByAPrefixEndsThere) {
    expectWhole(Range(context(),
                      {Piece::window(4 * chunk, 0, chunk),
                       Piece::of(chunk),
                       Piece::window(4 * chunk, 0, 3 * chunk)}));
}

TEST_F(RangeImportTest, WindowInsideAnObjectMappedFromItsMiddle) {
    const Range range(context(),
                      {Piece::window(8 * chunk, 3 * chunk, 4 * chunk), Piece::of(2 * chunk)});
    expectWindow(range, chunk + 5, 4 * chunk);
}

TEST_F(RangeImportTest, ObjectThatIsThereTwiceArrivesTwiceAndIsOne) {
    const Range range(context(),
                      {Piece::of(2 * chunk),
                       Piece::of(chunk),
                       Piece::again(0, 0, 2 * chunk),
                       Piece::again(0, chunk, chunk)});
    expectWhole(range);
    const uint64_t base = peer().open(range.exportWhole());
    peer().setWord(base + chunk, 4711);
    EXPECT_EQ(peer().word(base + range.offsetOf(2) + chunk), 4711U);
    EXPECT_EQ(peer().word(base + range.offsetOf(3)), 4711U);
    EXPECT_EQ(loadWord(range.piece(3)), 4711U);
}

TEST_F(RangeImportTest, ObjectSplitByAnUnmapArrivesInItsParts) {
    Range range(context(), {Piece::of(4 * chunk), Piece::of(chunk)});
    require(zeVirtualMemUnmap(context(), range.base() + chunk, chunk), "unmap");
    require(zeVirtualMemMap(context(),
                            range.base() + chunk,
                            chunk,
                            range.object(0),
                            chunk,
                            ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
            "map again");
    expectWhole(range);
}

// The reservations do not matter, also when they are gone.
TEST_F(RangeImportTest, FieldCase10_AdjacentReservationsAreOneRange) {
    Range range(context(),
                manyPieces(6, 2 * chunk),
                {.reservations = {3 * chunk, chunk, 4 * chunk, 4 * chunk}});
    expectWhole(range);
    expectWindow(range, 2 * chunk + 9, 7 * chunk);
    const auto handle = range.exportWhole();
    range.freeReservations();
    const uint64_t base = peer().open(handle);
    EXPECT_EQ(peer().checksum(base, range.size()), range.checksum());
}

TEST_F(RangeImportTest, HostAndDeviceObjectsMix) {
    expectWhole(Range(context(),
                      {Piece::of(chunk),
                       Piece::of(16 * smallPage).onHost(),
                       Piece::of(2 * chunk),
                       Piece::of(smallPage).onHost(),
                       Piece::of(15 * smallPage).onHost()}));
}

TEST_F(RangeImportTest, FieldCase12_FieldCase60_PlacementIsToldPerPiece) {
    const Range range(context(), {Piece::of(chunk), Piece::of(chunk).onHost(), Piece::of(chunk)});
    const uint64_t base = peer().open(range.exportWhole());
    for (const auto &[piece, type] : std::vector<std::pair<size_t, ze_memory_type_t>>{
             {0, ZE_MEMORY_TYPE_DEVICE}, {1, ZE_MEMORY_TYPE_HOST}, {2, ZE_MEMORY_TYPE_DEVICE}}) {
        const auto found = peer().allocProperties(base + range.offsetOf(piece) + 17);
        EXPECT_EQ(found.result, ZE_RESULT_SUCCESS);
        EXPECT_EQ(found.number, static_cast<int>(type)) << "piece " << piece;
        EXPECT_EQ(peer().allocProperties(base + range.offsetOf(piece)).number, found.number);
        EXPECT_NE(found.value, 0U) << "id";
    }
    EXPECT_EQ(peer().allocProperties(base).extra, 0U) << "the device that it was opened for";
}

TEST_F(RangeImportTest, FieldCase37_EachOpenHasANewId) {
    const Range range(context(), manyPieces(2));
    const auto handle = range.exportWhole();
    const uint64_t first = peer().open(handle);
    const uint64_t second = peer().open(handle);
    const auto firstId = peer().allocProperties(first).value;
    const auto secondId = peer().allocProperties(second).value;
    EXPECT_NE(firstId, secondId);
    EXPECT_EQ(peer().close(first), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer().close(second), ZE_RESULT_SUCCESS);
    const auto thirdId = peer().allocProperties(peer().open(handle)).value;
    EXPECT_NE(thirdId, firstId);
    EXPECT_NE(thirdId, secondId);
}

// Always the whole import, whatever is asked.
TEST_F(RangeImportTest, FieldCase02_AddressRangeIsTheWholeImport) {
    const Range range(context(), manyPieces(3));
    const size_t size = 2 * chunk + 100;
    const uint64_t base = peer().open(range.exportWindow(50, size));
    for (const uint64_t offset : {uint64_t{0}, uint64_t{1}, uint64_t{chunk + 1}, size - 1}) {
        const auto found = peer().addressRange(base + offset);
        EXPECT_EQ(found.result, ZE_RESULT_SUCCESS) << offset;
        EXPECT_EQ(found.address, base) << offset;
        EXPECT_EQ(found.size, size) << offset;
    }
    EXPECT_EQ(peer().addressRange(base + size).result, ZE_RESULT_ERROR_ADDRESS_NOT_FOUND);
    EXPECT_EQ(peer().addressRange(base - 1).result, ZE_RESULT_ERROR_ADDRESS_NOT_FOUND);
}

TEST_F(RangeImportTest, FieldCase78_ClosedImportIsUnknown) {
    const Range range(context(), manyPieces(2));
    const uint64_t base = peer().open(range.exportWhole());
    EXPECT_EQ(peer().close(base), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer().addressRange(base).result, ZE_RESULT_ERROR_ADDRESS_NOT_FOUND);
    const auto found = peer().allocProperties(base);
    EXPECT_EQ(found.result, ZE_RESULT_SUCCESS);
    EXPECT_EQ(found.number, ZE_MEMORY_TYPE_UNKNOWN);
}

TEST_F(RangeImportTest, ImporterReadsWhatIsWrittenLater) {
    const Range range(context(), manyPieces(3));
    const uint64_t base = peer().open(range.exportWhole());
    for (size_t piece = 0; piece < 3; ++piece) {
        storeWord(range.piece(piece) + 8, 100 + piece);
        EXPECT_EQ(peer().word(base + range.offsetOf(piece) + 8), 100 + piece);
    }
}

TEST_F(RangeImportTest, ExporterReadsWhatTheImporterWrites) {
    const Range range(
        context(),
        {Piece::of(chunk), Piece::window(4 * chunk, chunk, 2 * chunk), Piece::of(chunk).onHost()});
    const size_t lead = 24;
    const uint64_t base = peer().open(range.exportWindow(lead, range.size() - lead));
    for (size_t piece = 0; piece < 3; ++piece) {
        const size_t offset = range.offsetOf(piece) + 4 * smallPage;
        peer().setWord(base + offset - lead, 200 + piece);
        EXPECT_EQ(loadWord(range.base() + offset), 200 + piece);
    }
}

TEST_F(RangeImportTest, CachingFlagsAreAccepted) {
    const Range range(context(), manyPieces(2));
    const auto handle = range.exportWhole();
    for (const ze_ipc_memory_flags_t flags : {1U, 2U}) {
        const auto reply = peer().tryOpen(handle, flags);
        EXPECT_EQ(reply.result, ZE_RESULT_SUCCESS) << flags;
        EXPECT_EQ(peer().checksum(reply.address, range.size()), range.checksum());
    }
}

TEST_F(RangeImportTest, FieldCase56_ImportedRangeIsExportedAgain) {
    const Range range(context(), manyPieces(4));
    const uint64_t base = peer().open(range.exportWhole());
    const auto again = peer().exportRange(base + chunk + 3, 2 * chunk);
    Peer third;
    const uint64_t view = third.open(again);
    EXPECT_EQ(third.checksum(view, 2 * chunk), range.checksum(chunk + 3, 2 * chunk));
    third.setWord(view + 5, 99);
    EXPECT_EQ(loadWord(range.base() + chunk + 8), 99U);
    // Without the descriptor a range of several objects is none to export, imported or not.
    const auto plain = peer().ask({.command = Command::ExportObject, .address = base});
    EXPECT_EQ(plain.result, ZE_RESULT_ERROR_INVALID_ARGUMENT) << plain.text.data();
}

TEST_F(RangeImportTest, SecondHandExportOutlivesItsView) {
    const Range range(context(), manyPieces(3));
    const uint64_t base = peer().open(range.exportWhole());
    const auto again = peer().exportRange(base, range.size());
    EXPECT_EQ(peer().close(base), ZE_RESULT_SUCCESS);
    Peer third;
    EXPECT_EQ(third.checksum(third.open(again), range.size()), range.checksum());
}

// What fills an import's first and last page besides the window was not shared.
TEST_F(RangeImportTest, ImportIsExportedNoFurtherThanItsWindow) {
    const Range range(context(), manyPieces(3));
    const uint64_t size = chunk + 10;
    const uint64_t base = peer().open(range.exportWindow(100, size));
    for (const auto &[address, bytes] :
         std::vector<std::pair<uint64_t, uint64_t>>{{base - 1, 10}, {base, size + 1}}) {
        const auto reply =
            peer().ask({.command = Command::Export, .address = address, .size = bytes});
        EXPECT_EQ(reply.result, ZE_RESULT_ERROR_ADDRESS_NOT_FOUND) << bytes;
    }
}

TEST_F(RangeImportTest, PeerThatNeverExportedOpensAtOnce) {
    const Range range(context(), manyPieces(2));
    const auto handle = range.exportWhole();
    Peer fresh;
    EXPECT_EQ(fresh.checksum(fresh.open(handle), range.size()), range.checksum());
}

} // namespace causeway::black_box
