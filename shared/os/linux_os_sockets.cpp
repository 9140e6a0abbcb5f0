#include "shared/os/linux_os.h"
#include "shared/os/retry.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cstring>

namespace causeway {
namespace {

constexpr size_t maxFdsPerMessage = 253; // SCM_MAX_FD

// Not in the headers of Linux 6.4 and earlier.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

struct SocketAddress {
    sockaddr_un address = {};
    socklen_t length = 0;
};

const sockaddr *generic(const SocketAddress &address) {
    return reinterpret_cast<const sockaddr *>(&address.address);
}

/// `path` as the kernel sees it: a first byte of 0 makes the name abstract.
OsResult<SocketAddress> socketAddress(std::string_view path) {
    SocketAddress result;
    if (path.size() >= sizeof(result.address.sun_path)) {
        return std::unexpected(Errno{ENAMETOOLONG});
    }
    result.address.sun_family = AF_UNIX;
    std::memcpy(result.address.sun_path, path.data(), path.size());
    // Without the terminator, which would belong to an abstract name.
    result.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    return result;
}

/// No file, and gone with its socket.
OsResult<SocketAddress> abstractAddress(const std::string &name) {
    return socketAddress(std::string(1, '\0') + name);
}

OsResult<SocketAddress> addressIn(int folder, const std::string &name) {
    return socketAddress(fmt::format("/proc/self/fd/{}/{}", folder, name));
}

OsResult<UniqueFd> listenOn(const OsResult<SocketAddress> &address, int backlog) {
    if (!address) {
        return std::unexpected(address.error());
    }
    auto fd =
        retryFd([] { return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); });
    if (!fd) {
        return fd;
    }
    auto done = retryVoid([&] { return ::bind(fd->get(), generic(*address), address->length); });
    if (done) {
        done = retryVoid([&] { return ::listen(fd->get(), backlog); });
    }
    if (!done) {
        return std::unexpected(done.error());
    }
    return fd;
}

OsResult<UniqueFd> connectTo(const OsResult<SocketAddress> &address,
                             std::chrono::milliseconds timeout) {
    using Clock = std::chrono::steady_clock;
    if (!address) {
        return std::unexpected(address.error());
    }
    auto fd = retryFd([] { return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0); });
    if (!fd) {
        return fd;
    }
    const auto deadline = Clock::now() + timeout;
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now()).count();
        if (left <= 0) {
            return std::unexpected(Errno{ETIMEDOUT});
        }
        const timeval limit = {.tv_sec = left / 1'000'000, .tv_usec = left % 1'000'000};
        if (::setsockopt(fd->get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) != 0) {
            return std::unexpected(Errno{errno});
        }
        if (::connect(fd->get(), generic(*address), address->length) == 0) {
            break;
        }
        if (errno != EINTR) {
            return std::unexpected(Errno{errno == EAGAIN ? ETIMEDOUT : errno});
        }
    }
    if (::fcntl(fd->get(), F_SETFL, O_NONBLOCK) != 0) {
        return std::unexpected(Errno{errno});
    }
    return fd;
}

/// Control-message space for as many descriptors as one message can carry.
struct alignas(cmsghdr) ControlBuffer {
    std::array<char, CMSG_SPACE(maxFdsPerMessage * sizeof(int))> bytes;
};

void collectFds(msghdr &header, std::vector<UniqueFd> &fds) {
    for (cmsghdr *control = CMSG_FIRSTHDR(&header); control != nullptr;
         control = CMSG_NXTHDR(&header, control)) {
        if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof(int));
            fds.emplace_back(fd);
            PublicNumbers::ofProcess().given(fd);
        }
    }
}

} // namespace

OsResult<UniqueFd> LinuxOs::listenAbstract(const std::string &name, int backlog) {
    return listenOn(abstractAddress(name), backlog);
}

OsResult<UniqueFd> LinuxOs::connectAbstract(const std::string &name,
                                            std::chrono::milliseconds timeout) {
    return connectTo(abstractAddress(name), timeout);
}

OsResult<UniqueFd> LinuxOs::listenAt(int folder, const std::string &name, int backlog) {
    return listenOn(addressIn(folder, name), backlog);
}

OsResult<UniqueFd> LinuxOs::connectAt(int folder,
                                      const std::string &name,
                                      std::chrono::milliseconds timeout) {
    return connectTo(addressIn(folder, name), timeout);
}

OsResult<UniqueFd> LinuxOs::accept(int fd) {
    return retryFd([&] { return ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); });
}

OsResult<std::pair<UniqueFd, UniqueFd>> LinuxOs::socketPair() {
    std::array<int, 2> ends = {-1, -1};
    constexpr int type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
    const auto made = retryVoid([&] { return ::socketpair(AF_UNIX, type, 0, ends.data()); });
    if (!made) {
        return std::unexpected(made.error());
    }
    for (const int fd : ends) {
        PublicNumbers::ofProcess().given(fd);
    }
    return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

OsResult<void> LinuxOs::bindAbstract(int fd, const std::string &name) {
    const auto address = abstractAddress(name);
    if (!address) {
        return std::unexpected(address.error());
    }
    return retryVoid([&] { return ::bind(fd, generic(*address), address->length); });
}

OsResult<std::string> LinuxOs::abstractName(int fd) {
    SocketAddress bound;
    bound.length = sizeof(bound.address);
    const auto asked = retryVoid([&] {
        return ::getsockname(fd, reinterpret_cast<sockaddr *>(&bound.address), &bound.length);
    });
    if (!asked) {
        return std::unexpected(asked.error());
    }
    const size_t nameBytes = bound.length - offsetof(sockaddr_un, sun_path);
    const bool isAbstract =
        bound.address.sun_family == AF_UNIX && bound.length > offsetof(sockaddr_un, sun_path) &&
        nameBytes <= sizeof(bound.address.sun_path) && bound.address.sun_path[0] == '\0';
    return isAbstract ? std::string(bound.address.sun_path + 1, nameBytes - 1) : std::string();
}

OsResult<PeerCredentials> LinuxOs::peerCredentials(int fd) {
    ucred credentials = {};
    socklen_t length = sizeof(credentials);
    const auto result =
        retryVoid([&] { return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length); });
    if (!result) {
        return std::unexpected(result.error());
    }
    return PeerCredentials{.pid = credentials.pid, .uid = credentials.uid};
}

OsResult<UniqueFd> LinuxOs::peerProcess(int fd) {
    int process = -1;
    socklen_t length = sizeof(process);
    const auto asked =
        retryVoid([&] { return ::getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &length); });
    if (!asked) {
        return std::unexpected(asked.error());
    }
    PublicNumbers::ofProcess().given(process);
    return UniqueFd(process);
}

OsResult<void> LinuxOs::sendMessage(int fd,
                                    std::span<const std::byte> bytes,
                                    std::span<const int> fds) {
    if (fds.size() > maxFdsPerMessage) {
        return std::unexpected(Errno{EINVAL}); // as the kernel would say
    }
    ControlBuffer control = {};
    iovec part = {.iov_base = const_cast<std::byte *>(bytes.data()), .iov_len = bytes.size()};
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (!fds.empty()) {
        header.msg_control = control.bytes.data();
        header.msg_controllen = CMSG_SPACE(fds.size_bytes());
        cmsghdr *first = CMSG_FIRSTHDR(&header);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN(fds.size_bytes());
        std::memcpy(CMSG_DATA(first), fds.data(), fds.size_bytes());
    }
    return retryVoid([&] { return ::sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT); });
}

OsResult<ReceivedMessage> LinuxOs::receiveMessage(int fd,
                                                  std::span<std::byte> bytes,
                                                  size_t maxFds) {
    ControlBuffer control = {};
    iovec part = {.iov_base = bytes.data(), .iov_len = bytes.size()};
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (maxFds > 0) {
        header.msg_control = control.bytes.data();
        header.msg_controllen = CMSG_SPACE(std::min(maxFds, maxFdsPerMessage) * sizeof(int));
    }
    ReceivedMessage message;
    message.fds.reserve(maxFds); // before descriptors exist that a bad_alloc could lose
    const auto length =
        retry([&] { return ::recvmsg(fd, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT); });
    if (!length) {
        return std::unexpected(length.error());
    }
    collectFds(header, message.fds);
    message.sizeBytes = static_cast<size_t>(*length);
    message.bytesTruncated = (header.msg_flags & MSG_TRUNC) != 0;
    message.fdsTruncated = (header.msg_flags & MSG_CTRUNC) != 0;
    return message;
}

} // namespace causeway
