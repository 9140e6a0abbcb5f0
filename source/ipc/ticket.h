#pragma once

#include "shared/base/mutex.h"
#include "shared/os/os.h"
#include "shared/wire/ipc_handle.h"
#include "source/kmd/kmd.h"

#include <memory>

namespace causeway::ipc {

/// The descriptor in bytes 0-3 of a handle whose memory is not one file of its own: a small sealed
/// memfd that holds the handle itself, so that a client that moves only the descriptor still has
/// everything. Opened write-only where /proc permits: clients mmap the descriptor of a handle at
/// offset 0 and must not take this for the memory. (Whoever received it can reopen it for reading
/// through /proc.)
struct Ticket {
    UniqueFd fd;           ///< in a TicketedHandle also the duplicate of an object's own file
    uint64_t identity = 0; ///< wire::fileIdentity of fd
};

/// Completes `handle` with the ticket's identity and writes it into a new ticket.
/// Errors: OutOfHostMemory and what else memfd_create and its relatives say.
Result<Ticket> makeTicket(Os &os, wire::IpcHandle &handle);

/// Whether `fd` is a ticket by its name; readTicket judges the rest.
[[nodiscard]] bool looksLikeTicket(Os &os, int fd);

/// Judges a descriptor that the application handed over (it stays the application's) and reads the
/// handle from it. Errors: InvalidArgument where it is not a ticket of ours, by its name, size and
/// seals, or holds another ticket's handle.
Result<wire::IpcHandle> readTicket(Os &os, int fd);

/// The 64 bytes of an export as each Get returns them, and the descriptor that their bytes 0-3
/// name: a duplicate of the object's own file where there is one, since clients mmap that, else a
/// ticket.
///
/// The number belongs to the driver, but clients disagree about that: some close it (ipc.md). So it
/// is compared with its file before each use and before it is closed; where it has become another
/// file or none, a new descriptor takes its place and the other file is left alone. Any thread.
class TicketedHandle {
  public:
    /// Without a descriptor, or while none is to be had, bytes 0-3 are -1. `file`: of the one
    /// object, or null.
    TicketedHandle(Os &os,
                   const wire::IpcHandle &handle,
                   bool withTicket,
                   std::shared_ptr<kmd::Backing> file = nullptr);
    ~TicketedHandle();
    TicketedHandle(const TicketedHandle &) = delete;
    TicketedHandle &operator=(const TicketedHandle &) = delete;

    [[nodiscard]] wire::HandleBytes bytes();

  private:
    [[nodiscard]] bool isStillOurs() REQUIRES(mutex_);
    void renew() REQUIRES(mutex_);

    Os &os_;
    const bool withTicket_;
    const std::shared_ptr<kmd::Backing> file_;
    Mutex mutex_;
    wire::IpcHandle handle_ GUARDED_BY(mutex_);
    Ticket ticket_ GUARDED_BY(mutex_);
};

} // namespace causeway::ipc
