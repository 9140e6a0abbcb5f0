#include "source/ipc/socket_folder.h"

#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/fakes/temporary_folder.h"
#include "unit_tests/source/ipc/test_client.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace causeway::ipc {
namespace {

using fakes::OsCall;
namespace fs = std::filesystem;

constexpr uint64_t id = 0x0123456789abcdef;
constexpr int backlog = 4;

/// A user of his own, for whom nothing in the folder is made by him.
class StrangersOs final : public fakes::ForwardingOs {
  public:
    using ForwardingOs::ForwardingOs;

    uid_t userId() override { return os_.userId() + 1; }
};

class SocketFolderTest : public fakes::ResourceCheckedTest {
  protected:
    [[nodiscard]] SocketFolder make() { return must(SocketFolder::make(os_, root_)); }

    [[nodiscard]] size_t files() const {
        return static_cast<size_t>(
            std::distance(fs::directory_iterator(ours_), fs::directory_iterator()));
    }

    /// What a process that was killed leaves.
    void leaveDeadSocket(const std::string &name) {
        const UniqueFd folder = std::move(os_.openFolder(ours_).value());
        const UniqueFd socket = std::move(os_.listenAt(folder.get(), name, backlog).value());
    }

    fakes::FaultyOs os_{linuxOs()};
    const fakes::TemporaryFolder temporary_;
    fs::path root_ = temporary_.path();
    fs::path ours_ = root_ / std::to_string(::geteuid());
};

TEST_F(SocketFolderTest, IsForItsUserAlone) {
    const SocketFolder folder = make();

    struct stat status = {};
    ASSERT_EQ(::stat(ours_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0700U);
    EXPECT_TRUE(succeeds(SocketFolder::make(os_, root_))) << "a second time";
}

TEST_F(SocketFolderTest, ALongPathIsNoObstacle) {
    root_ /= std::string(200, 'x');
    ours_ = root_ / std::to_string(::geteuid());
    fs::create_directory(root_);
    SocketFolder folder = make();

    const UniqueFd listener = must(folder.listen(id, backlog));

    EXPECT_TRUE(folder.connect(id, patienceOfTests));
}

TEST_F(SocketFolderTest, AServerIsFoundByItsId) {
    SocketFolder folder = make();
    const UniqueFd listener = must(folder.listen(id, backlog));
    SocketFolder other = must(SocketFolder::find(os_, root_));

    const auto socket = other.connect(id, patienceOfTests);

    ASSERT_TRUE(socket);
    EXPECT_EQ(os_.peerCredentials(socket->get())->uid, ::geteuid());
    EXPECT_EQ(other.connect(id + 1, patienceOfTests).error().value, ENOENT);
    EXPECT_EQ(files(), 1U) << "no other name is left";
    folder.remove(id);
    EXPECT_EQ(files(), 0U);
}

TEST_F(SocketFolderTest, WhatOthersCanWriteIsRefused) {
    fs::create_directory(ours_);
    for (const mode_t mode : {0770U, 0707U, 0755U}) {
        ::chmod(ours_.c_str(), mode);
        EXPECT_TRUE(
            failsWith(SocketFolder::find(os_, root_), Status::InvalidArgument, "ours alone"));
        EXPECT_TRUE(
            failsWith(SocketFolder::make(os_, root_), Status::InvalidArgument, "ours alone"));
    }
}

TEST_F(SocketFolderTest, AFolderOfSomebodyElseIsRefused) {
    StrangersOs stranger(os_);
    const fs::path theirs = root_ / std::to_string(stranger.userId());
    fs::create_directory(theirs); // by this user, so that it is not the stranger's
    ::chmod(theirs.c_str(), 0700);

    EXPECT_TRUE(
        failsWith(SocketFolder::make(stranger, root_), Status::InvalidArgument, "belongs to"));
}

TEST_F(SocketFolderTest, ALinkOrAFileInItsPlaceIsRefused) {
    const fs::path elsewhere = root_ / "elsewhere";
    fs::create_directory(elsewhere);
    ::chmod(elsewhere.c_str(), 0700);
    fs::create_symlink(elsewhere, ours_);
    EXPECT_FALSE(succeeds(SocketFolder::make(os_, root_)));

    fs::remove(ours_);
    std::ofstream(ours_) << "a file";
    EXPECT_FALSE(succeeds(SocketFolder::make(os_, root_)));
    EXPECT_TRUE(fs::is_regular_file(ours_));
}

TEST_F(SocketFolderTest, WithoutTheRootThereIsNone) {
    EXPECT_TRUE(failsWith(SocketFolder::make(os_, root_ / "missing"), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(SocketFolder::find(os_, root_), Status::InvalidArgument));
}

TEST_F(SocketFolderTest, DeadSocketsGoAndTheLivingStay) {
    SocketFolder folder = make();
    const UniqueFd listener = must(folder.listen(id, backlog));
    leaveDeadSocket("00000000000000aa");
    leaveDeadSocket("00000000000000bb.new");
    ASSERT_EQ(files(), 3U);

    folder.removeDead();

    EXPECT_EQ(files(), 1U);
    EXPECT_TRUE(folder.connect(id, patienceOfTests));
}

TEST_F(SocketFolderTest, AServerWithAFullQueueIsNotDead) {
    SocketFolder folder = make();
    const UniqueFd listener = must(folder.listen(id, 1));
    std::vector<UniqueFd> waiting; // nobody accepts
    for (int i = 0; i < 16; ++i) {
        auto socket = folder.connect(id, std::chrono::milliseconds(1));
        if (!socket) {
            break;
        }
        waiting.push_back(std::move(*socket));
    }
    ASSERT_LT(waiting.size(), 16U);

    folder.removeDead();

    EXPECT_EQ(files(), 1U);
}

TEST_F(SocketFolderTest, ForeignFilesAreNeitherRemovedNorConnectedTo) {
    SocketFolder folder = make();
    std::ofstream(ours_ / "00000000000000aa") << "no socket";
    fs::create_symlink("/dev/null", ours_ / "00000000000000bb");
    leaveDeadSocket("somebody-elses-name");

    folder.removeDead();

    EXPECT_EQ(files(), 3U);
    EXPECT_EQ(folder.connect(0xaa, patienceOfTests).error().value, ECONNREFUSED);
}

TEST_F(SocketFolderTest, DeadSocketsOfAnotherUserStay) {
    SocketFolder folder = make();
    leaveDeadSocket("00000000000000aa");
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can give a file away";
    }
    ASSERT_EQ(::lchown((ours_ / "00000000000000aa").c_str(), 12345, 12345), 0);

    folder.removeDead();

    EXPECT_EQ(files(), 1U);
}

/// Another process that starts tidies up between the bind and the listen.
TEST_F(SocketFolderTest, AnEarlyNameThatATidierTakesAwayIsMadeAnew) {
    class TidiedOs final : public fakes::ForwardingOs {
      public:
        using ForwardingOs::ForwardingOs;

        OsResult<void> renameAt(int folder,
                                const std::string &from,
                                const std::string &to) override {
            if (tidyings > 0) {
                --tidyings;
                EXPECT_TRUE(os_.removeFileAt(folder, from));
            }
            return os_.renameAt(folder, from, to);
        }

        int tidyings = 0;
    };

    TidiedOs os(os_);
    SocketFolder folder = must(SocketFolder::make(os, root_));
    os.tidyings = 2;
    const UniqueFd listener = must(folder.listen(id, backlog));
    EXPECT_TRUE(folder.connect(id, patienceOfTests));
    folder.remove(id);

    os.tidyings = 3;
    EXPECT_TRUE(failsWith(folder.listen(id, backlog), Status::InvalidArgument, "listening"));
    EXPECT_EQ(files(), 0U);
}

TEST_F(SocketFolderTest, AListenThatFailsAtAnyCallLeavesNothing) {
    SocketFolder folder = make();
    for (const OsCall call : {OsCall::ListenAt, OsCall::RenameAt}) {
        os_.failKindAt(call, 1, EACCES);
        EXPECT_TRUE(failsWith(folder.listen(id, backlog), Status::InsufficientPermissions));
        EXPECT_EQ(files(), 0U);
        const UniqueFd listener = must(folder.listen(id, backlog));
        folder.remove(id);
    }
}

TEST_F(SocketFolderTest, TidyingIsBounded) {
    SocketFolder folder = make();
    for (int i = 0; i < 300; ++i) {
        leaveDeadSocket(fmt::format("{:016x}", i));
    }
    const uint64_t before = os_.calls(OsCall::ConnectAt);
    folder.removeDead();
    EXPECT_EQ(os_.calls(OsCall::ConnectAt) - before, 256U);
    folder.removeDead();
    EXPECT_EQ(files(), 0U);
}

} // namespace
} // namespace causeway::ipc
