#include "shared/base/unique_fd.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <type_traits>
#include <utility>

namespace causeway {
namespace {

static_assert(!std::is_copy_constructible_v<UniqueFd>);
static_assert(!std::is_copy_assignable_v<UniqueFd>);
static_assert(std::is_nothrow_move_constructible_v<UniqueFd>);
static_assert(std::is_nothrow_move_assignable_v<UniqueFd>);
static_assert(!std::is_convertible_v<int, UniqueFd>, "ownership is taken by name");

int openNull() {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_GE(fd, 0);
    return fd;
}

bool isOpen(int fd) {
    return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(UniqueFdTest, DefaultOwnsNothing) {
    const UniqueFd fd;
    EXPECT_FALSE(fd.valid());
    EXPECT_EQ(fd.get(), -1);
}

TEST(UniqueFdTest, ZeroIsAValidNumber) {
    UniqueFd fd(0);
    EXPECT_TRUE(fd.valid());
    EXPECT_EQ(fd.release(), 0);
}

TEST(UniqueFdTest, DestructorCloses) {
    int number = -1;
    {
        const UniqueFd fd(openNull());
        number = fd.get();
        EXPECT_TRUE(isOpen(number));
    }
    EXPECT_FALSE(isOpen(number));
}

TEST(UniqueFdTest, ReleaseGivesUpWithoutClosing) {
    UniqueFd fd(openNull());
    const int number = fd.release();
    EXPECT_FALSE(fd.valid());
    EXPECT_TRUE(isOpen(number));
    ::close(number);
}

TEST(UniqueFdTest, ResetClosesOnce) {
    UniqueFd fd(openNull());
    const int number = fd.get();
    fd.reset();
    EXPECT_FALSE(fd.valid());
    EXPECT_FALSE(isOpen(number));

    // The lowest free number is given out again: a second close would hit this file.
    const UniqueFd other(openNull());
    ASSERT_EQ(other.get(), number);
    fd.reset();
    EXPECT_TRUE(isOpen(other.get()));
}

TEST(UniqueFdTest, MoveConstructionPassesOwnership) {
    UniqueFd from(openNull());
    const int number = from.get();
    const UniqueFd to(std::move(from));
    EXPECT_EQ(to.get(), number);
    EXPECT_FALSE(from.valid()); // NOLINT(bugprone-use-after-move): that it is empty is the test
    EXPECT_TRUE(isOpen(number));
}

TEST(UniqueFdTest, MoveAssignmentClosesWhatItReplaces) {
    UniqueFd from(openNull());
    UniqueFd to(openNull());
    const int kept = from.get();
    const int replaced = to.get();
    to = std::move(from);
    EXPECT_EQ(to.get(), kept);
    EXPECT_FALSE(from.valid()); // NOLINT(bugprone-use-after-move): that it is empty is the test
    EXPECT_TRUE(isOpen(kept));
    EXPECT_FALSE(isOpen(replaced));
}

TEST(UniqueFdTest, SelfMoveKeepsTheFileOpen) {
    UniqueFd fd(openNull());
    UniqueFd &same = fd; // a name of its own: compilers warn of the literal self-move
    fd = std::move(same);
    EXPECT_TRUE(fd.valid());
    EXPECT_TRUE(isOpen(fd.get()));
}

TEST(UniqueFdTest, ClosingKeepsErrno) {
    const int stale = openNull();
    ::close(stale);
    UniqueFd fd(stale); // its close fails with EBADF
    errno = ENOENT;
    fd.reset();
    EXPECT_EQ(errno, ENOENT);
}

} // namespace
} // namespace causeway
