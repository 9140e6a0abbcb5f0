#include "source/ipc/ipc_service.h"

#include "source/ipc/exporter.h"
#include "source/ipc/importer.h"
#include "source/ipc/ticket.h"

#include <utility>

namespace causeway::ipc {
namespace {

wire::HandleKind kindOf(const memory::PhysicalMemory &object) {
    return object.placement() == Placement::Host ? wire::HandleKind::SingleHost
                                                 : wire::HandleKind::SingleDevice;
}

Result<void> requireTravel(const memory::RangeSnapshot &snapshot) {
    for (const memory::SnapshotPiece &piece : snapshot.pieces) {
        if (!piece.object->backing()->canTravel()) {
            return fail(Status::UnsupportedFeature,
                        "the window at {:#x} shows memory that was opened by a descriptor alone; "
                        "none was kept, and it cannot be shared again",
                        snapshot.address);
        }
    }
    return {};
}

} // namespace

IpcService::IpcService(Os &os, kmd::Backend &backend, IpcConfig config)

    : os_(os), config_(std::move(config)), server_(os, exports_, backend, config_) {}

Result<wire::HandleBytes> IpcService::exportRange(memory::MemoryManager &owner,
                                                  uint64_t address,
                                                  uint64_t sizeBytes,
                                                  uint32_t flags) {
    auto snapshot = owner.snapshot(address, sizeBytes);
    if (!snapshot) {
        return forward(snapshot);
    }
    return exportSnapshot(owner, wire::HandleKind::Range, address, std::move(*snapshot), flags);
}

Result<wire::HandleBytes> IpcService::exportObject(memory::MemoryManager &owner, uint64_t address) {
    auto snapshot = owner.snapshotObject(address);
    if (!snapshot) {
        return forward(snapshot);
    }
    const auto kind = kindOf(*snapshot->pieces.front().object);
    const uint64_t base = snapshot->address;
    return exportSnapshot(owner, kind, base, std::move(*snapshot), 0);
}

Result<wire::HandleBytes> IpcService::exportPhysical(memory::MemoryManager &owner,
                                                     const memory::PhysicalMemoryRef &object) {
    memory::RangeSnapshot snapshot = {.address = 0,
                                      .windowBytes = object->sizeBytes(),
                                      .leadBytes = 0,
                                      .pieces = {{.object = object,
                                                  .offset = 0,
                                                  .sizeBytes = object->sizeBytes(),
                                                  .access = Access::ReadWrite,
                                                  .mappingId = 0,
                                                  .origin = {}}}};
    // Mapped or not: as long as the export lives, no other object is at its address.
    const auto identity = reinterpret_cast<uintptr_t>(object.get());
    return exportSnapshot(owner, kindOf(*object), identity, std::move(snapshot), 0);
}

Result<wire::HandleBytes> IpcService::exportSnapshot(memory::MemoryManager &owner,
                                                     wire::HandleKind kind,
                                                     uint64_t address,
                                                     memory::RangeSnapshot snapshot,
                                                     uint32_t flags) {
    const bool isObject = kind != wire::HandleKind::Range;
    const ExportKey key = {.owner = &owner,
                           .kind = kind,
                           .address = address,
                           .mappingId = isObject ? snapshot.pieces.front().mappingId : 0,
                           .windowBytes = snapshot.windowBytes,
                           .flags = flags};
    if (const auto same = exports_.findSame(key, snapshot)) {
        return same->handle->bytes();
    }
    if (auto reacquired = reacquire(os_, owner, snapshot, config_); !reacquired) {
        return forward(reacquired);
    }
    if (auto travels = requireTravel(snapshot); !travels) {
        return forward(travels);
    }
    const auto server = server_.start();
    if (!server) {
        return std::unexpected(server.error());
    }
    auto fresh = buildExport(
        os_,
        {.serverId = server->id, .rendezvousFd = server->rendezvousFd, .pid = os_.processId()},
        key,
        std::move(snapshot),
        ticketsFit());
    if (!fresh) {
        return forward(fresh);
    }
    const auto shared = exports_.add(std::move(*fresh));
    const wire::HandleBytes bytes = shared->handle->bytes();
    rememberFile(owner, *shared);
    return bytes;
}

/// So that the descriptor in a handle leads back to the object. What was opened here is another's.
void IpcService::rememberFile(const memory::MemoryManager &owner, const Export &shared) {
    const memory::RangeSnapshot &snapshot = shared.snapshot;
    const auto file = shared.handle->namedFile();
    if (file && !owner.isImport(snapshot.address)) {
        files_.add(&owner, *file, snapshot.pieces.front().object, snapshot.address);
    }
}

bool IpcService::ticketsFit() const {
    return PublicNumbers::ofProcess().count() < publicLimit();
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

void IpcService::revokeObject(const memory::MemoryManager &owner,
                              uint64_t address,
                              uint64_t mappingId) {
    exports_.revokeObject(&owner, address, mappingId);
}

Result<uint64_t> IpcService::open(memory::MemoryManager &importer,
                                  const kmd::Device &device,
                                  const wire::HandleBytes &bytes) {
    const auto decoded = wire::decodeHandle(bytes);
    if (!decoded) {
        return std::unexpected(decoded.error());
    }
    if (const auto *whole = std::get_if<wire::IpcHandle>(&*decoded)) {
        return openHandle(importer, device, *whole);
    }
    return openBare(importer, device, std::get<wire::DescriptorOnly>(*decoded).fd);
}

Result<uint64_t> IpcService::openBare(memory::MemoryManager &importer,
                                      const kmd::Device &device,
                                      int fd) {
    auto copy = duplicateForeign(os_, fd);
    if (!copy) {
        return forward(copy);
    }
    const auto which = fmt::format("descriptor {} of the handle", fd);
    if (looksLikeTicket(os_, copy->get())) {
        auto handle = readTicket(os_, copy->get());
        return handle ? openHandle(importer, device, *handle) : forward(handle, which);
    }
    auto found = importer.backend().identify(std::move(*copy));
    if (!found) {
        return forward(found, which);
    }
    const uint64_t windowBytes = found->info.sizeBytes;
    return openDescriptor(importer, device, std::move(*found), windowBytes, nullptr);
}

Result<uint64_t> IpcService::openHandle(memory::MemoryManager &importer,
                                        const kmd::Device &device,
                                        const wire::IpcHandle &handle) {
    if (const auto own = exports_.find(handle.token)) {
        if (handle.sizeBytes != own->snapshot.windowBytes) {
            return fail(Status::InvalidArgument, "the handle's size is not that of its memory");
        }
        return openOwnRange(importer, device, *own);
    }
    if (handle.serverId == server_.id()) {
        return fail(Status::InvalidArgument, "this process no longer shares this handle");
    }
    if (auto file = findItsFile(importer, handle)) {
        return openDescriptor(importer,
                              device,
                              std::move(*file),
                              handle.sizeBytes,
                              std::make_shared<const wire::IpcHandle>(handle));
    }
    return openRemoteRange(os_, importer, device, handle, config_);
}

/// What bytes 0-3 name, where that is the object's own file: a client has moved it here.
std::optional<kmd::FoundObject> IpcService::findItsFile(memory::MemoryManager &importer,
                                                        const wire::IpcHandle &handle) {
    if (handle.kind == wire::HandleKind::Range || handle.fd < 0) {
        return std::nullopt;
    }
    auto copy = os_.duplicate(handle.fd);
    if (!copy) {
        return std::nullopt;
    }
    auto found = importer.backend().identify(std::move(*copy));
    if (!found) {
        return std::nullopt;
    }
    const auto info = os_.fileInfo(found->file.get());
    if (!info || wire::fileIdentity(info->device, info->inode) != handle.fdIdentity) {
        return std::nullopt;
    }
    return std::move(*found);
}

void IpcService::dropOwner(const memory::MemoryManager &owner) {
    exports_.dropOwner(&owner);
    files_.dropOwner(&owner);
}

} // namespace causeway::ipc
