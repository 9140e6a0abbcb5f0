#include "unit_tests/black_box/raw_client.h"

#include "unit_tests/black_box/server_names.h"
#include "unit_tests/black_box/ze_calls.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace causeway::black_box {

RawClient::RawClient(const ze_ipc_mem_handle_t &handle)
    : socket_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    const timeval patience = {.tv_sec = defaultWait().count() / 1000, .tv_usec = 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    const std::string name = "causeway-ipc-" + serverIdOf(handle);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (connect(socket_.get(), reinterpret_cast<sockaddr *>(&address), length) != 0) {
        throw HarnessError(fmt::format("connecting to {}: {}", name, strerror(errno)));
    }
}

void RawClient::send(std::span<const std::byte> bytes) const {
    // The server may have hung up by now.
    static_cast<void>(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

bool RawClient::isDropped(Deadline deadline) const {
    std::array<std::byte, 1024> answer = {};
    while (!deadline.isOver()) {
        pollfd look = {socket_.get(), POLLIN, 0};
        poll(&look, 1, static_cast<int>(deadline.remaining().count()));
        const auto got = recv(socket_.get(), answer.data(), answer.size(), MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN)) {
            return true;
        }
    }
    return false;
}

RawRequest openRequest(const ze_ipc_mem_handle_t &handle, uint32_t count) {
    constexpr size_t tokenInHandle = 24;
    constexpr size_t tokenBytes = 16;
    RawRequest request = {};
    const std::array<uint8_t, 8> header = {'C', 'W', 'Y', 'Q', 1, 0, 1, 0}; // version 1, OPEN
    std::memcpy(request.data(), header.data(), header.size());
    std::memcpy(&request[8], handle.data + tokenInHandle, tokenBytes);
    std::memcpy(&request[28], &count, sizeof(count));
    return request;
}

} // namespace causeway::black_box
