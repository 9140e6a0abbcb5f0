// Descriptors of single objects: given to the application, and handles made of them.

#include "source/ipc/importer.h"
#include "source/ipc/ipc_service.h"

#include <algorithm>
#include <utility>

namespace causeway::ipc {
namespace {

uint64_t identityOf(const FileInfo &file) {
    return wire::fileIdentity(file.device, file.inode);
}

/// The file of this one object, for the application.
Result<kmd::Backing *> fileOf(const memory::PhysicalMemory &object, Access access) {
    kmd::Backing &backing = *object.backing();
    if (!backing.canTravel()) {
        return fail(Status::UnsupportedFeature,
                    "the descriptor of imported memory was closed once the memory was mapped");
    }
    if (!backing.holdsOneObject()) {
        return fail(Status::UnsupportedFeature,
                    "the memory shares its file with other objects; one that is made to be "
                    "exported has a file of its own");
    }
    if (access != Access::ReadWrite) {
        return fail(Status::UnsupportedFeature,
                    "the memory is mapped {} and its descriptor would permit more",
                    toString(access));
    }
    return &backing;
}

} // namespace

Result<int> IpcService::descriptorAt(memory::MemoryManager &owner, uint64_t address) {
    const auto snapshot = owner.snapshotObject(address);
    if (!snapshot) {
        return std::unexpected(snapshot.error());
    }
    if (owner.isImport(address)) {
        return fail(Status::UnsupportedFeature,
                    "what a handle opened at {:#x} has no descriptor to give away",
                    address);
    }
    const memory::SnapshotPiece &piece = snapshot->pieces.front();
    const auto file = fileOf(*piece.object, piece.access);
    if (!file) {
        return std::unexpected(file.error());
    }
    const auto published = (*file)->publish(kmd::PublishUntil::NobodyHoldsIt);
    const auto number = published->number();
    if (!number) {
        return std::unexpected(number.error());
    }
    const uint64_t identity = identityOf(number->file);
    // One that a handle has is there already.
    if (PublicNumbers::ofProcess().count() > publicLimit() && !files_.find(&owner, identity)) {
        return fail(Status::OutOfHostMemory,
                    "{} of this process's descriptors are those that applications were told of",
                    publicLimit());
    }
    files_.add(&owner, identity, piece.object, snapshot->address);
    static_cast<void>((*file)->publish(kmd::PublishUntil::MemoryIsGone));
    return number->fd;
}

Result<int> IpcService::descriptorOf(const memory::MemoryManager &owner,
                                     const wire::HandleBytes &bytes) {
    const auto decoded = wire::decodeHandle(bytes);
    if (!decoded) {
        return std::unexpected(decoded.error());
    }
    const auto *handle = std::get_if<wire::IpcHandle>(&*decoded);
    const auto own = handle != nullptr ? exports_.find(handle->token) : nullptr;
    if (own == nullptr || own->key.owner != &owner) {
        return fail(Status::InvalidArgument, "this context does not share such a handle");
    }
    const auto number = own->handle->file();
    if (!number) {
        return std::unexpected(number.error());
    }
    const memory::RangeSnapshot &snapshot = own->snapshot;
    files_.add(&owner, identityOf(number->file), snapshot.pieces.front().object, snapshot.address);
    return number->fd;
}

Result<UniqueFd> IpcService::newDescriptor(const memory::MemoryManager &owner,
                                           const memory::PhysicalMemoryRef &object) {
    const auto file = fileOf(*object, Access::ReadWrite);
    if (!file) {
        return std::unexpected(file.error());
    }
    const kmd::Extent whole = {.offset = 0, .sizeBytes = (*file)->sizeBytes()};
    auto travelling = (*file)->exportDescriptor({&whole, 1});
    if (!travelling) {
        return forward(travelling);
    }
    UniqueFd own = travelling->takeOwned();
    if (!own.valid()) {
        auto copy = os_.duplicate(travelling->get());
        if (!copy) {
            return failWith(copy.error(), "duplicating the descriptor of an object");
        }
        own = std::move(*copy);
    }
    const auto info = os_.fileInfo(own.get());
    if (!info) {
        return failWith(info.error(), "fstat of an object");
    }
    files_.add(&owner, identityOf(*info), object, 0);
    return own;
}

Result<wire::HandleBytes> IpcService::exportDescriptor(memory::MemoryManager &owner, int fd) {
    auto copy = duplicateForeign(os_, fd);
    if (!copy) {
        return forward(copy);
    }
    auto found = owner.backend().identify(std::move(*copy));
    if (!found) {
        return forward(found, fmt::format("descriptor {}", fd));
    }
    const auto info = os_.fileInfo(found->file.get());
    if (!info) {
        return failWith(info.error(), fmt::format("fstat of descriptor {}", fd));
    }
    const uint64_t file = identityOf(*info);
    if (const auto known = files_.find(&owner, file)) {
        return exportKnown(owner, *known);
    }
    auto adopted = adopt(owner, std::move(*found));
    if (!adopted) {
        return forward(adopted);
    }
    auto handle = exportPhysical(owner, *adopted);
    if (handle) {
        files_.add(&owner, file, *adopted, 0); // the next time it is this export again
    }
    return handle;
}

/// As a Get of the address where the object was, if it still is there; else as of its handle.
Result<wire::HandleBytes> IpcService::exportKnown(memory::MemoryManager &owner,
                                                  const FileIndex::Found &known) {
    if (known.address != 0) {
        const auto snapshot = owner.snapshotObject(known.address);
        if (snapshot && snapshot->pieces.front().object == known.object &&
            snapshot->pieces.front().access == Access::ReadWrite) {
            return exportObject(owner, known.address);
        }
    }
    return exportPhysical(owner, known.object);
}

/// Memory of a descriptor that came from elsewhere; it lives as long as it is shared.
Result<memory::PhysicalMemoryRef> IpcService::adopt(memory::MemoryManager &owner,
                                                    kmd::FoundObject found) {
    const auto devices = owner.backend().devices();
    const auto home = std::ranges::find_if(
        devices, [&](const auto &device) { return device->properties().uuid == found.info.owner; });
    const kmd::Device &device = home != devices.end() ? **home : *devices.front();
    if (auto reach = owner.requireReach(device, found.info.owner); !reach) {
        return forward(reach);
    }
    kmd::ImportInfo info = found.info;
    info.keep = kmd::KeepDescriptor::Always;
    return owner.importObject(device, std::move(found.file), info);
}

} // namespace causeway::ipc
