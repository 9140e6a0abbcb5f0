#include "source/memory/memory_manager.h"
#include "source/memory/page_rules.h"

namespace causeway::memory {
namespace {

PointerKind kindOf(AllocationKind kind) {
    switch (kind) {
    case AllocationKind::Host:
        return PointerKind::Host;
    case AllocationKind::Shared:
        return PointerKind::Shared;
    case AllocationKind::Device:
        break;
    }
    return PointerKind::Device;
}

PointerKind kindOf(Placement placement) {
    return placement == Placement::Host ? PointerKind::Host : PointerKind::Device;
}

} // namespace

bool MemoryManager::isImport(uint64_t address) const {
    const MutexLock lock(mutex_);
    const auto region = regions_.find(address);
    return region != regions_.end() && region->second.value.import.has_value();
}

PointerInfo MemoryManager::pointerInfo(uint64_t address) const {
    const MutexLock lock(mutex_);
    const auto region = regions_.find(address);
    if (region == regions_.end()) {
        return {};
    }
    const Region &held = region->second.value;
    if (held.allocation) {
        const Allocation &allocation = *held.allocation;
        if (address - region->first >= allocation.sizeBytes) {
            return {};
        }
        const bool host = allocation.kind == AllocationKind::Host;
        return {.kind = kindOf(allocation.kind),
                .id = held.id,
                .pageBytes = preferredPage(rulesOf(*allocation.object), allocation.sizeBytes),
                .device = host ? nullptr : allocation.device};
    }
    const auto mapping = mappings_.find(address);
    if (mapping == mappings_.end()) {
        return {};
    }
    const PhysicalMemory &object = *mapping->second.value.object;
    PointerInfo info = {.kind = kindOf(object.placement()),
                        .id = mapping->second.value.id,
                        .pageBytes = preferredPage(rulesOf(object), object.sizeBytes()),
                        .device = &object.device()};
    if (held.import) {
        if (!held.import->holds(address)) {
            return {};
        }
        info.id = held.id;
        info.device = held.import->device;
    }
    if (info.kind == PointerKind::Host) {
        info.device = nullptr;
    }
    return info;
}

Result<AddressStretch> MemoryManager::addressRange(uint64_t address) const {
    const MutexLock lock(mutex_);
    const auto region = regions_.find(address);
    if (region != regions_.end()) {
        const Region &held = region->second.value;
        if (held.allocation && address - region->first < held.allocation->sizeBytes) {
            return AddressStretch{region->first, held.allocation->sizeBytes};
        }
        if (held.import && held.import->holds(address)) {
            return AddressStretch{held.import->address, held.import->sizeBytes};
        }
        const auto mapping = mappings_.find(address);
        if (held.isReservation() && mapping != mappings_.end()) {
            return wholeMapping(mapping);
        }
    }
    return fail(Status::AddressNotFound, "nothing is allocated or mapped at {:#x}", address);
}

/// A mapping whose access was changed in part lies in several stretches; its id tells them from its
/// neighbours.
AddressStretch MemoryManager::wholeMapping(IntervalMap<Mapping>::const_iterator at) const {
    const uint64_t id = at->second.value.id;
    auto first = at;
    while (first != mappings_.begin()) {
        const auto before = std::prev(first);
        if (before->second.value.id != id || before->second.end != first->first) {
            break;
        }
        first = before;
    }
    uint64_t end = at->second.end;
    for (auto next = std::next(at);
         next != mappings_.end() && next->first == end && next->second.value.id == id;
         ++next) {
        end = next->second.end;
    }
    return {first->first, end - first->first};
}

} // namespace causeway::memory
