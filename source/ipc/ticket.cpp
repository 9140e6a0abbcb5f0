#include "source/ipc/ticket.h"

#include "shared/base/log.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <new>

namespace causeway::ipc {
namespace {

constexpr const char *ticketName = "causeway-ticket";
// What the kernel shows of it; a file with another name, however sealed, is no ticket.
constexpr std::string_view ticketLink = "/memfd:causeway-ticket (deleted)";
constexpr int ticketSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Result<FileInfo> requireTicket(Os &os, int fd) {
    const auto info = os.fileInfo(fd);
    if (!info) {
        return failWith(info.error(), fmt::format("descriptor {} of the handle", fd));
    }
    const auto name = os.fileName(fd);
    const auto seals = os.seals(fd);
    const bool ours = name && *name == ticketLink && seals &&
                      (*seals & ticketSeals) == ticketSeals &&
                      info->sizeBytes == sizeof(wire::HandleBytes);
    if (!ours) {
        return fail(Status::InvalidArgument,
                    "descriptor {} of the handle is {}, not the ticket of a shared range",
                    fd,
                    name ? *name : "a file without a name");
    }
    return *info;
}

/// Of an object's own file. Completes the handle with its identity.
Result<Ticket> duplicateOf(Os &os, kmd::Backing &backing, wire::IpcHandle &handle) {
    const kmd::Extent whole = {.offset = 0, .sizeBytes = backing.sizeBytes()};
    auto file = backing.exportDescriptor({&whole, 1});
    if (!file) {
        return forward(file);
    }
    auto copy = os.duplicate(file->get());
    if (!copy) {
        return failWith(copy.error(), "duplicating the descriptor of an object");
    }
    const auto info = os.fileInfo(copy->get());
    if (!info) {
        return failWith(info.error(), "fstat of an object");
    }
    handle.fdIdentity = wire::fileIdentity(info->device, info->inode);
    return Ticket{.fd = std::move(*copy), .identity = handle.fdIdentity};
}

} // namespace

bool looksLikeTicket(Os &os, int fd) {
    const auto name = os.fileName(fd);
    return name && *name == ticketLink;
}

Result<Ticket> makeTicket(Os &os, wire::IpcHandle &handle) {
    auto file = os.memfdCreate(ticketName, MFD_ALLOW_SEALING);
    if (!file) {
        return failWith(file.error(), "memfd_create of a ticket");
    }
    const auto info = os.fileInfo(file->get());
    if (!info) {
        return failWith(info.error(), "fstat of a ticket");
    }
    handle.fdIdentity = wire::fileIdentity(info->device, info->inode);
    const wire::HandleBytes bytes = wire::encodeHandle(handle);
    const auto written = os.writeAt(file->get(), bytes, 0);
    if (!written || *written != bytes.size()) {
        return failWith(written ? Errno{EIO} : written.error(), "writing a ticket");
    }
    if (const auto sealed = os.addSeals(file->get(), ticketSeals); !sealed) {
        return failWith(sealed.error(), "sealing a ticket");
    }
    auto writeOnly = os.reopen(file->get(), O_WRONLY);
    if (writeOnly) {
        return Ticket{.fd = std::move(*writeOnly), .identity = handle.fdIdentity};
    }
    return Ticket{.fd = std::move(*file), .identity = handle.fdIdentity};
}

TicketedHandle::TicketedHandle(Os &os,
                               const wire::IpcHandle &handle,
                               bool withTicket,
                               std::shared_ptr<kmd::Backing> file)
    : os_(os), withTicket_(withTicket), file_(std::move(file)), handle_(handle) {
    const MutexLock lock(mutex_);
    if (withTicket_) {
        renew();
    }
}

TicketedHandle::~TicketedHandle() {
    const MutexLock lock(mutex_);
    if (!isStillOurs()) {
        static_cast<void>(ticket_.fd.release()); // somebody else's by now, or nobody's
    }
}

wire::HandleBytes TicketedHandle::bytes() {
    const MutexLock lock(mutex_);
    if (withTicket_ && !isStillOurs()) {
        static_cast<void>(ticket_.fd.release());
        renew();
    }
    return wire::encodeHandle(handle_);
}

bool TicketedHandle::isStillOurs() {
    if (!ticket_.fd.valid()) {
        return false;
    }
    const auto info = os_.fileInfo(ticket_.fd.get());
    // Of an open descriptor fstat fails for want of kernel memory at most: then it is still open.
    return info ? wire::fileIdentity(info->device, info->inode) == ticket_.identity
                : info.error().value != EBADF;
}

void TicketedHandle::renew() {
    handle_.fd = -1;
    handle_.fdIdentity = 0;
    try {
        wire::IpcHandle fresh = handle_;
        auto ticket = file_ != nullptr ? duplicateOf(os_, *file_, fresh) : makeTicket(os_, fresh);
        if (!ticket) {
            log(LogLevel::Info, "a handle without a ticket: {}", ticket.error().message);
            return;
        }
        ticket_ = std::move(*ticket);
        handle_ = fresh;
        handle_.fd = ticket_.fd.get();
    } catch (const std::bad_alloc &) { // NOLINT(bugprone-empty-catch)
        // No ticket now; the Get that has been counted must not fail.
    }
}

Result<wire::IpcHandle> readTicket(Os &os, int fd) {
    const auto info = requireTicket(os, fd);
    if (!info) {
        return std::unexpected(info.error());
    }
    const auto readable = os.reopen(fd, O_RDONLY);
    if (!readable) {
        return failWith(readable.error(), "reopening the ticket for reading");
    }
    wire::HandleBytes bytes = {};
    const auto length = os.readAt(readable->get(), bytes, 0);
    if (!length || *length != bytes.size()) {
        return failWith(length ? Errno{EIO} : length.error(), "reading the ticket");
    }
    const auto decoded = wire::decodeHandle(bytes);
    if (!decoded) {
        return std::unexpected(decoded.error());
    }
    const auto *handle = std::get_if<wire::IpcHandle>(&*decoded);
    if (handle == nullptr || handle->fdIdentity != wire::fileIdentity(info->device, info->inode)) {
        return fail(Status::InvalidArgument, "the ticket does not hold its own handle");
    }
    return *handle;
}

} // namespace causeway::ipc
