#pragma once

#include "shared/os/os.h"

#include <cstdint>
#include <string>

namespace causeway::ipc {

/// A way to a server that needs no name that both sides can see, only the right to duplicate the
/// exporter's descriptors (pidfd_getfd): two connected sockets. The exporter keeps one for
/// importers to duplicate; what they send on it arrives at the other, on which the server waits. An
/// importer sends one end of a fresh pair, and is so connected. Nothing is ever sent to the kept
/// end.
struct Rendezvous {
    UniqueFd kept; ///< its number is in the handles; its abstract name proves what it is
    UniqueFd served;
};

/// Errors: what socketpair and bind say.
[[nodiscard]] Result<Rendezvous> makeRendezvous(Os &os, uint64_t serverId);

/// Whether a descriptor, however it was come by, is the kept end of that server's rendezvous.
[[nodiscard]] bool isRendezvousOf(Os &os, int fd, uint64_t serverId);

/// Importer's side: hands the server behind a kept end a fresh connection and returns our end of
/// it. An errno for the caller to judge; EAGAIN where the server does not fetch what others left
/// there.
[[nodiscard]] OsResult<UniqueFd> connectThrough(Os &os, int kept);

/// Server's side: the next connection that was left at the served end. Invalid where what was left
/// is none. EAGAIN: nothing is left there; EPIPE: it was shut down, for good.
[[nodiscard]] OsResult<UniqueFd> takeNewcomer(Os &os, int served);

} // namespace causeway::ipc
