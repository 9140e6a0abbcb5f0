#include "source/memory/memory_manager.h"

#include "shared/base/checked.h"
#include "shared/base/log.h"
#include "source/memory/page_rules.h"
#include "source/memory/reserved_address.h"

#include <algorithm>
#include <atomic>

namespace causeway::memory {

uint64_t nextId() {
    static std::atomic<uint64_t> last{0};
    return ++last;
}

Result<std::unique_ptr<MemoryManager>> MemoryManager::create(kmd::Backend &backend,
                                                             uint64_t osPageBytes) {
    auto pool = backend.createPool();
    if (!pool) {
        return forward(pool);
    }
    auto space = backend.createAddressSpace();
    if (!space) {
        return forward(space);
    }
    return std::unique_ptr<MemoryManager>(
        new MemoryManager(backend, osPageBytes, std::move(*pool), std::move(*space)));
}

MemoryManager::MemoryManager(kmd::Backend &backend,
                             uint64_t osPageBytes,
                             std::unique_ptr<kmd::MemoryPool> pool,
                             std::unique_ptr<kmd::AddressSpace> space)
    : backend_(backend)
    , osPageBytes_(osPageBytes)
    , pool_(std::move(pool))
    , space_(std::move(space)) {}

/// All goes, so nothing is cut at borders, and nothing needs memory. A mapping that cannot be
/// undone now stays until the kernel takes it back: nobody may use it any more, and what it shows
/// of a bank may change.
MemoryManager::~MemoryManager() {
    const MutexLock lock(mutex_);
    for (const auto &[start, region] : regions_) {
        space_->discard(start, region.end - start);
    }
}

// Reservations ----------------------------------------------------------------------------------

Result<uint64_t> MemoryManager::place(uint64_t hint, uint64_t sizeBytes) {
    const kmd::PageRules rules = backend_.devices().front()->pageRules(Placement::Device);
    if (hint != 0 && isAligned(hint, rules.granularity)) {
        // Two reservations can be made adjacent only if a hint is kept that a large page would not
        // permit; so ask for it with the smaller alignment, and take no other address that way.
        auto va = space_->reserve(hint, sizeBytes, rules.granularity);
        if (!va || *va == hint) {
            return va;
        }
        space_->discard(*va, sizeBytes);
    }
    return space_->reserve(0, sizeBytes, preferredPage(rules, sizeBytes));
}

Result<uint64_t> MemoryManager::reserve(uint64_t hint, uint64_t sizeBytes) {
    if (sizeBytes == 0 || !isAligned(sizeBytes, osPageBytes_)) {
        return fail(Status::UnsupportedSize,
                    "a reservation's size must be a multiple of {} bytes above 0, not {}",
                    osPageBytes_,
                    sizeBytes);
    }
    auto va = place(hint, sizeBytes);
    if (!va) {
        return va;
    }
    ReservedAddress held(*space_, *va, sizeBytes);
    const MutexLock lock(mutex_);
    regions_.insert(*va, *va + sizeBytes, Region{.id = nextId(), .allocation = {}, .import = {}});
    held.keep();
    return va;
}

Result<void> MemoryManager::releaseRegion(uint64_t va, uint64_t end, Dropped &dropped) {
    if (regions_.find(va)->second.value.uses > 0) {
        mappings_.moveTo(va, end, retired_.mappings);
        regions_.moveTo(va, end, retired_.regions);
        return {};
    }
    // A mapping may reach into the neighbouring reservation: that part stays.
    const Borders borders(mappings_, va, end);
    if (auto released = space_->release(va, end - va); !released) {
        borders.undo();
        return released;
    }
    mappings_.moveTo(va, end, dropped.mappings);
    regions_.moveTo(va, end, dropped.regions);
    return {};
}

Result<void> MemoryManager::freeReservation(uint64_t va, uint64_t sizeBytes) {
    Dropped dropped;
    const MutexLock lock(mutex_);
    const auto region = regions_.find(va);
    if (region == regions_.end() || region->first != va || !region->second.value.isReservation()) {
        return fail(Status::InvalidArgument, "{:#x} is not the start of a reservation", va);
    }
    const uint64_t end = region->second.end;
    if (end - va != sizeBytes) {
        return fail(Status::InvalidArgument,
                    "the reservation at {:#x} has {} bytes, not {}",
                    va,
                    end - va,
                    sizeBytes);
    }
    if (auto whole = requireWholePages(va, end); !whole) {
        return whole;
    }
    return releaseRegion(va, end, dropped);
}

Result<void> MemoryManager::free(uint64_t va) {
    Dropped dropped;
    const MutexLock lock(mutex_);
    const auto region = regions_.find(va);
    if (region == regions_.end() || region->first != va || !region->second.value.allocation) {
        return fail(Status::InvalidArgument, "{:#x} is not the start of an allocation", va);
    }
    return releaseRegion(va, region->second.end, dropped);
}

} // namespace causeway::memory
