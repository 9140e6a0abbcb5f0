#include "source/ipc/ticket.h"

#include "shared/os/linux_os.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/ipc/peer.h"
#include "unit_tests/source/memory/result_checks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

namespace causeway::ipc {
namespace {

constexpr int allSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

class TicketTest : public fakes::ResourceCheckedTest {
  protected:
    [[nodiscard]] static wire::IpcHandle someHandle() {
        wire::IpcHandle handle;
        handle.serverId = 0x1122334455667788;
        handle.token.fill(0x42);
        handle.sizeBytes = 12345;
        handle.pid = 77;
        return handle;
    }

    /// A memfd that a peer made itself: any name, any contents, any seals.
    [[nodiscard]] static UniqueFd forged(const char *name,
                                         std::span<const std::byte> contents,
                                         int seals = allSeals) {
        UniqueFd file = std::move(linuxOs().memfdCreate(name, MFD_ALLOW_SEALING).value());
        EXPECT_EQ(linuxOs().writeAt(file.get(), contents, 0).value(), contents.size());
        if (seals != 0) {
            linuxOs().addSeals(file.get(), seals).value();
        }
        return file;
    }

    void expectRefused(int fd, std::string_view text = "not the ticket of a shared range") {
        EXPECT_TRUE(failsWith(readTicket(os_, fd), Status::InvalidArgument, text));
    }

    fakes::FaultyOs os_{linuxOs()};
};

TEST_F(TicketTest, ReadsBackTheHandle) {
    wire::IpcHandle handle = someHandle();
    const Ticket ticket = must(makeTicket(os_, handle));

    const wire::IpcHandle read = must(readTicket(os_, ticket.fd.get()));

    EXPECT_EQ(read, handle);
    EXPECT_EQ(read.fdIdentity, wire::fileIdentity(ticket.file.device, ticket.file.inode));
}

TEST_F(TicketTest, ReadsBackThroughADuplicate) {
    wire::IpcHandle handle = someHandle();
    const Ticket ticket = must(makeTicket(os_, handle));

    const UniqueFd duplicate = std::move(linuxOs().duplicate(ticket.fd.get()).value());

    EXPECT_EQ(must(readTicket(os_, duplicate.get())), handle);
}

TEST_F(TicketTest, IsWriteOnlySoThatAClientCannotMapIt) {
    wire::IpcHandle handle = someHandle();
    const Ticket ticket = must(makeTicket(os_, handle));

    EXPECT_EQ(::fcntl(ticket.fd.get(), F_GETFL) & O_ACCMODE, O_WRONLY);
    for (const int protection : {PROT_READ, PROT_READ | PROT_WRITE}) {
        void *mapped = ::mmap(nullptr, 64, protection, MAP_SHARED, ticket.fd.get(), 0);
        EXPECT_EQ(mapped, MAP_FAILED);
        EXPECT_EQ(errno, EACCES);
    }
}

TEST_F(TicketTest, CannotBeChanged) {
    wire::IpcHandle handle = someHandle();
    const Ticket ticket = must(makeTicket(os_, handle));

    EXPECT_EQ(::pwrite(ticket.fd.get(), "x", 1, 0), -1);
    EXPECT_EQ(::ftruncate(ticket.fd.get(), 0), -1);
    EXPECT_EQ(linuxOs().seals(ticket.fd.get()).value() & allSeals, allSeals);
}

TEST_F(TicketTest, ClosesOnExec) {
    wire::IpcHandle handle = someHandle();
    const Ticket ticket = must(makeTicket(os_, handle));

    EXPECT_EQ(::fcntl(ticket.fd.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(TicketTest, StaysReadableWithoutProc) {
    os_.failKind(fakes::OsCall::Reopen, ENOENT);
    wire::IpcHandle handle = someHandle();
    const Ticket ticket = must(makeTicket(os_, handle));
    os_.heal();

    EXPECT_EQ(must(readTicket(os_, ticket.fd.get())), handle);
}

TEST_F(TicketTest, EachStepOfMakingItCanFail) {
    // memfd_create, fstat, pwrite, seals; the reopening after them may fail.
    for (uint64_t k = 1; k <= 4; ++k) {
        wire::IpcHandle handle = someHandle();
        os_.failAt(k, EMFILE);
        EXPECT_TRUE(failsWith(makeTicket(os_, handle), Status::OutOfHostMemory)) << k;
        EXPECT_EQ(leftovers(), "");
    }
}

TEST_F(TicketTest, EachStepOfReadingItCanFail) {
    wire::IpcHandle handle = someHandle();
    const Ticket ticket = must(makeTicket(os_, handle));
    const uint64_t before = os_.calls();
    (void)must(readTicket(os_, ticket.fd.get()));
    const uint64_t calls = os_.calls() - before;

    for (uint64_t k = 1; k <= calls; ++k) {
        os_.failAt(k, EMFILE);
        const auto read = readTicket(os_, ticket.fd.get());
        EXPECT_FALSE(read) << k;
        EXPECT_FALSE(read.error().message.empty());
    }
    EXPECT_TRUE(succeeds(readTicket(os_, ticket.fd.get())));
}

TEST_F(TicketTest, ForeignDescriptorsAreNone) {
    std::array<int, 2> pipeEnds = {};
    ASSERT_EQ(::pipe2(pipeEnds.data(), O_CLOEXEC), 0);
    const UniqueFd readEnd(pipeEnds[0]);
    const UniqueFd writeEnd(pipeEnds[1]);
    const UniqueFd directory(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));

    for (const UniqueFd *fd : {&readEnd, &writeEnd, &directory, &null, &socket}) {
        expectRefused(fd->get());
    }
}

TEST_F(TicketTest, NumbersThatAreNotOpenAreNone) {
    int closed = -1;
    {
        const UniqueFd file = forged("causeway-ticket", wire::encodeHandle(someHandle()));
        closed = file.get();
    }
    for (const int fd : {closed, -1, INT32_MAX, INT32_MIN}) {
        expectRefused(fd, "Bad file descriptor");
    }
}

TEST_F(TicketTest, AMemfdOfAnotherNameIsNone) {
    const auto contents = wire::encodeHandle(someHandle());

    expectRefused(forged("somebody-else", contents).get(), "somebody-else");
    expectRefused(forged("causeway-ticket2", contents).get());
    expectRefused(forged("causeway-object-1", contents).get());
}

TEST_F(TicketTest, AnUnsealedOneIsNone) {
    const auto contents = wire::encodeHandle(someHandle());

    expectRefused(forged("causeway-ticket", contents, 0).get());
    expectRefused(forged("causeway-ticket", contents, F_SEAL_SHRINK | F_SEAL_GROW).get());
    expectRefused(
        forged("causeway-ticket", contents, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW).get());
}

TEST_F(TicketTest, OneOfAnotherLengthIsNone) {
    const auto contents = wire::encodeHandle(someHandle());
    std::array<std::byte, 65> longer = {};

    expectRefused(forged("causeway-ticket", std::span(contents).first(63)).get());
    expectRefused(forged("causeway-ticket", longer).get());
    expectRefused(forged("causeway-ticket", {}).get());
}

TEST_F(TicketTest, OneThatHoldsAnotherTicketsHandleIsRefused) {
    wire::IpcHandle handle = someHandle();
    const Ticket ticket = must(makeTicket(os_, handle));

    const UniqueFd copy = forged("causeway-ticket", wire::encodeHandle(handle));

    expectRefused(copy.get(), "does not hold its own handle");
}

TEST_F(TicketTest, OneThatHoldsNoHandleIsRefused) {
    const UniqueFd zeros = forged("causeway-ticket", wire::HandleBytes{});

    expectRefused(zeros.get(), "does not hold its own handle");
}

TEST_F(TicketTest, OneThatHoldsADamagedHandleIsRefused) {
    auto contents = wire::encodeHandle(someHandle());
    contents[30] ^= std::byte{1};

    expectRefused(forged("causeway-ticket", contents).get(), "damaged");
}

TEST_F(TicketTest, ReadingLeavesTheDescriptorToTheApplication) {
    wire::IpcHandle handle = someHandle();
    const Ticket ticket = must(makeTicket(os_, handle));

    (void)must(readTicket(os_, ticket.fd.get()));
    EXPECT_TRUE(succeeds(readTicket(os_, ticket.fd.get())));
}

class TicketedHandleTest : public TicketTest {};

TEST_F(TicketedHandleTest, GivesTheSameNumberEachTime) {
    TicketedHandle handle(os_, someHandle(), true);

    EXPECT_EQ(handle.bytes(), handle.bytes());
    EXPECT_EQ(must(readTicket(os_, decoded(handle.bytes()).fd)).token, someHandle().token);
}

TEST_F(TicketedHandleTest, ReplacesANumberThatAClientClosed) {
    TicketedHandle handle(os_, someHandle(), true);
    const int closed = decoded(handle.bytes()).fd;
    ::close(closed);

    const wire::IpcHandle again = decoded(handle.bytes());

    EXPECT_TRUE(succeeds(readTicket(os_, again.fd)));
    EXPECT_EQ(again.token, someHandle().token);
}

TEST_F(TicketedHandleTest, NeverClosesAStranger) {
    TicketedHandle handle(os_, someHandle(), true);
    const int number = decoded(handle.bytes()).fd;
    const UniqueFd stranger = std::move(linuxOs().memfdCreate("stranger", 0).value());
    ASSERT_EQ(::dup2(stranger.get(), number), number); // closes the ticket, as a client might
    const UniqueFd owner(number);

    EXPECT_NE(decoded(handle.bytes()).fd, number);
    EXPECT_TRUE(linuxOs().fileInfo(number));
}

TEST_F(TicketedHandleTest, LeavesAStrangerAloneAtItsEnd) {
    auto handle = std::make_unique<TicketedHandle>(os_, someHandle(), true);
    const int number = decoded(handle->bytes()).fd;
    const UniqueFd stranger = std::move(linuxOs().memfdCreate("stranger", 0).value());
    ASSERT_EQ(::dup2(stranger.get(), number), number);
    const UniqueFd owner(number);

    handle.reset();

    EXPECT_TRUE(linuxOs().fileInfo(number));
}

TEST_F(TicketedHandleTest, WithoutOneTheNumberIsMinusOne) {
    TicketedHandle handle(os_, someHandle(), false);

    EXPECT_EQ(decoded(handle.bytes()).fd, -1);
    EXPECT_EQ(decoded(handle.bytes()).fdIdentity, 0U);
}

} // namespace
} // namespace causeway::ipc
