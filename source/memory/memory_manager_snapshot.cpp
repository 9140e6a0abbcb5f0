#include "shared/base/checked.h"
#include "source/memory/memory_manager.h"

#include <algorithm>

namespace causeway::memory {
namespace {

std::unexpected<Error> notMapped(uint64_t address, uint64_t window, uint64_t sizeBytes) {
    return fail(Status::AddressNotFound,
                "no mapping at {:#x}, byte {} of the window at {:#x} of {} bytes",
                address,
                address - window,
                window,
                sizeBytes);
}

/// Where a change of access was taken back, a mapping still lies in several stretches. They are one
/// piece, so that the layout is again what it was.
bool continues(const std::vector<SnapshotPiece> &pieces, uint64_t mappingId, Access access) {
    return !pieces.empty() && pieces.back().mappingId == mappingId &&
           pieces.back().access == access;
}

} // namespace

Result<void> MemoryManager::requireExportable(uint64_t va, uint64_t end) const {
    for (auto it = regions_.firstFrom(va); it != regions_.end() && it->first < end; ++it) {
        if (it->second.value.allocation) {
            return fail(Status::InvalidArgument,
                        "the window [{:#x}, {:#x}) includes the allocation at {:#x}; only reserved "
                        "addresses mapped to physical memory can be shared as a range",
                        va,
                        end,
                        it->first);
        }
    }
    for (auto it = regions_.firstFrom(va); it != regions_.end() && it->first < end; ++it) {
        const auto &import = it->second.value.import;
        if (!import) {
            continue;
        }
        // What an imported range holds besides its window fills its pages and is not its owner's.
        const uint64_t from = std::max(va, it->first);
        const uint64_t to = std::min(end, it->second.end);
        if (from < import->address) {
            return notMapped(from, va, end - va);
        }
        const uint64_t windowEnd = import->address + import->sizeBytes;
        if (to > windowEnd) {
            return notMapped(std::max(from, windowEnd), va, end - va);
        }
    }
    return {};
}

Result<RangeSnapshot> MemoryManager::snapshot(uint64_t address, uint64_t sizeBytes) const {
    if (address == 0) {
        return fail(Status::InvalidNullPointer, "a range cannot begin at null");
    }
    if (sizeBytes == 0) {
        return fail(Status::InvalidSize, "a range cannot have 0 bytes");
    }
    const MutexLock lock(mutex_);
    return snapshotOf(address, sizeBytes);
}

Result<RangeSnapshot> MemoryManager::snapshotOf(uint64_t address, uint64_t sizeBytes) const {
    const auto sum = checkedAdd(address, sizeBytes);
    const uint64_t end = sum.value_or(UINT64_MAX);
    const uint64_t first = alignDown(address, osPageBytes_);

    if (auto exportable = requireExportable(address, end); !exportable) {
        return forward(exportable);
    }
    const auto lastPage = alignUp(end, osPageBytes_);
    if (!sum || !lastPage) {
        return fail(Status::AddressNotFound,
                    "{} bytes at {:#x} go beyond the address space",
                    sizeBytes,
                    address);
    }
    RangeSnapshot snapshot = {
        .address = address, .windowBytes = sizeBytes, .leadBytes = address - first, .pieces = {}};
    uint64_t at = first;
    for (auto it = mappings_.firstFrom(first); at < *lastPage; ++it) {
        if (it == mappings_.end() || it->first > at) {
            const uint64_t next = it == mappings_.end() ? end : std::min(end, it->first);
            return fail(
                Status::AddressNotFound,
                "hole at {:#x}, {} bytes, after piece {} of the window at {:#x} of {} bytes",
                std::max(at, address),
                next - std::max(at, address),
                snapshot.pieces.size(),
                address,
                sizeBytes);
        }
        const Mapping &mapping = it->second.value;
        const uint64_t pieceEnd = std::min(it->second.end, *lastPage);
        if (continues(snapshot.pieces, mapping.id, mapping.access)) {
            snapshot.pieces.back().sizeBytes += pieceEnd - at;
        } else {
            snapshot.pieces.push_back({.object = mapping.object,
                                       .offset = mapping.offset + (at - it->first),
                                       .sizeBytes = pieceEnd - at,
                                       .access = mapping.access,
                                       .mappingId = mapping.id,
                                       .origin = mapping.origin});
        }
        at = pieceEnd;
    }
    return snapshot;
}

Result<RangeSnapshot> MemoryManager::snapshotObject(uint64_t address) const {
    const MutexLock lock(mutex_);
    const auto region = regions_.find(address);
    if (region == regions_.end()) {
        return fail(Status::InvalidArgument, "nothing is allocated or mapped at {:#x}", address);
    }
    const Region &held = region->second.value;
    // What fills the pages behind an allocation, or around a window, is nobody's.
    if ((held.allocation && address - region->first >= held.allocation->sizeBytes) ||
        (held.import && !held.import->holds(address))) {
        return fail(Status::InvalidArgument, "nothing is allocated or mapped at {:#x}", address);
    }
    if (held.allocation) {
        const PhysicalMemoryRef &object = held.allocation->object;
        return RangeSnapshot{.address = region->first,
                             .windowBytes = held.allocation->sizeBytes,
                             .leadBytes = 0,
                             .pieces = {{.object = object,
                                         .offset = 0,
                                         .sizeBytes = object->sizeBytes(),
                                         .access = Access::ReadWrite,
                                         .mappingId = held.id,
                                         .origin = {}}}};
    }
    AddressStretch stretch;
    if (held.import) {
        stretch = {held.import->address, held.import->sizeBytes};
    } else if (const auto mapping = mappings_.find(address); mapping != mappings_.end()) {
        stretch = wholeMapping(mapping);
    } else {
        return fail(Status::InvalidArgument, "nothing is mapped at {:#x}", address);
    }
    auto snapshot = snapshotOf(stretch.base, stretch.sizeBytes);
    if (!snapshot) {
        return forward(snapshot);
    }
    const bool whole =
        held.import || stretch.sizeBytes == snapshot->pieces.front().object->sizeBytes();
    if (snapshot->pieces.size() != 1 || !whole) {
        return fail(
            Status::InvalidArgument, "what is mapped at {:#x} is not one whole object", address);
    }
    return snapshot;
}

} // namespace causeway::memory
