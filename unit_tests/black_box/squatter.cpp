#include "unit_tests/black_box/squatter.h"

#include "unit_tests/black_box/descriptor.h"
#include "unit_tests/black_box/server_names.h"
#include "unit_tests/black_box/ze_calls.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <thread>
#include <utility>

namespace causeway::black_box {

namespace {

constexpr uid_t strangersUid = 12345;

int listenAs(const std::string &name) {
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (bind(fd, reinterpret_cast<sockaddr *>(&address), length) != 0 || listen(fd, 8) != 0) {
        throw HarnessError("the name cannot be taken");
    }
    return fd;
}

void serve(int listener, Squatter kind) {
    Descriptor waiting; // for an answer; the one before it has given up
    for (;;) {
        Descriptor peer(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
        if (peer.get() < 0) {
            return;
        }
        if (kind == Squatter::SendsGarbage) {
            const std::array<char, 48> garbage = {'C', 'W', 'Y', 'R', 1};
            static_cast<void>(send(peer.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL));
        }
        if (kind == Squatter::StaysSilent) {
            waiting = std::move(peer);
        }
    }
}

} // namespace

void squat(const ze_ipc_mem_handle_t &handle, Squatter kind) {
    // The kernel remembers who listened.
    const bool isStranger = kind == Squatter::IsAnotherUser;
    if (isStranger && seteuid(strangersUid) != 0) {
        throw HarnessError("seteuid");
    }
    const int listener = listenAs("causeway-ipc-" + serverIdOf(handle));
    if (isStranger && seteuid(0) != 0) {
        throw HarnessError("seteuid");
    }
    std::thread(serve, listener, kind).detach();
}

} // namespace causeway::black_box
