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

struct AbstractAddress {
    sockaddr_un address = {};
    socklen_t length = 0;
};

OsResult<AbstractAddress> abstractAddress(const std::string &name) {
    AbstractAddress result;
    // sun_path[0] == 0 makes the name abstract: no file, gone with its socket.
    if (name.size() + 1 > sizeof(result.address.sun_path)) {
        return std::unexpected(Errno{ENAMETOOLONG});
    }
    result.address.sun_family = AF_UNIX;
    std::memcpy(result.address.sun_path + 1, name.data(), name.size());
    result.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return result;
}

const sockaddr *generic(const AbstractAddress &address) {
    return reinterpret_cast<const sockaddr *>(&address.address);
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
    const auto address = abstractAddress(name);
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

OsResult<UniqueFd> LinuxOs::connectAbstract(const std::string &name,
                                            std::chrono::milliseconds timeout) {
    const auto address = abstractAddress(name);
    if (!address) {
        return std::unexpected(address.error());
    }
    auto fd = retryFd([] { return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0); });
    if (!fd) {
        return fd;
    }
    const auto deadline = now() + timeout;
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::microseconds>(deadline - now()).count();
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

OsResult<UniqueFd> LinuxOs::accept(int fd) {
    return retryFd([&] { return ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); });
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
