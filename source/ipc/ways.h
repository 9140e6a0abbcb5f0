#pragma once

#include "shared/wire/ipc_handle.h"
#include "source/ipc/conversation.h"
#include "source/ipc/ipc_config.h"

#include <span>
#include <string>
#include <string_view>

namespace causeway::ipc {

/// One way of reaching the server that a handle names. None gives more right than another: on each
/// the server must be the same user's, and sees the token before it answers anything.
struct Way {
    std::string_view name;
    /// Whether there is anything to try. What is not tried is no failure.
    bool (*applies)(const wire::IpcHandle &handle, const IpcConfig &config);
    /// Errors: InvalidArgument (nobody there, or somebody else), InsufficientPermissions,
    /// NotAvailable (there, but it lets the time pass), OutOfHostMemory.
    Result<Conversation> (*connect)(Os &os, const wire::IpcHandle &handle, const IpcConfig &config);
};

/// In the order of trying: the abstract socket name, which costs least; a socket file below
/// CAUSEWAY_IPC_DIR; the exporter's rendezvous, duplicated out of its process.
[[nodiscard]] std::span<const Way> waysToExporters();

/// Gathers why no way led to an exporter's memory.
class FailedWays {
  public:
    /// `reached`: the way led to a server, which then refused.
    void add(std::string_view way, const Error &error, bool reached);

    /// Whether another way may do better: not where the exporter was there and is stopped, and not
    /// where this process is short of something.
    [[nodiscard]] bool mayGoOn() const;

    /// The answer of the server that was reached, else all ways with their reasons:
    /// InsufficientPermissions where each of them was refused for permissions, else
    /// InvalidArgument.
    [[nodiscard]] Error verdict() const;

  private:
    std::string reasons_;
    Error last_;
    bool reached_ = false;
    bool onlyPermissions_ = true;
};

} // namespace causeway::ipc
