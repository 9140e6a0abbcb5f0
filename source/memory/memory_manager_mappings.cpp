#include "shared/base/checked.h"
#include "source/memory/memory_manager.h"
#include "source/memory/page_rules.h"

#include <algorithm>

namespace causeway::memory {

/// Returns the end of [va, va + sizeBytes).
Result<uint64_t> MemoryManager::checkPages(uint64_t va, uint64_t sizeBytes) const {
    if (sizeBytes == 0 || !isAligned(sizeBytes, osPageBytes_)) {
        return fail(Status::UnsupportedSize,
                    "size must be a multiple of {} bytes above 0, not {}",
                    osPageBytes_,
                    sizeBytes);
    }
    if (!isAligned(va, osPageBytes_)) {
        return fail(Status::UnsupportedAlignment,
                    "{:#x} is not a multiple of the page size {}",
                    va,
                    osPageBytes_);
    }
    const auto end = checkedAdd(va, sizeBytes);
    if (!end) {
        return fail(Status::InvalidArgument, "{} bytes at {:#x} wrap around", sizeBytes, va);
    }
    return *end;
}

Result<void> MemoryManager::requireReserved(uint64_t va, uint64_t end) const {
    uint64_t at = va;
    for (auto it = regions_.find(va); at < end; ++it) {
        if (it == regions_.end() || it->first > at) {
            return fail(Status::InvalidArgument, "{:#x} is not reserved", at);
        }
        if (!it->second.value.isReservation()) {
            return fail(Status::InvalidArgument,
                        "{:#x} belongs to an {}, not to a reservation",
                        at,
                        it->second.value.import ? "imported range" : "allocation");
        }
        at = it->second.end;
    }
    return {};
}

Result<void> MemoryManager::map(uint64_t va,
                                uint64_t sizeBytes,
                                const PhysicalMemoryRef &object,
                                uint64_t offset,
                                Access access) {
    const uint64_t granularity = rulesOf(*object).granularity;
    if (sizeBytes == 0 || !isAligned(sizeBytes, granularity)) {
        return fail(Status::UnsupportedSize,
                    "a mapping of {} memory must have a multiple of {} bytes above 0, not {}",
                    toString(object->placement()),
                    granularity,
                    sizeBytes);
    }
    if (!isAligned(va, granularity) || !isAligned(offset, granularity)) {
        return fail(Status::UnsupportedAlignment,
                    "address {:#x} and offset {} must be multiples of {}",
                    va,
                    offset,
                    granularity);
    }
    if (!fitsWithin(offset, sizeBytes, object->sizeBytes())) {
        return fail(Status::InvalidArgument,
                    "{} bytes at offset {} do not lie in an object of {} bytes",
                    sizeBytes,
                    offset,
                    object->sizeBytes());
    }
    const auto end = checkedAdd(va, sizeBytes);
    if (!end) {
        return fail(Status::InvalidArgument, "{} bytes at {:#x} wrap around", sizeBytes, va);
    }

    const MutexLock lock(mutex_);
    if (auto reserved = requireReserved(va, *end); !reserved) {
        return reserved;
    }
    if (mappings_.overlaps(va, *end)) {
        return fail(Status::InvalidArgument,
                    "[{:#x}, {:#x}) overlaps the mapping at {:#x}",
                    va,
                    *end,
                    mappings_.firstFrom(va)->first);
    }
    const auto mapping = mappings_.insert(va,
                                          *end,
                                          Mapping{.object = object,
                                                  .offset = offset,
                                                  .access = access,
                                                  .limit = Access::ReadWrite,
                                                  .origin = {},
                                                  .id = nextId()});
    const kmd::Binding binding = {.va = va,
                                  .memory = object.get(),
                                  .offset = offset,
                                  .sizeBytes = sizeBytes,
                                  .access = access};
    auto bound = space_->bind({&binding, 1});
    if (!bound) {
        mappings_.erase(mapping);
    }
    return bound;
}

/// A cut must not go through a page of the object that is mapped there.
Result<void> MemoryManager::requireWholePages(uint64_t va, uint64_t end) const {
    for (const uint64_t cut : {va, end}) {
        const auto it = mappings_.find(cut);
        if (it == mappings_.end() || it->first == cut) {
            continue;
        }
        const uint64_t granularity = rulesOf(*it->second.value.object).granularity;
        if (!isAligned(cut, granularity)) {
            return fail(Status::UnsupportedAlignment,
                        "{:#x} lies within a page of {} bytes of the mapping at {:#x}",
                        cut,
                        granularity,
                        it->first);
        }
    }
    return {};
}

Result<void> MemoryManager::unmap(uint64_t va, uint64_t sizeBytes) {
    const auto end = checkPages(va, sizeBytes);
    if (!end) {
        return std::unexpected(end.error());
    }
    Dropped dropped;
    const MutexLock lock(mutex_);
    if (auto reserved = requireReserved(va, *end); !reserved) {
        return reserved;
    }
    if (auto whole = requireWholePages(va, *end); !whole) {
        return whole;
    }
    if (!mappings_.overlaps(va, *end)) {
        return {};
    }
    const Borders borders(mappings_, va, *end);
    if (auto unbound = space_->unbind(va, sizeBytes); !unbound) {
        borders.undo();
        return unbound;
    }
    mappings_.moveTo(va, *end, dropped.mappings);
    return {};
}

Result<void> MemoryManager::setAccess(uint64_t va, uint64_t sizeBytes, Access access) {
    const auto end = checkPages(va, sizeBytes);
    if (!end) {
        return std::unexpected(end.error());
    }
    const MutexLock lock(mutex_);
    if (!mappings_.covers(va, *end)) {
        return fail(
            Status::InvalidArgument, "nothing is mapped at {:#x}", mappings_.firstGap(va, *end));
    }
    for (auto it = mappings_.find(va); it != mappings_.end() && it->first < *end; ++it) {
        if (access > it->second.value.limit) {
            return fail(Status::InvalidArgument,
                        "the imported range at {:#x} was shared {} and cannot become {}",
                        it->first,
                        toString(it->second.value.limit),
                        toString(access));
        }
    }
    if (auto whole = requireWholePages(va, *end); !whole) {
        return whole;
    }
    const Borders borders(mappings_, va, *end);
    if (auto changed = space_->protect(va, sizeBytes, access); !changed) {
        borders.undo();
        return changed;
    }
    for (auto it = mappings_.find(va); it != mappings_.end() && it->first < *end; ++it) {
        it->second.value.access = access;
    }
    return {};
}

Result<AccessStretch> MemoryManager::access(uint64_t va, uint64_t sizeBytes) const {
    const auto end = checkPages(va, sizeBytes);
    if (!end) {
        return std::unexpected(end.error());
    }
    const MutexLock lock(mutex_);
    AccessStretch stretch;
    uint64_t at = va;
    // Stops once the question is answered: a query of one page does not walk a huge mapped range.
    while (at < *end) {
        const auto region = regions_.find(at);
        if (region == regions_.end() || region->second.value.allocation) {
            break;
        }
        const auto mapping = mappings_.firstFrom(at);
        const bool mapped = mapping != mappings_.end() && mapping->first <= at;
        const Access here = mapped ? mapping->second.value.access : Access::None;
        if (at != va && here != stretch.access) {
            break;
        }
        stretch.access = here;
        if (mapped) {
            at = mapping->second.end;
        } else {
            at = mapping == mappings_.end() ? region->second.end
                                            : std::min(region->second.end, mapping->first);
        }
    }
    if (at == va) {
        return fail(Status::InvalidArgument, "{:#x} is not reserved", va);
    }
    stretch.sizeBytes = at - va;
    return stretch;
}

} // namespace causeway::memory
