#include "source/ipc/server.h"

#include "unit_tests/source/ipc/server_fixture.h"

#include <cerrno>

namespace causeway::ipc {
namespace {

using std::chrono::milliseconds;

class ServerTest : public ServerFixture {};

TEST_F(ServerTest, HasNoIdAndNoThreadBeforeTheFirstExport) {
    make();

    EXPECT_EQ(server_->id(), 0U);
    EXPECT_EQ(faults_.calls(), 0U);
}

TEST_F(ServerTest, StartsOnce) {
    start();

    EXPECT_NE(id_, 0U);
    EXPECT_EQ(must(server_->start()).id, id_);
    EXPECT_EQ(server_->id(), id_);
    EXPECT_EQ(faults_.calls(fakes::OsCall::StartThread), 1U);
}

TEST_F(ServerTest, ThreadsThatStartItAtOnceGetOne) {
    make();
    std::vector<std::thread> threads;
    std::array<uint64_t, 4> ids = {};
    for (uint64_t &id : ids) {
        threads.emplace_back([&] { id = must(server_->start()).id; });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_NE(ids[0], 0U);
    EXPECT_EQ(ids, (std::array<uint64_t, 4>{ids[0], ids[0], ids[0], ids[0]}));
}

TEST_F(ServerTest, AStartThatFailsAtAnyCallLeavesNothingAndALaterOneSucceeds) {
    // getrandom, listen, socketpair, bind, epoll_create1, eventfd, three epoll_ctl, the thread.
    constexpr uint64_t calls = 10;
    for (uint64_t k = 1; k <= calls; ++k) {
        make();
        faults_.failAt(k, EMFILE);
        EXPECT_TRUE(failsWith(server_->start(), Status::OutOfHostMemory)) << k;
        EXPECT_EQ(server_->id(), 0U);
        EXPECT_EQ(leftByServer(), "") << k;

        id_ = must(server_->start()).id;
        client().expectOpens(shared_.token, 3);
        server_.reset();
    }
}

TEST_F(ServerTest, ATakenNameMakesItTakeAnother) {
    make();
    faults_.failKindAt(fakes::OsCall::ListenAbstract, 1, EADDRINUSE);

    id_ = must(server_->start()).id;

    client().expectOpens(shared_.token, 3);
}

TEST_F(ServerTest, ManyTakenNamesAreAnError) {
    make();
    faults_.failKind(fakes::OsCall::ListenAbstract, EADDRINUSE);

    EXPECT_TRUE(failsWith(server_->start(), Status::Unknown, "listening"));
    EXPECT_EQ(faults_.calls(fakes::OsCall::ListenAbstract), 5U);
    EXPECT_EQ(leftByServer(), "");
}

TEST_F(ServerTest, ServesSeveralClientsAtOnce) {
    start();
    TestClient first = client();
    TestClient second = client();
    second.open(shared_.token, 1);
    first.open(shared_.token, 2);

    EXPECT_EQ(first.receive()->fds.size(), 2U);
    EXPECT_EQ(second.receive()->fds.size(), 1U);
    second.fetch(1, 2);
    EXPECT_EQ(second.receive()->fds.size(), 2U);
}

TEST_F(ServerTest, AnUnknownTokenIsAnsweredAndTheConversationEnded) {
    start();
    TestClient stranger = client();
    stranger.open(wire::Token{1, 2, 3});

    EXPECT_EQ(stranger.receive()->header.status, wire::ReplyStatus::UnknownToken);
    EXPECT_FALSE(stranger.receive());
}

TEST_F(ServerTest, GarbageIsAnsweredAndTheConversationEnded) {
    start();
    TestClient garbler = client();
    garbler.send(std::array<std::byte, 5>{});

    EXPECT_EQ(garbler.receive()->header.status, wire::ReplyStatus::BadRequest);
    EXPECT_FALSE(garbler.receive());
}

TEST_F(ServerTest, AnotherVersionIsAnsweredAndTheConversationEnded) {
    start();
    auto bytes = wire::encodeRequest({.count = 1});
    bytes[4] = std::byte{wire::messageVersion + 1};
    TestClient later = client();
    later.send(bytes);

    EXPECT_EQ(later.receive()->header.status, wire::ReplyStatus::UnsupportedVersion);
    EXPECT_FALSE(later.receive());
}

TEST_F(ServerTest, ASilentClientIsDroppedWhenItsPatienceEnds) {
    start(milliseconds(50));

    EXPECT_FALSE(client().receive());
}

TEST_F(ServerTest, SilentClientsAreDroppedAtTheirDeadlineAndDelayNobody) {
    constexpr milliseconds patience = std::chrono::minutes(1);
    start(patience);
    TestClient silent = client();
    TestClient opened = client();
    opened.expectOpens(shared_.token, 3);

    os_.aheadMs = patience.count();
    client().expectOpens(shared_.token, 3); // wakes the server, whose clock has moved on

    EXPECT_FALSE(silent.receive());
    EXPECT_FALSE(opened.receive());
}

TEST_F(ServerTest, ReclaimsOnceAClientThatOpenedSomethingIsGone) {
    start();
    {
        TestClient stranger = client();
        stranger.open(wire::Token{1});
        EXPECT_TRUE(stranger.receive());
        EXPECT_FALSE(stranger.receive());
    }
    EXPECT_EQ(backend_.reclaims(), 0U);

    client().expectOpens(shared_.token, 3);
    EXPECT_TRUE(eventually([this] { return backend_.reclaims() == 1; }));
}

TEST_F(ServerTest, EndsWithConversationsOpen) {
    start();
    TestClient idle = client();
    TestClient opened = client();
    opened.expectOpens(shared_.token, 3);

    server_.reset();

    EXPECT_FALSE(idle.receive());
    EXPECT_FALSE(opened.receive());
}

TEST_F(ServerTest, AnotherUsersProcessIsNotServed) {
    os_.user = linuxOs().userId() + 1;
    start();

    EXPECT_FALSE(client().receive());
    EXPECT_FALSE(client().receive());
}

TEST_F(ServerTest, TrustsItsOwnUserButNotTheOverflowUser) {
    constexpr uid_t overflow = 65534;
    const uid_t own = os_.userId();
    EXPECT_TRUE(isTrustedPeer(os_, {.pid = 1, .uid = own}));
    EXPECT_FALSE(isTrustedPeer(os_, {.pid = 1, .uid = own + 1}));
    os_.user = overflow;
    EXPECT_FALSE(isTrustedPeer(os_, {.pid = 1, .uid = overflow}));
}

} // namespace
} // namespace causeway::ipc
