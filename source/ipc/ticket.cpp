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
        return failWith(info.error(), "fstat of a ticket");
    }
    const auto name = os.fileName(fd);
    const auto seals = os.seals(fd);
    const bool ours = name && *name == ticketLink && seals &&
                      (*seals & ticketSeals) == ticketSeals &&
                      info->sizeBytes == sizeof(wire::HandleBytes);
    if (!ours) {
        return fail(Status::InvalidArgument,
                    "it is {}, not the ticket of a shared range",
                    name ? *name : "a file without a name");
    }
    return *info;
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
        return Ticket{.fd = std::move(*writeOnly), .file = *info};
    }
    return Ticket{.fd = std::move(*file), .file = *info};
}

TicketedHandle::TicketedHandle(Os &os,
                               const wire::IpcHandle &handle,
                               bool withDescriptor,
                               std::shared_ptr<kmd::Backing> file)
    : os_(os), file_(std::move(file)), withDescriptor_(withDescriptor), handle_(handle) {
    const MutexLock lock(mutex_);
    refresh();
}

wire::HandleBytes TicketedHandle::bytes() {
    const MutexLock lock(mutex_);
    refresh();
    return wire::encodeHandle(handle_);
}

std::optional<uint64_t> TicketedHandle::namedFile() {
    const MutexLock lock(mutex_);
    if (published_ == nullptr || handle_.fd < 0) {
        return std::nullopt;
    }
    return handle_.fdIdentity;
}

Result<kmd::PublishedFile::Number> TicketedHandle::file() {
    const MutexLock lock(mutex_);
    if (file_ == nullptr) {
        return fail(Status::UnsupportedFeature,
                    "the memory of the handle has no file of its own to give a descriptor of");
    }
    withDescriptor_ = true;
    return nameFile();
}

/// Looks whether the descriptor is still there and makes another one if not.
void TicketedHandle::refresh() {
    if (!withDescriptor_) {
        return;
    }
    handle_.fd = -1;
    try {
        Result<void> named;
        if (file_ == nullptr) {
            named = nameTicket();
        } else if (auto number = nameFile(); !number) {
            named = forward(number);
        }
        if (!named) {
            log(LogLevel::Info, "a handle without a descriptor: {}", named.error().message);
        }
    } catch (const std::bad_alloc &) { // NOLINT(bugprone-empty-catch)
        // No descriptor now; the Get that has been counted must not fail.
    }
}

Result<kmd::PublishedFile::Number> TicketedHandle::nameFile() {
    if (published_ == nullptr) {
        published_ = file_->publish(kmd::PublishUntil::NobodyHoldsIt);
    }
    auto number = published_->number();
    handle_.fd = number ? number->fd : -1;
    if (number) {
        handle_.fdIdentity = wire::fileIdentity(number->file.device, number->file.inode);
    }
    return number;
}

Result<void> TicketedHandle::nameTicket() {
    if (!ticket_.isStillOurs()) {
        wire::IpcHandle fresh = handle_;
        auto ticket = makeTicket(os_, fresh);
        if (!ticket) {
            handle_.fdIdentity = 0;
            return forward(ticket);
        }
        ticket_ = PublicFd(os_, std::move(ticket->fd), ticket->file);
        handle_.fdIdentity = fresh.fdIdentity;
    }
    handle_.fd = ticket_.get();
    return {};
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
