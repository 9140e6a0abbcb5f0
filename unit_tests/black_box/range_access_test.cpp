#include "unit_tests/black_box/ipc_fixture.h"

#include <csignal>

namespace causeway::black_box {

namespace {

constexpr auto readWrite = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
constexpr auto readOnly = ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY;
constexpr auto noAccess = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;

/// A range whose pieces have each kind of access, open in a peer.
class RangeAccessTest : public IpcTest {
  protected:
    void SetUp() override {
        IpcTest::SetUp();
        range_ = std::make_unique<Range>(context(),
                                         std::vector<Piece>{Piece::of(chunk),
                                                            Piece::of(2 * chunk).readOnly(),
                                                            Piece::of(chunk).noAccess(),
                                                            Piece::of(chunk).onHost().readOnly(),
                                                            Piece::of(chunk)});
        peer_ = std::make_unique<Peer>();
        handle_ = range_->exportWhole();
        base_ = peer_->open(handle_);
    }

    void TearDown() override {
        peer_.reset();
        range_.reset();
        IpcTest::TearDown();
    }

    Peer &peer() { return *peer_; }

    [[nodiscard]] const Range &range() const { return *range_; }

    [[nodiscard]] uint64_t base() const { return base_; }

    [[nodiscard]] uint64_t piece(size_t index) const { return base_ + range_->offsetOf(index); }

    [[nodiscard]] const ze_ipc_mem_handle_t &handle() const { return handle_; }

    /// The view is still there and whole.
    void expectUsable() {
        EXPECT_EQ(peer().checksum(piece(0), chunk), range().checksum(0, chunk));
        EXPECT_EQ(peer().addressRange(base()).size, range().size());
    }

  private:
    std::unique_ptr<Range> range_;
    std::unique_ptr<Peer> peer_;
    ze_ipc_mem_handle_t handle_ = {};
    uint64_t base_ = 0;
};

} // namespace

TEST_F(RangeAccessTest, ReadOnlyPiecesAreRead) {
    EXPECT_EQ(peer().checksum(piece(1), 2 * chunk), range().checksum(chunk, 2 * chunk));
    EXPECT_EQ(peer().checksum(piece(3), chunk), range().checksum(range().offsetOf(3), chunk));
}

TEST_F(RangeAccessTest, WriteToAReadOnlyPieceFaults) {
    EXPECT_EQ(peer().signalOfWrite(piece(1)), SIGSEGV);
    EXPECT_EQ(peer().signalOfWrite(piece(2) - 1), SIGSEGV);
    EXPECT_EQ(peer().signalOfWrite(piece(3)), SIGSEGV);
    EXPECT_EQ(peer().signalOfWrite(piece(1) - 1), 0);
    EXPECT_EQ(peer().signalOfWrite(piece(4)), 0);
}

TEST_F(RangeAccessTest, PieceWithoutAccessFaults) {
    EXPECT_EQ(peer().signalOfRead(piece(2)), SIGSEGV);
    EXPECT_EQ(peer().signalOfWrite(piece(2)), SIGSEGV);
    EXPECT_EQ(peer().signalOfRead(piece(3)), 0);
}

TEST_F(RangeAccessTest, AccessIsReportedPerStretch) {
    const uint64_t rest = range().size();
    const auto first = peer().access(base(), rest);
    EXPECT_EQ(first.result, ZE_RESULT_SUCCESS);
    EXPECT_EQ(first.number, readWrite);
    EXPECT_EQ(first.size, chunk);
    EXPECT_EQ(peer().access(piece(1), 2 * chunk).number, readOnly);
    EXPECT_EQ(peer().access(piece(1), 3 * chunk).size, 2 * chunk);
    EXPECT_EQ(peer().access(piece(2), chunk).number, noAccess);
}

TEST_F(RangeAccessTest, FieldCase58_AccessIsLowered) {
    EXPECT_EQ(peer().setAccess(piece(0), chunk, readOnly), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer().signalOfWrite(piece(0)), SIGSEGV);
    EXPECT_EQ(peer().setAccess(piece(1), chunk, noAccess), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer().signalOfRead(piece(1)), SIGSEGV);
    EXPECT_EQ(peer().signalOfRead(piece(1) + chunk), 0);
    storeWord(range().base(), 5);
    EXPECT_EQ(peer().word(base()), 5U);
}

TEST_F(RangeAccessTest, AccessIsNotRaisedBeyondTheExport) {
    for (const size_t index : {1U, 2U, 3U}) {
        EXPECT_NE(peer().setAccess(piece(index), chunk, readWrite), ZE_RESULT_SUCCESS) << index;
        EXPECT_EQ(peer().signalOfWrite(piece(index)), SIGSEGV) << index;
    }
    EXPECT_NE(peer().setAccess(piece(2), chunk, readOnly), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer().signalOfRead(piece(2)), SIGSEGV);
}

TEST_F(RangeAccessTest, RefusedRaiseOverSeveralPiecesChangesNone) {
    EXPECT_NE(peer().setAccess(base(), range().size(), readWrite), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer().access(piece(0), chunk).number, readWrite);
    EXPECT_EQ(peer().access(piece(1), chunk).number, readOnly);
    EXPECT_EQ(peer().access(piece(2), chunk).number, noAccess);
}

TEST_F(RangeAccessTest, ExportersOwnAccessIsUntouched) {
    EXPECT_EQ(peer().setAccess(piece(0), chunk, noAccess), ZE_RESULT_SUCCESS);
    storeWord(range().base(), 6);
    EXPECT_EQ(loadWord(range().base()), 6U);
}

// From here on: an import is closed and nothing else.

TEST_F(RangeAccessTest, FieldCase48_MemFreeOfAnImportIsRefused) {
    EXPECT_EQ(peer().ask({.command = Command::MemFree, .address = base()}).result,
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectUsable();
}

TEST_F(RangeAccessTest, FieldCase48_VirtualMemFreeOfAnImportIsRefused) {
    const Request request = {
        .command = Command::VirtualMemFree, .address = base(), .size = range().size()};
    const auto reply = peer().ask(request);
    EXPECT_EQ(reply.result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_STRNE(reply.text.data(), "");
    expectUsable();
}

TEST_F(RangeAccessTest, FieldCase48_MapOverAnImportIsRefused) {
    EXPECT_EQ(peer().ask({.command = Command::Map, .address = base(), .size = chunk}).result,
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectUsable();
}

TEST_F(RangeAccessTest, FieldCase48_UnmapOfAnImportIsRefused) {
    const Request whole = {.command = Command::Unmap, .address = base(), .size = range().size()};
    EXPECT_EQ(peer().ask(whole).result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    const Request part = {.command = Command::Unmap, .address = piece(1), .size = chunk};
    EXPECT_EQ(peer().ask(part).result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectUsable();
}

TEST_F(RangeAccessTest, FieldCase48_CloseTakesTheBaseAlone) {
    EXPECT_EQ(peer().close(base() + chunk), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(peer().close(base() + 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(peer().close(0), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    expectUsable();
    EXPECT_EQ(peer().close(base()), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer().close(base()), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(RangeAccessTest, FieldCase48_CloseOfOtherMemoryIsRefused) {
    EXPECT_EQ(zeMemCloseIpcHandle(context(), range().base()), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    int local = 0;
    EXPECT_EQ(zeMemCloseIpcHandle(context(), &local), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(checksumOf(range().base(), chunk), range().checksum(0, chunk));
}

TEST_F(RangeAccessTest, OpenRefusesBadArguments) {
    void *ptr = nullptr;
    EXPECT_EQ(zeMemOpenIpcHandle(context(), nullptr, handle(), 0, &ptr),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_EQ(zeMemOpenIpcHandle(nullptr, firstDevice(), handle(), 0, &ptr),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_EQ(zeMemOpenIpcHandle(context(), firstDevice(), handle(), 0, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(zeMemOpenIpcHandle(context(), firstDevice(), handle(), 0x80, &ptr),
              ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_EQ(ptr, nullptr);
}

} // namespace causeway::black_box
