#pragma once

#include "shared/os/os.h"
#include "shared/wire/ipc_handle.h"

namespace causeway::ipc {

/// The descriptor in bytes 0-3 of a range handle: a small sealed memfd that holds the handle
/// itself, so that a client that moves only the descriptor still has everything. Opened write-only
/// where /proc permits: clients mmap the descriptor of a handle at offset 0 and must not take this
/// for the memory. (Whoever received it can reopen it for reading through /proc.)
struct Ticket {
    UniqueFd fd;
    uint64_t identity = 0; ///< wire::fileIdentity of fd
};

/// Completes `handle` with the ticket's identity and writes it into a new ticket.
/// Errors: OutOfHostMemory and what else memfd_create and its relatives say.
Result<Ticket> makeTicket(Os &os, wire::IpcHandle &handle);

/// Judges a descriptor that the application handed over (it stays the application's) and reads the
/// handle from it. Errors: InvalidArgument where it is not a ticket of ours, by its name, size and
/// seals, or holds another ticket's handle.
Result<wire::IpcHandle> readTicket(Os &os, int fd);

} // namespace causeway::ipc
