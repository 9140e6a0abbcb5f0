#include "source/ipc/ways.h"

#include "source/ipc/rendezvous.h"
#include "unit_tests/fakes/temporary_folder.h"
#include "unit_tests/source/ipc/server_fixture.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

/// Each way to a server while the others are impossible, and what is believed on it.
namespace causeway::ipc {
namespace {

using fakes::OsCall;
namespace fs = std::filesystem;

class WaysTest : public ServerFixture {
  protected:
    ~WaysTest() override { server_.reset(); }

    void startWithFolder() {
        config_.folder = root_;
        startServer();
    }

    void startServer() {
        config_.timeout = patienceOfTests;
        make();
        const auto identity = must(server_->start());
        handle_.serverId = identity.id;
        handle_.rendezvousFd = identity.rendezvousFd;
        handle_.pid = ::getpid();
    }

    [[nodiscard]] Result<Conversation> connectBy(size_t way) {
        return waysToExporters()[way].connect(importer_, handle_, config_);
    }

    void expectServes(Result<Conversation> conversation) {
        ASSERT_TRUE(succeeds(conversation));
        must(conversation->send({.type = wire::RequestType::Open,
                                 .token = shared_.token,
                                 .first = 0,
                                 .count = wire::maxFdsPerMessage}));
        const auto answer = must(conversation->receive());
        EXPECT_EQ(answer.fds.size(), 3U);
    }

    [[nodiscard]] size_t socketFiles() const {
        size_t count = 0;
        for (const auto &entry : fs::recursive_directory_iterator(root_)) {
            count += entry.is_socket() ? 1 : 0;
        }
        return count;
    }

    static constexpr size_t byName = 0;
    static constexpr size_t byFolder = 1;
    static constexpr size_t byProcess = 2;

    fakes::FaultyOs importer_{linuxOs()};
    wire::IpcHandle handle_;
    const fakes::TemporaryFolder temporary_;
    const fs::path root_ = temporary_.path();
};

TEST_F(WaysTest, EachLeadsToTheServer) {
    startWithFolder();
    for (const size_t way : {byName, byFolder, byProcess}) {
        EXPECT_TRUE(waysToExporters()[way].applies(handle_, config_));
        expectServes(connectBy(way));
    }
}

TEST_F(WaysTest, WhatIsNotThereIsNotTried) {
    startServer();
    EXPECT_FALSE(waysToExporters()[byFolder].applies(handle_, config_)) << "no CAUSEWAY_IPC_DIR";
    handle_.rendezvousFd = -1;
    EXPECT_FALSE(waysToExporters()[byProcess].applies(handle_, config_));
    handle_.rendezvousFd = 3;
    handle_.pid = 0;
    EXPECT_FALSE(waysToExporters()[byProcess].applies(handle_, config_));
}

TEST_F(WaysTest, TheSocketFileGoesWithTheServer) {
    startWithFolder();
    EXPECT_EQ(socketFiles(), 1U);
    server_.reset();
    EXPECT_EQ(socketFiles(), 0U);
}

TEST_F(WaysTest, AFolderThatCannotBeUsedLeavesTheOtherWays) {
    config_.folder = root_ / "missing";
    startServer();
    expectServes(connectBy(byName));
    EXPECT_TRUE(failsWith(connectBy(byFolder), Status::InvalidArgument, "missing"));
}

TEST_F(WaysTest, AStartWithAFolderThatFailsAtAnyCallLeavesNothing) {
    startWithFolder();
    const uint64_t calls = faults_.calls();
    server_.reset();
    for (uint64_t k = 1; k <= calls; ++k) {
        make();
        faults_.failAt(k, EMFILE);
        if (server_->start()) { // some only cost the folder
            server_.reset();
        }
        EXPECT_EQ(socketFiles(), 0U) << k;
        EXPECT_EQ(leftByServer(), "") << k;
    }
}

TEST_F(WaysTest, AnotherProcessesDescriptorIsNeverTakenForTheRendezvous) {
    startServer();
    std::array<int, 2> ends = {};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    const UniqueFd unnamed(ends[0]);
    const UniqueFd other(ends[1]);
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const UniqueFd listener =
        std::move(linuxOs().listenAbstract(fmt::format("causeway-test-{}", ::getpid()), 1).value());
    const Rendezvous anothers = must(makeRendezvous(linuxOs(), handle_.serverId + 1));
    for (const UniqueFd *fd : {&unnamed, &null, &listener, &anothers.kept}) {
        handle_.rendezvousFd = fd->get();
        EXPECT_TRUE(failsWith(connectBy(byProcess), Status::InvalidArgument, "another one here"));
    }
    EXPECT_EQ(linuxOs().poll({}, std::chrono::milliseconds(0)).value_or(-1), 0);
    handle_.rendezvousFd = 1'000'000;
    EXPECT_TRUE(failsWith(connectBy(byProcess), Status::InvalidArgument, "pidfd_getfd"));
}

TEST_F(WaysTest, ARefusedProcessIsAPermission) {
    startServer();
    importer_.failKindAt(OsCall::FetchDescriptor, 1, EPERM);
    EXPECT_TRUE(failsWith(connectBy(byProcess), Status::InsufficientPermissions, "pidfd_getfd"));
    importer_.failKindAt(OsCall::OpenProcess, 1, ENOSYS);
    EXPECT_TRUE(failsWith(connectBy(byProcess), Status::UnsupportedFeature, "pidfd_open"));
}

TEST_F(WaysTest, AServerOfAnotherUserIsRefusedOnEachWay) {
    class StrangersOs final : public fakes::ForwardingOs {
      public:
        using ForwardingOs::ForwardingOs;

        OsResult<PeerCredentials> peerCredentials(int fd) override {
            auto real = os_.peerCredentials(fd);
            if (real) {
                ++real->uid;
            }
            return real;
        }
    };

    startWithFolder();
    StrangersOs stranger(importer_);
    for (const Way &way : waysToExporters()) {
        EXPECT_TRUE(failsWith(way.connect(stranger, handle_, config_),
                              Status::InsufficientPermissions,
                              "served by user"))
            << way.name;
    }
}

TEST_F(WaysTest, GarbageAtTheRendezvousHarmsNobody) {
    startServer();
    const UniqueFd kept = std::move(linuxOs().duplicate(handle_.rendezvousFd).value());
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const std::array<int, 1> noSocket = {null.get()};
    const std::array<int, 3> three = {null.get(), null.get(), null.get()};
    const std::array<std::byte, 100> bytes = {};
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(linuxOs().sendMessage(kept.get(), bytes, {}));
        ASSERT_TRUE(linuxOs().sendMessage(kept.get(), bytes, noSocket));
        ASSERT_TRUE(linuxOs().sendMessage(kept.get(), bytes, three));
        ASSERT_TRUE(linuxOs().sendMessage(kept.get(), {}, noSocket));
    }
    expectServes(connectBy(byProcess));
    expectServes(connectBy(byName));
}

TEST_F(WaysTest, ARendezvousThatSomebodyShutsDownIsTheOnlyWayLost) {
    startServer();
    ASSERT_EQ(::shutdown(handle_.rendezvousFd, SHUT_RDWR), 0);
    ASSERT_TRUE(eventually([&] { return !connectBy(byProcess); }));
    expectServes(connectBy(byName));
    const uint64_t waits = faults_.calls(OsCall::EpollWait);
    expectServes(connectBy(byName));
    EXPECT_LT(faults_.calls(OsCall::EpollWait) - waits, 100U) << "the server spins";
}

TEST_F(WaysTest, AFullRendezvousIsAnExporterThatDoesNotAnswer) {
    startServer();
    importer_.failKindAt(OsCall::SendMessage, 1, EAGAIN);
    EXPECT_TRUE(failsWith(connectBy(byProcess), Status::NotAvailable));
}

TEST(FailedWaysTest, OnlyPermissionsAreAPermission) {
    const Error refused = {.status = Status::InsufficientPermissions, .message = "refused"};
    const Error absent = {.status = Status::InvalidArgument, .message = "absent"};
    FailedWays failed;
    failed.add("first", refused, false);
    EXPECT_EQ(failed.verdict().status, Status::InsufficientPermissions);
    failed.add("second", absent, false);
    EXPECT_EQ(failed.verdict().status, Status::InvalidArgument);
    EXPECT_NE(failed.verdict().message.find("first: refused; second: absent"), std::string::npos);
}

TEST(FailedWaysTest, WhatAServerSaidTellsMost) {
    FailedWays failed;
    failed.add("first", {.status = Status::InvalidArgument, .message = "not shared"}, true);
    EXPECT_TRUE(failed.mayGoOn());
    failed.add("second", {.status = Status::InsufficientPermissions, .message = "refused"}, false);
    EXPECT_EQ(failed.verdict().status, Status::InvalidArgument);
    EXPECT_EQ(failed.verdict().message, "not shared");
}

TEST(FailedWaysTest, AStoppedExporterAndAShortageEndTheSearch) {
    for (const Status status :
         {Status::NotAvailable, Status::OutOfHostMemory, Status::UnsupportedVersion}) {
        FailedWays failed;
        failed.add("first", {.status = status, .message = "why"}, false);
        EXPECT_FALSE(failed.mayGoOn());
        EXPECT_EQ(failed.verdict().status, status);
    }
}

} // namespace
} // namespace causeway::ipc
