#include "examples/range_demo/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

namespace range_demo {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longestWait(60);

[[noreturn]] void throwErrno(const char *what) {
    throw std::system_error(errno, std::generic_category(), what);
}

void awaitPeer(int fd, short events) {
    if (!waitFor(fd, events)) {
        throw std::runtime_error("no answer from the other process");
    }
}

} // namespace

void Descriptor::reset() {
    if (fd_ >= 0) {
        close(std::exchange(fd_, -1));
    }
}

bool waitFor(int fd, short events) {
    const auto deadline = Clock::now() + longestWait;
    pollfd waited = {.fd = fd, .events = events, .revents = 0};
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        const int ready = poll(&waited, 1, left > 0 ? static_cast<int>(left) : 0);
        if (ready >= 0) {
            return ready > 0;
        }
        if (errno != EINTR) {
            throwErrno("poll");
        }
    }
}

// Messages are shorter than PIPE_BUF, which poll promises room for.
void Channel::write(std::span<const std::byte> bytes) {
    awaitPeer(out_.get(), POLLOUT);
    const ssize_t written = ::write(out_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EPIPE) {
        throw PeerGone("the other process has ended");
    }
    if (written != static_cast<ssize_t>(bytes.size())) {
        throwErrno("write to the other process");
    }
}

void Channel::read(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        awaitPeer(in_.get(), POLLIN);
        const ssize_t got = ::read(in_.get(), bytes.data(), bytes.size());
        if (got < 0) {
            throwErrno("read from the other process");
        }
        if (got == 0) {
            throw PeerGone("the other process has ended");
        }
        bytes = bytes.subspan(static_cast<size_t>(got));
    }
}

Pipe makePipe() {
    std::array<int, 2> ends = {};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throwErrno("pipe2");
    }
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

} // namespace range_demo
