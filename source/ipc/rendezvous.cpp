#include "source/ipc/rendezvous.h"

#include <array>
#include <cerrno>

namespace causeway::ipc {
namespace {

std::string rendezvousName(uint64_t serverId) {
    return fmt::format("causeway-rendezvous-{:016x}", serverId);
}

constexpr std::array<std::byte, 1> knock = {std::byte{1}};

} // namespace

Result<Rendezvous> makeRendezvous(Os &os, uint64_t serverId) {
    auto ends = os.socketPair();
    if (!ends) {
        return failWith(ends.error(), "socketpair of the ipc server");
    }
    if (const auto bound = os.bindAbstract(ends->first.get(), rendezvousName(serverId)); !bound) {
        return failWith(bound.error(), "naming the ipc server's rendezvous");
    }
    return Rendezvous{.kept = std::move(ends->first), .served = std::move(ends->second)};
}

bool isRendezvousOf(Os &os, int fd, uint64_t serverId) {
    const auto name = os.abstractName(fd);
    return name && *name == rendezvousName(serverId);
}

OsResult<UniqueFd> connectThrough(Os &os, int kept) {
    auto ends = os.socketPair();
    if (!ends) {
        return std::unexpected(ends.error());
    }
    const std::array<int, 1> theirs = {ends->second.get()};
    if (const auto sent = os.sendMessage(kept, knock, theirs); !sent) {
        return std::unexpected(sent.error());
    }
    return std::move(ends->first);
}

OsResult<UniqueFd> takeNewcomer(Os &os, int served) {
    std::array<std::byte, knock.size()> bytes = {};
    auto message = os.receiveMessage(served, bytes, 1);
    if (!message) {
        return std::unexpected(message.error());
    }
    if (message->sizeBytes == 0 && message->fds.empty()) {
        return std::unexpected(Errno{EPIPE});
    }
    return message->fds.empty() ? UniqueFd() : std::move(message->fds.front());
}

} // namespace causeway::ipc
