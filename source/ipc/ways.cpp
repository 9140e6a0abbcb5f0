#include "source/ipc/ways.h"

#include "source/ipc/rendezvous.h"
#include "source/ipc/server.h"
#include "source/ipc/socket_folder.h"

#include <array>
#include <cerrno>

namespace causeway::ipc {
namespace {

bool always(const wire::IpcHandle & /*handle*/, const IpcConfig & /*config*/) {
    return true;
}

bool hasFolder(const wire::IpcHandle & /*handle*/, const IpcConfig &config) {
    return !config.folder.empty();
}

bool namesRendezvous(const wire::IpcHandle &handle, const IpcConfig & /*config*/) {
    return handle.pid > 0 && handle.rendezvousFd >= 0;
}

Result<Conversation> byName(Os &os, const wire::IpcHandle &handle, const IpcConfig &config) {
    const std::string name = serverName(handle.serverId);
    auto socket = os.connectAbstract(name, config.timeout);
    if (!socket) {
        return failWith(socket.error(), fmt::format("connecting to {}", name));
    }
    return Conversation::over(os, std::move(*socket), config.timeout);
}

Result<Conversation> byFolder(Os &os, const wire::IpcHandle &handle, const IpcConfig &config) {
    auto folder = SocketFolder::find(os, config.folder);
    if (!folder) {
        return forward(folder);
    }
    auto socket = folder->connect(handle.serverId, config.timeout);
    if (!socket) {
        return failWith(socket.error(),
                        fmt::format("connecting to {:016x} in {}", handle.serverId, config.folder));
    }
    return Conversation::over(os, std::move(*socket), config.timeout);
}

/// The number in the handle may be anybody's here, and the descriptor anything: only its name
/// tells.
Result<Conversation> byProcess(Os &os, const wire::IpcHandle &handle, const IpcConfig &config) {
    auto process = os.openProcess(handle.pid);
    if (!process) {
        return failWith(process.error(), fmt::format("pidfd_open of process {}", handle.pid));
    }
    const auto kept = os.fetchDescriptor(process->get(), handle.rendezvousFd);
    if (!kept) {
        return failWith(kept.error(), fmt::format("pidfd_getfd from process {}", handle.pid));
    }
    if (!isRendezvousOf(os, kept->get(), handle.serverId)) {
        return fail(Status::InvalidArgument,
                    "process {} is another one here: its descriptor {} is not the exporter's",
                    handle.pid,
                    handle.rendezvousFd);
    }
    if (auto trusted = requireTrustedServer(os, kept->get()); !trusted) {
        return forward(trusted);
    }
    auto socket = connectThrough(os, kept->get());
    if (!socket && socket.error().value == EAGAIN) {
        return fail(Status::NotAvailable, "the exporter does not take new connections");
    }
    if (!socket) {
        return failWith(socket.error(), "handing the exporter a connection");
    }
    return Conversation(os, std::move(*socket), std::move(*process), config.timeout);
}

constexpr std::array<Way, 3> ways = {{
    {.name = "abstract socket", .applies = always, .connect = byName},
    {.name = "CAUSEWAY_IPC_DIR", .applies = hasFolder, .connect = byFolder},
    {.name = "the exporter's descriptors", .applies = namesRendezvous, .connect = byProcess},
}};

} // namespace

std::span<const Way> waysToExporters() {
    return ways;
}

void FailedWays::add(std::string_view way, const Error &error, bool reached) {
    reasons_ += fmt::format("{}{}: {}", reasons_.empty() ? "" : "; ", way, error.message);
    onlyPermissions_ = onlyPermissions_ && error.status == Status::InsufficientPermissions;
    // What a server said tells more than that another way leads nowhere.
    if (reached || !reached_) {
        last_ = error;
    }
    reached_ = reached_ || reached;
}

bool FailedWays::mayGoOn() const {
    return last_.status != Status::NotAvailable && last_.status != Status::OutOfHostMemory &&
           last_.status != Status::UnsupportedVersion;
}

Error FailedWays::verdict() const {
    if (reached_ || !mayGoOn()) {
        return last_;
    }
    return {
        .status = onlyPermissions_ ? Status::InsufficientPermissions : Status::InvalidArgument,
        .message = fmt::format(
            "no way leads to the exporter, which has exited, or lives in another network namespace "
            "without a shared CAUSEWAY_IPC_DIR: {}",
            reasons_)};
}

} // namespace causeway::ipc
