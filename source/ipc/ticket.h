#pragma once

#include "shared/base/mutex.h"
#include "shared/os/public_fd.h"
#include "shared/wire/ipc_handle.h"
#include "source/kmd/kmd.h"

#include <memory>
#include <optional>

namespace causeway::ipc {

/// The descriptor in bytes 0-3 of a handle whose memory is not one file of its own: a small sealed
/// memfd that holds the handle itself, so that a client that moves only the descriptor still has
/// everything. Opened write-only where /proc permits: clients mmap the descriptor of a handle at
/// offset 0 and must not take this for the memory. (Whoever received it can reopen it for reading
/// through /proc.)
struct Ticket {
    UniqueFd fd;
    FileInfo file;
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
/// name: the object's own file where there is one, since clients mmap that, else a ticket. Some
/// close it; then the next Get has another number. Any thread.
class TicketedHandle {
  public:
    /// Without a descriptor, or while none is to be had, bytes 0-3 are -1. `file`: of the one
    /// object, or null.
    TicketedHandle(Os &os,
                   const wire::IpcHandle &handle,
                   bool withDescriptor,
                   std::shared_ptr<kmd::Backing> file = nullptr);

    [[nodiscard]] wire::HandleBytes bytes();

    /// wire::fileIdentity of the object's file, where bytes() last named it.
    [[nodiscard]] std::optional<uint64_t> namedFile();

    /// The object's file as in bytes 0-3; from now on they have it, if they had none. Errors:
    /// UnsupportedFeature (no such file), OutOfHostMemory (no descriptor left).
    [[nodiscard]] Result<kmd::PublishedFile::Number> file();

  private:
    [[nodiscard]] Result<kmd::PublishedFile::Number> nameFile() REQUIRES(mutex_);
    [[nodiscard]] Result<void> nameTicket() REQUIRES(mutex_);
    void refresh() REQUIRES(mutex_);

    Os &os_;
    const std::shared_ptr<kmd::Backing> file_;
    Mutex mutex_;
    bool withDescriptor_ GUARDED_BY(mutex_);
    wire::IpcHandle handle_ GUARDED_BY(mutex_);
    std::shared_ptr<kmd::PublishedFile> published_ GUARDED_BY(mutex_);
    PublicFd ticket_ GUARDED_BY(mutex_);
};

} // namespace causeway::ipc
