#include "source/ipc/ipc_service.h"

#include "source/ipc/exporter.h"
#include "source/ipc/importer.h"
#include "source/ipc/ticket.h"

namespace causeway::ipc {

IpcService::IpcService(Os &os, kmd::Backend &backend, IpcConfig config)
    : os_(os), config_(config), server_(os, exports_, backend, config.timeout) {}

Result<wire::HandleBytes> IpcService::exportRange(memory::MemoryManager &owner,
                                                  uint64_t address,
                                                  uint64_t sizeBytes,
                                                  uint32_t flags) {
    auto snapshot = owner.snapshot(address, sizeBytes);
    if (!snapshot) {
        return forward(snapshot);
    }
    const ExportKey key = {
        .owner = &owner, .address = address, .windowBytes = sizeBytes, .flags = flags};
    if (const auto same = exports_.findSame(key, *snapshot)) {
        return same->handle->bytes();
    }
    if (auto reacquired = reacquire(os_, owner, *snapshot, config_.timeout); !reacquired) {
        return forward(reacquired);
    }
    const auto serverId = server_.start();
    if (!serverId) {
        return std::unexpected(serverId.error());
    }
    auto fresh = buildExport(os_,
                             {.serverId = *serverId, .pid = os_.processId()},
                             key,
                             std::move(*snapshot),
                             ticketsFit());
    if (!fresh) {
        return forward(fresh);
    }
    return exports_.add(std::move(*fresh))->handle->bytes();
}

/// Tickets may take a quarter of the process's descriptors; objects of their own take half.
bool IpcService::ticketsFit() const {
    return exports_.size() < os_.descriptorLimit() / 4;
}

void IpcService::put(const memory::MemoryManager &owner, const wire::HandleBytes &handle) {
    const auto decoded = wire::decodeHandle(handle);
    if (!decoded) {
        return;
    }
    if (const auto *whole = std::get_if<wire::IpcHandle>(&*decoded)) {
        exports_.put(&owner, whole->token);
    }
}

Result<wire::IpcHandle> IpcService::resolve(const wire::HandleBytes &bytes) {
    const auto decoded = wire::decodeHandle(bytes);
    if (!decoded) {
        return std::unexpected(decoded.error());
    }
    if (const auto *whole = std::get_if<wire::IpcHandle>(&*decoded)) {
        return *whole;
    }
    return readTicket(os_, std::get<wire::DescriptorOnly>(*decoded).fd);
}

Result<uint64_t> IpcService::open(memory::MemoryManager &importer,
                                  const kmd::Device &device,
                                  const wire::HandleBytes &bytes) {
    const auto handle = resolve(bytes);
    if (!handle) {
        return std::unexpected(handle.error());
    }
    if (handle->kind != wire::HandleKind::Range) {
        return fail(Status::UnsupportedFeature, "only handles of ranges can be opened");
    }
    if (const auto own = exports_.find(handle->token)) {
        if (handle->sizeBytes != own->snapshot.windowBytes) {
            return fail(Status::InvalidArgument, "the handle's size is not that of its range");
        }
        return openOwnRange(importer, device, *own);
    }
    if (handle->serverId == server_.id()) {
        return fail(Status::InvalidArgument, "this process no longer shares this handle");
    }
    return openRemoteRange(os_, importer, device, *handle, config_.timeout);
}

void IpcService::dropOwner(const memory::MemoryManager &owner) {
    exports_.dropOwner(&owner);
}

} // namespace causeway::ipc
