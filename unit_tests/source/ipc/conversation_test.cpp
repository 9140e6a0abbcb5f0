#include "source/ipc/conversation.h"

#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/forked_child.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/ipc/scripted_peer.h"

#include <unistd.h>

#include <cerrno>

namespace causeway::ipc {
namespace {

using fakes::OsCall;
using std::chrono::milliseconds;

class ConversationTest : public fakes::ResourceCheckedTest {
  protected:
    [[nodiscard]] Conversation connect(const ScriptedPeer &peer,
                                       milliseconds timeout = patienceOfTests) {
        return must(connectByName(os_, peer.handle(1).serverId, timeout));
    }

    static constexpr wire::Request anyRequest = {
        .type = wire::RequestType::Fetch, .token = {}, .first = 0, .count = 1};

    fakes::FaultyOs os_{linuxOs()};
};

void answerOnce(ScriptedTalk &talk) {
    (void)talk.request();
    talk.reply(okReply(0, 1), objectFiles(1));
    talk.staySilent();
}

TEST_F(ConversationTest, AsksAndHears) {
    const ScriptedPeer peer(answerOnce);
    Conversation conversation = connect(peer);

    must(conversation.send(anyRequest));
    const Conversation::Answer answer = must(conversation.receive());

    EXPECT_EQ(answer.header.fdCount, 1U);
    EXPECT_EQ(answer.fds.size(), 1U);
    EXPECT_FALSE(answer.truncated);
}

TEST_F(ConversationTest, SignalsDoNotEndAWait) {
    const ScriptedPeer peer(answerOnce);
    Conversation conversation = connect(peer);
    must(conversation.send(anyRequest));
    os_.failKindAt(OsCall::ReceiveMessage, 1, EAGAIN); // so that it waits in any case
    os_.failKindAt(OsCall::Poll, 1, EINTR);

    EXPECT_TRUE(succeeds(conversation.receive()));
    EXPECT_EQ(os_.faults(), 2U);
}

TEST_F(ConversationTest, AFullQueueIsWaitedFor) {
    const ScriptedPeer peer(answerOnce);
    Conversation conversation = connect(peer);
    os_.failKindAt(OsCall::SendMessage, 1, EAGAIN);

    must(conversation.send(anyRequest));
    EXPECT_TRUE(succeeds(conversation.receive()));
}

TEST_F(ConversationTest, AQueueThatStaysFullIsATimeout) {
    const ScriptedPeer peer([](ScriptedTalk &talk) { talk.staySilent(); });
    Conversation conversation = connect(peer, milliseconds(50));
    // The socket is writable, so each wait ends at once; only the clock ends it all.
    os_.failKind(OsCall::SendMessage, EAGAIN);

    EXPECT_TRUE(failsWith(conversation.send(anyRequest), Status::NotAvailable, "in time"));
}

TEST_F(ConversationTest, EachKindOfResetIsTheExportersEnd) {
    const ScriptedPeer peer([](ScriptedTalk &talk) { talk.staySilent(); });
    Conversation conversation = connect(peer);
    for (const int error : {EPIPE, ECONNRESET}) {
        os_.failKindAt(OsCall::SendMessage, 1, error);
        EXPECT_TRUE(failsWith(conversation.send(anyRequest), Status::InvalidArgument, "gone"));
    }
    os_.failKindAt(OsCall::ReceiveMessage, 1, ECONNRESET);
    EXPECT_TRUE(failsWith(conversation.receive(), Status::InvalidArgument, "gone"));
}

TEST_F(ConversationTest, OtherErrorsSayWhatWasTried) {
    const ScriptedPeer peer([](ScriptedTalk &talk) { talk.staySilent(); });
    Conversation conversation = connect(peer);
    os_.failKindAt(OsCall::SendMessage, 1, ENOBUFS);
    EXPECT_TRUE(failsWith(conversation.send(anyRequest), Status::OutOfHostMemory, "sending"));
    os_.failKindAt(OsCall::ReceiveMessage, 1, ENOMEM);
    EXPECT_TRUE(failsWith(conversation.receive(), Status::OutOfHostMemory, "receiving"));
    os_.failKindAt(OsCall::Poll, 1, ENOMEM);
    EXPECT_TRUE(failsWith(conversation.receive(), Status::OutOfHostMemory, "waiting"));
}

TEST_F(ConversationTest, AConnectThatFailsSaysWhy) {
    const auto connect = [this](int error) {
        os_.failKindAt(OsCall::ConnectAbstract, 1, error);
        return connectByName(os_, 0xAB, patienceOfTests);
    };
    EXPECT_TRUE(failsWith(connect(ECONNREFUSED), Status::InvalidArgument, serverName(0xAB)));
    EXPECT_TRUE(failsWith(connect(ETIMEDOUT), Status::NotAvailable, serverName(0xAB)));
    EXPECT_TRUE(failsWith(connect(EMFILE), Status::OutOfHostMemory, serverName(0xAB)));
    EXPECT_TRUE(failsWith(connect(EACCES), Status::InsufficientPermissions, serverName(0xAB)));
}

/// A child that it forked holds the socket; nobody will ever accept.
TEST_F(ConversationTest, AnExporterThatIsGoneButForItsSocketIsGone) {
    const ScriptedPeer peer(answerOnce);
    os_.failKind(OsCall::PeerProcess, ESRCH);

    EXPECT_TRUE(failsWith(connectByName(os_, peer.handle(1).serverId, patienceOfTests),
                          Status::InvalidArgument,
                          "gone"));
}

/// Linux 6.4 and earlier: the number that came with the socket has to do.
TEST_F(ConversationTest, AnOldKernelIsAskedForTheProcessByItsNumber) {
    const ScriptedPeer peer(answerOnce);
    os_.failKind(OsCall::PeerProcess, ENOPROTOOPT);
    os_.failKind(OsCall::OpenProcess, ESRCH);

    EXPECT_TRUE(failsWith(connectByName(os_, peer.handle(1).serverId, patienceOfTests),
                          Status::InvalidArgument,
                          "gone"));
}

TEST_F(ConversationTest, WorksWithoutAProcessDescriptor) {
    os_.failKind(OsCall::PeerProcess, ENOPROTOOPT);
    os_.failKind(OsCall::OpenProcess, ENOSYS);
    const ScriptedPeer peer(answerOnce);
    Conversation conversation = connect(peer);

    must(conversation.send(anyRequest));
    EXPECT_TRUE(succeeds(conversation.receive()));
}

/// A clock that only the test moves.
class StoppedOs final : public fakes::ForwardingOs {
  public:
    using ForwardingOs::ForwardingOs;

    std::chrono::steady_clock::time_point now() override { return time; }

    std::chrono::steady_clock::time_point time{std::chrono::seconds(1000)};
};

/// Answers each request with nothing.
void answerAll(ScriptedTalk &talk) {
    while (talk.request()) {
        talk.reply(okReply(0, 0));
    }
}

TEST_F(ConversationTest, ABudgetBoundsWhatSeemsToGoOnWell) {
    const ScriptedPeer peer(answerAll);
    StoppedOs os(os_);
    Conversation conversation = must(connectByName(os, peer.handle(1).serverId, patienceOfTests));
    conversation.setBudget(2 * patienceOfTests);
    for (int i = 0; i < 4; ++i) {
        must(conversation.send(anyRequest));
        EXPECT_TRUE(succeeds(conversation.receive())) << i;
        os.time += patienceOfTests / 2; // what is left of the timeout is as long again
    }
    os_.failKindAt(OsCall::ReceiveMessage, 1, EAGAIN);
    EXPECT_TRUE(failsWith(conversation.receive(), Status::NotAvailable, "in time"));
}

TEST_F(ConversationTest, TheTimeoutIsForEachAnswer) {
    const ScriptedPeer peer(answerAll);
    StoppedOs os(os_);
    Conversation conversation = must(connectByName(os, peer.handle(1).serverId, patienceOfTests));
    for (int i = 0; i < 3; ++i) {
        must(conversation.send(anyRequest));
        EXPECT_TRUE(succeeds(conversation.receive()));
        os.time += patienceOfTests - milliseconds(1);
    }
    os.time += milliseconds(1);
    os_.failKindAt(OsCall::ReceiveMessage, 1, EAGAIN);
    EXPECT_TRUE(failsWith(conversation.receive(), Status::NotAvailable, "in time"));
}

/// A killed exporter whose socket lives on in a child of its: only the process itself tells.
TEST_F(ConversationTest, AKilledExporterIsAnErrorEvenIfAChildHoldsItsSocket_Forks) {
    uint64_t id = 0;
    linuxOs().randomBytes(std::as_writable_bytes(std::span(&id, 1))).value();
    fakes::ForkedChild exporter([id](const fakes::ForkedChild::Side &side) {
        const UniqueFd listener = std::move(linuxOs().listenAbstract(serverName(id), 4).value());
        side.ready();
        if (!readableWithin(listener.get(), patienceOfTests)) {
            return 1;
        }
        const UniqueFd socket = std::move(linuxOs().accept(listener.get()).value());
        if (::fork() != 0) {
            side.ready();
        }
        side.waitForNext(); // the parent kills the first process and lets the second one go
        return 0;
    });
    exporter.waitUntilReady();
    Conversation conversation = must(connectByName(os_, id, patienceOfTests));
    exporter.waitUntilReady();
    exporter.kill();

    EXPECT_TRUE(failsWith(conversation.receive(), Status::InvalidArgument, "gone"));
    exporter.letGo();
}

} // namespace
} // namespace causeway::ipc
