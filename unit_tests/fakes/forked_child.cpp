#include "unit_tests/fakes/forked_child.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace causeway::fakes {
namespace {

std::pair<UniqueFd, UniqueFd> makePipe() {
    std::array<int, 2> ends = {-1, -1};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

bool sendByte(int fd) {
    const char byte = 1;
    return ::write(fd, &byte, 1) == 1;
}

bool receiveByte(int fd) {
    char byte = 0;
    return ::read(fd, &byte, 1) == 1;
}

} // namespace

void ForkedChild::Side::ready() const {
    if (!sendByte(ready_)) {
        ::_exit(101);
    }
}

void ForkedChild::Side::waitForNext() const {
    static_cast<void>(receiveByte(next_)); // nothing to read: the parent let go
}

ForkedChild::ForkedChild(const std::function<int(const Side &)> &body, ForkHandlers handlers) {
    auto [readyHere, readyThere] = makePipe();
    auto [nextThere, nextHere] = makePipe();
    pid_ = handlers == ForkHandlers::Run ? ::fork() : ::_Fork();
    EXPECT_GE(pid_, 0);
    if (pid_ == 0) {
        nextHere.reset(); // else it would never notice that the parent let go
        readyHere.reset();
        ::_exit(body(Side(readyThere.get(), nextThere.get())));
    }
    ready_ = std::move(readyHere);
    next_ = std::move(nextHere);
}

ForkedChild::~ForkedChild() {
    if (pid_ > 0) {
        kill();
        static_cast<void>(wait());
    }
}

void ForkedChild::waitUntilReady() const {
    ASSERT_TRUE(receiveByte(ready_.get())) << "the child is gone";
}

void ForkedChild::next() const {
    ASSERT_TRUE(sendByte(next_.get()));
}

void ForkedChild::kill() const {
    ::kill(pid_, SIGKILL);
}

int ForkedChild::wait() {
    int status = 0;
    EXPECT_EQ(::waitpid(std::exchange(pid_, -1), &status, 0) > 0, true);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace causeway::fakes
