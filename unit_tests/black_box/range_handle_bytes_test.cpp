#include "unit_tests/black_box/ipc_fixture.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>

namespace causeway::black_box {

namespace {

constexpr auto invalid = ZE_RESULT_ERROR_INVALID_ARGUMENT;

/// What clients do to the 64 bytes between two processes (ipc.md, "What clients do").
class RangeHandleBytesTest : public IpcTest {
  protected:
    void SetUp() override {
        IpcTest::SetUp();
        range_ =
            std::make_unique<Range>(context(),
                                    std::vector<Piece>{Piece::of(chunk),
                                                       Piece::window(4 * chunk, chunk, 2 * chunk),
                                                       Piece::of(chunk).onHost()});
        handle_ = range_->exportWhole();
        peer_ = std::make_unique<Peer>(ChildOptions{.socket = channel_.there.get()});
    }

    void TearDown() override {
        peer_.reset();
        range_.reset();
        IpcTest::TearDown();
    }

    Peer &peer() { return *peer_; }

    [[nodiscard]] const ze_ipc_mem_handle_t &handle() const { return handle_; }

    [[nodiscard]] size_t rangeSize() const { return range_->size(); }

    [[nodiscard]] ze_ipc_mem_handle_t exportWhole() const { return range_->exportWhole(); }

    /// Sends the descriptor of bytes 0-3 to the peer, as a client does, and returns its number
    /// there.
    int moveTicket() {
        channel_.send(descriptorOf(handle_));
        return peer_->receiveDescriptor();
    }

    void expectOpens(const ze_ipc_mem_handle_t &handle) {
        const auto reply = peer_->tryOpen(handle);
        ASSERT_EQ(reply.result, ZE_RESULT_SUCCESS) << reply.text.data();
        EXPECT_EQ(peer_->checksum(reply.address, range_->size()), range_->checksum());
        EXPECT_EQ(peer_->addressRange(reply.address).size, range_->size());
        EXPECT_EQ(peer_->close(reply.address), ZE_RESULT_SUCCESS);
    }

    void expectRefused(const ze_ipc_mem_handle_t &handle) {
        const auto reply = peer_->tryOpen(handle);
        EXPECT_EQ(reply.result, invalid);
        EXPECT_STRNE(reply.text.data(), "");
        EXPECT_EQ(reply.address, 0U);
    }

  private:
    DescriptorChannel channel_; ///< made before the fixture counts descriptors, and outlives it
    std::unique_ptr<Range> range_;
    std::unique_ptr<Peer> peer_;
    ze_ipc_mem_handle_t handle_ = {};
};

} // namespace

// MPI, files and RPC pass 64 bytes and nothing else.
TEST_F(RangeHandleBytesTest, FieldCase72_UnchangedHandleOpens) {
    expectOpens(handle());
}

// MPICH, UMF, Unified Runtime, UCX.
TEST_F(RangeHandleBytesTest, FieldCase70_MovedTicketOpens) {
    expectOpens(withDescriptor(handle(), moveTicket()));
}

// Intel SHMEM in socket mode.
TEST_F(RangeHandleBytesTest, FieldCase71_MovedTicketWithBytesFourToSevenOverwrittenOpens) {
    auto moved = withDescriptor(handle(), moveTicket());
    expectOpens(withGarbage(moved, 4, 8, 1));
    std::fill_n(moved.data + 4, 4, '\xFF'); // (fd, -1)
    expectOpens(moved);
}

TEST_F(RangeHandleBytesTest, BytesFourToSevenOverwrittenOpen) {
    expectOpens(withGarbage(handle(), 4, 8, 2));
}

// libfabric, oneCCL.
TEST_F(RangeHandleBytesTest, FieldCase69_MovedTicketAloneOpens) {
    expectOpens(withZeroRest(withDescriptor(handle(), moveTicket())));
}

// ze_peer.
TEST_F(RangeHandleBytesTest, MovedTicketWithGarbageOpens) {
    const int ticket = moveTicket();
    for (uint32_t seed = 1; seed <= 20; ++seed) {
        expectOpens(withGarbage(withDescriptor(handle(), ticket), 4, 64, seed));
    }
}

// Clients close the descriptor right after the open.
TEST_F(RangeHandleBytesTest, FieldCase17_MovedTicketIsNeitherClosedNorKept) {
    const int ticket = moveTicket();
    const auto before = peer().descriptors();
    const uint64_t base = peer().open(withZeroRest(withDescriptor(handle(), ticket)));
    EXPECT_LE(peer().descriptors(), before + 1) << "one kept connection at most";
    const auto word = peer().word(base);
    const Request close = {.command = Command::CloseDescriptor,
                           .value = static_cast<uint64_t>(ticket)};
    EXPECT_EQ(peer().demand(close).number, 0) << "it was still the client's";
    EXPECT_EQ(peer().word(base), word);
    const uint64_t target = peer().buildRange(1, chunk, 1);
    peer().demand({.command = Command::Copy, .address = target, .size = 8, .extra = base});
    EXPECT_EQ(peer().word(target), word);
    EXPECT_EQ(peer().setAccess(base, chunk, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY),
              ZE_RESULT_SUCCESS);
}

// The number means another file here; by value the handle still leads to the memory.
TEST_F(RangeHandleBytesTest, FieldCase70_UnrelatedDescriptorIsNotTakenForTheTicket) {
    for (const auto kind : {DescriptorKind::DevNull,
                            DescriptorKind::Pipe,
                            DescriptorKind::Memfd,
                            DescriptorKind::SealedMemfd}) {
        expectOpens(withDescriptor(handle(), peer().makeDescriptor(kind)));
    }
}

TEST_F(RangeHandleBytesTest, FieldCase70_HandleWithoutDescriptorOpens) {
    for (const int fd : {-1, -2, 12345, INT32_MIN}) {
        expectOpens(withDescriptor(handle(), fd));
    }
}

TEST_F(RangeHandleBytesTest, UnrelatedDescriptorAloneIsRefused) {
    for (const auto kind : {DescriptorKind::DevNull,
                            DescriptorKind::Pipe,
                            DescriptorKind::Memfd,
                            DescriptorKind::SealedMemfd}) {
        const int fd = peer().makeDescriptor(kind);
        expectRefused(withZeroRest(withDescriptor(handle(), fd)));
        expectRefused(withGarbage(withDescriptor(handle(), fd), 4, 64, 5));
        peer().closeDescriptor(fd);
    }
}

TEST_F(RangeHandleBytesTest, NoDescriptorAloneIsRefused) {
    for (const int fd : {-1, 12345}) {
        expectRefused(withZeroRest(withDescriptor(handle(), fd)));
    }
}

// MPICH, Intel SHMEM and libfabric map the descriptor of a single object. A range's must
// not look like memory.
TEST_F(RangeHandleBytesTest, FieldCase64_TicketCannotBeMapped) {
    const int ticket = descriptorOf(handle());
    ASSERT_GE(fcntl(ticket, F_GETFD), 0);
    for (const int protection : {PROT_READ, PROT_WRITE, PROT_READ | PROT_WRITE}) {
        EXPECT_EQ(mmap(nullptr, smallPage, protection, MAP_SHARED, ticket, 0), MAP_FAILED);
        EXPECT_EQ(mmap(nullptr, smallPage, protection, MAP_PRIVATE, ticket, 0), MAP_FAILED);
    }
}

TEST_F(RangeHandleBytesTest, FieldCase21_TicketIsClosedOnExec) {
    EXPECT_EQ(fcntl(descriptorOf(handle()), F_GETFD), FD_CLOEXEC);
}

TEST_F(RangeHandleBytesTest, ClosedTicketIsReplaced) {
    close(descriptorOf(handle()));
    const auto again = exportWhole();
    EXPECT_GE(fcntl(descriptorOf(again), F_GETFD), 0);
    expectOpens(again);
    expectOpens(handle());
}

// A client closes the number in the handle; it becomes another file.
TEST_F(RangeHandleBytesTest,
       FieldCase15_FieldCase16_ClosedTicketIsReplacedAndTheStrangerLeftAlone) {
    const int ticket = descriptorOf(handle());
    const Descriptor devNull(open("/dev/null", O_RDWR | O_CLOEXEC));
    const Descriptor stranger(dup3(devNull.get(), ticket, O_CLOEXEC));
    ASSERT_EQ(stranger.get(), ticket);
    const auto again = exportWhole();
    EXPECT_NE(descriptorOf(again), ticket);
    expectOpens(again);
    expectOpens(handle());
    EXPECT_EQ(putIpcHandle(context(), again), ZE_RESULT_SUCCESS);
    EXPECT_EQ(putIpcHandle(context(), handle()), ZE_RESULT_SUCCESS);
    EXPECT_GE(fcntl(stranger.get(), F_GETFD), 0) << "the driver closed what is not its own";
}

} // namespace causeway::black_box
