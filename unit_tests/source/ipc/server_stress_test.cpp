#include "unit_tests/fakes/forked_child.h"
#include "unit_tests/source/ipc/server_fixture.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <list>

namespace causeway::ipc {
namespace {

using fakes::OsCall;
using std::chrono::milliseconds;

constexpr uint64_t limitOfDescriptors = 24;
constexpr uint64_t connections = limitOfDescriptors / 4;

/// What floods, shortages and dead peers do to a server.
class ServerStressTest : public ServerFixture {
  protected:
    /// Whether the server makes few calls of a kind while nothing happens that the test makes
    /// happen: two a millisecond is more than any timer of its, and far less than a thread that
    /// spins.
    [[nodiscard]] bool isCalm(OsCall kind) {
        using Clock = std::chrono::steady_clock;
        const uint64_t before = faults_.calls(kind);
        const auto since = Clock::now();
        (void)linuxOs().poll({}, milliseconds(50));
        const auto calls = static_cast<int64_t>(faults_.calls(kind) - before);
        return calls < 20 + 2 * std::chrono::ceil<milliseconds>(Clock::now() - since).count();
    }
};

TEST_F(ServerStressTest, AFloodKeepsWhoHasShownAToken) {
    os_.limit = limitOfDescriptors;
    start();
    TestClient opened = client();
    opened.open(shared_.token, 1);
    ASSERT_TRUE(opened.receive());
    std::list<TestClient> flood;
    for (int i = 0; i < 40; ++i) {
        flood.push_back(client());
    }

    opened.fetch(1, 2);
    const auto reply = opened.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->fds.size(), 2U);
    EXPECT_FALSE(flood.front().receive()) << "the oldest idle one should have been dropped";
    client().expectOpens(shared_.token, 3);
}

/// More at once than there are connections, all with their request sent before the server looks.
TEST_F(ServerStressTest, ABurstOfImportersIsServedWhole) {
    os_.limit = limitOfDescriptors;
    start();
    faults_.failKind(OsCall::Accept, EMFILE);
    std::list<TestClient> burst;
    for (uint64_t i = 0; i < 5 * connections; ++i) {
        burst.push_back(client());
        burst.back().open(shared_.token);
    }
    os_.aheadMs += 1000; // as if the server's thread had been kept from running
    faults_.heal();
    for (; !burst.empty(); burst.pop_front()) {
        const auto reply = burst.front().receive();
        ASSERT_TRUE(reply) << "turned away, with " << burst.size() << " left";
        EXPECT_EQ(reply->fds.size(), 3U);
    }
}

TEST_F(ServerStressTest, WhoHasHadTimeToAskMakesRoomForWhoHasNot) {
    os_.limit = limitOfDescriptors;
    start();
    std::list<TestClient> silent;
    for (uint64_t i = 0; i < connections; ++i) {
        silent.push_back(client());
    }
    TestClient late = client();
    ASSERT_TRUE(eventually([this] { return faults_.calls(OsCall::Accept) >= connections; }));
    os_.aheadMs += 1000;

    late.expectOpens(shared_.token, 3);
    EXPECT_FALSE(silent.front().receive());
    silent.back().expectOpens(shared_.token, 3);
}

TEST_F(ServerStressTest, ConversationsShareTheFileOfALongTable) {
    const TestExport big(2, 10'000, 0x11);
    (void)exports_.add(big.reference);
    start();
    std::array<TestClient, 3> clients = {client(), client(), client()};
    std::array<uint64_t, 3> inodes = {};
    for (size_t i = 0; i < clients.size(); ++i) {
        clients[i].open(big.token);
        const auto reply = clients[i].receive();
        ASSERT_TRUE(reply && reply->header.tableInFile);
        inodes[i] = linuxOs().fileInfo(reply->fds[0].get())->inode;
    }
    EXPECT_EQ(inodes, (std::array<uint64_t, 3>{inodes[0], inodes[0], inodes[0]}));
}

TEST_F(ServerStressTest, ANewcomerWaitsWhileAllConnectionsAreAtWork) {
    os_.limit = limitOfDescriptors;
    start();
    std::list<TestClient> working;
    for (uint64_t i = 0; i < connections; ++i) {
        working.push_back(client());
        working.back().expectOpens(shared_.token, 3);
    }
    TestClient newcomer = client();
    newcomer.open(shared_.token);
    EXPECT_TRUE(isCalm(OsCall::EpollWait));

    working.pop_front();

    const auto reply = newcomer.receive();
    ASSERT_TRUE(reply) << "turned away";
    EXPECT_EQ(reply->fds.size(), 3U);
    for (TestClient &other : working) {
        other.fetch(0, 1);
        EXPECT_TRUE(other.receive());
    }
}

TEST_F(ServerStressTest, WithoutADescriptorToAcceptWithTheListenerRestsAndRecovers) {
    start();
    TestClient before = client();
    before.expectOpens(shared_.token, 3);
    faults_.failKind(OsCall::Accept, EMFILE);
    TestClient waiting = client();
    waiting.open(shared_.token);
    ASSERT_TRUE(eventually([this] { return faults_.lastFault() == OsCall::Accept; }));

    EXPECT_TRUE(isCalm(OsCall::EpollWait));
    before.fetch(0, 1);
    EXPECT_TRUE(before.receive()) << "who is connected must be served meanwhile";

    faults_.heal();
    EXPECT_EQ(waiting.receive()->fds.size(), 3U);
}

TEST_F(ServerStressTest, ADescriptorShortageWhileAnsweringSendsFewer) {
    start();
    shared_.backings[2]->exhausted = true;
    TestClient opened = client();
    opened.expectOpens(shared_.token, 1);

    opened.fetch(2, 1);
    EXPECT_EQ(opened.receive()->header.status, wire::ReplyStatus::Exhausted);
    EXPECT_FALSE(opened.receive());

    shared_.backings[2]->exhausted = false;
    client().expectOpens(shared_.token, 3);
}

TEST_F(ServerStressTest, TheLimitOfDescriptorsInFlightIsRetriedByTimer) {
    start();
    faults_.failKind(OsCall::SendMessage, ETOOMANYREFS);
    TestClient opened = client();
    opened.open(shared_.token);
    ASSERT_TRUE(eventually([this] { return faults_.faults() > 2; }));
    EXPECT_TRUE(isCalm(OsCall::SendMessage));

    faults_.heal();
    EXPECT_EQ(opened.receive()->fds.size(), 3U);
}

TEST_F(ServerStressTest, AClientThatGoesWhileItsAnswerIsRetriedIsDroppedAtOnce) {
    start();
    faults_.failKind(OsCall::SendMessage, ETOOMANYREFS);
    {
        TestClient opened = client();
        opened.open(shared_.token);
        ASSERT_TRUE(eventually([this] { return faults_.faults() > 0; }));
    }
    EXPECT_TRUE(eventually([this] { return backend_.reclaims() == 1; }));
    EXPECT_TRUE(isCalm(OsCall::EpollWait));
}

TEST_F(ServerStressTest, MemoryShortageEndsTheConversationNotTheProcess) {
    start();
    shared_.backings[1]->throws = true;
    TestClient unlucky = client();
    unlucky.open(shared_.token);
    EXPECT_FALSE(unlucky.receive());

    shared_.backings[1]->throws = false;
    client().expectOpens(shared_.token, 3);
}

TEST_F(ServerStressTest, AFailureToWaitIsSurvived) {
    start();
    faults_.failKindAt(OsCall::EpollWait, 1, ENOMEM);
    client().expectOpens(shared_.token, 3);
    client().expectOpens(shared_.token, 3);
}

TEST_F(ServerStressTest, ALastingFailureToWaitNeitherSpinsNorKeepsTheServerFromEnding) {
    start();
    faults_.failKind(OsCall::EpollWait, EBADF);
    TestClient waiting = client(); // wakes the wait that has begun before
    ASSERT_TRUE(eventually([this] { return faults_.faults() > 0; }));

    EXPECT_TRUE(isCalm(OsCall::EpollWait));
    server_.reset();
    EXPECT_FALSE(waiting.receive());
}

/// Who needs memory now does not wait for the server's thread to look.
TEST_F(ServerStressTest, WhoHasHungUpCanBeDroppedAtOnce) {
    start();
    std::optional<TestClient> opened = client();
    opened->expectOpens(shared_.token, 3);
    TestClient other = client();
    other.expectOpens(shared_.token, 3);
    faults_.failKind(OsCall::EpollWait, ENOMEM); // from its next wait on the thread sees nothing
    const TestClient waking = client();          // ends the one that has begun
    ASSERT_TRUE(eventually([&] { return faults_.faults() > 0; }));
    opened.reset();

    server_->dropFinished();

    EXPECT_EQ(backend_.reclaims(), 1U);
    faults_.heal();
    other.expectFetches(1, 1);
}

TEST_F(ServerStressTest, APeerWithoutCredentialsIsDropped) {
    start();
    faults_.failKindAt(OsCall::PeerCredentials, 1, ENOTCONN);

    EXPECT_FALSE(client().receive());
    client().expectOpens(shared_.token, 3);
}

TEST_F(ServerStressTest, AConnectionThatCannotBeWatchedIsDropped) {
    start();
    faults_.failKindAt(OsCall::EpollControl, 1, ENOSPC);

    EXPECT_FALSE(client().receive());
    client().expectOpens(shared_.token, 3);
}

/// A child of clone(2), whose fork handlers did not run.
TEST_F(ServerStressTest, ASocketThatAChildInheritedDoesNotMakeTheServerSpin_Forks) {
    start();
    std::optional<TestClient> garbler = client();
    client().expectOpens(shared_.token, 3); // so that the one before is accepted by now
    ASSERT_TRUE(eventually([this] { return backend_.reclaims() == 1; }));
    const fakes::ForkedChild child(
        [&](const fakes::ForkedChild::Side &side) {
            ::close(garbler->fd());
            side.ready();
            side.waitForNext();
            return 0;
        },
        fakes::ForkHandlers::Skipped);
    child.waitUntilReady();
    garbler->send(std::array<std::byte, 5>{});
    EXPECT_EQ(garbler->receive()->header.status, wire::ReplyStatus::BadRequest);

    garbler.reset(); // hangs up on the child's copy of the server's end

    EXPECT_TRUE(isCalm(OsCall::EpollWait));
    client().expectOpens(shared_.token, 3);
}

/// Nobody but the kernel can tell a listener that a child holds from one that answers.
TEST_F(ServerStressTest, AForkedChildHoldsNoSocketOfTheServer_Forks) {
    start();
    TestClient asked = client();
    asked.expectOpens(shared_.token, 3);
    std::optional<TestClient> silent = client();
    client().expectOpens(shared_.token, 3); // so that the one before is accepted by now
    const fakes::ForkedChild child([&](const fakes::ForkedChild::Side &side) {
        side.ready();
        side.waitForNext();
        return 0;
    });
    child.waitUntilReady();
    asked.expectFetches(1, 1); // the fork has disturbed nothing

    server_.reset();

    EXPECT_TRUE(readableWithin(asked.fd(), patienceOfTests)) << "the connection has no end";
    EXPECT_TRUE(readableWithin(silent->fd(), patienceOfTests)) << "the connection has no end";
    EXPECT_EQ(linuxOs().connectAbstract(serverName(id_), patienceOfTests).error().value,
              ECONNREFUSED);
}

/// Forks at any moment of a server at work.
TEST_F(ServerStressTest, ForksWhileItServes_Forks) {
    start();
    std::atomic<bool> done = false;
    std::jthread importer([&] {
        while (!done) {
            client().expectOpens(shared_.token, 3);
        }
    });
    for (int i = 0; i < 50; ++i) {
        fakes::ForkedChild child([](const fakes::ForkedChild::Side &) { return 0; });
        EXPECT_EQ(child.wait(), 0);
    }
    done = true;
}

} // namespace
} // namespace causeway::ipc
