#include "shared/base/checked.h"
#include "source/memory/memory_manager.h"

#include <string_view>

namespace causeway::memory {
namespace {

std::string_view nameOf(Access needed) {
    return needed == Access::ReadWrite ? "written" : "read";
}

} // namespace

AddressUse::~AddressUse() {
    if (manager_ != nullptr && region_ != 0) {
        manager_->endUse(region_);
    }
}

Result<void> AddressUse::check() const {
    if (window_.sizeBytes == 0) {
        return {};
    }
    return manager_->checkUse(region_, window_.address, window_.sizeBytes, window_.needed);
}

Result<AddressUse> MemoryManager::use(uint64_t address, uint64_t sizeBytes, Access needed) {
    AddressUse use;
    const auto end = checkedAdd(address, sizeBytes);
    if (!end) {
        return fail(Status::InvalidArgument,
                    "{} bytes at {:#x} go beyond the address space",
                    sizeBytes,
                    address);
    }
    const MutexLock lock(mutex_);
    const auto region = regions_.firstFrom(address);
    if (sizeBytes == 0 || region == regions_.end() || region->first >= *end) {
        return use;
    }
    if (auto usable = requireUsable(address, *end, needed); !usable) {
        return forward(usable);
    }
    if (!region->second.value.isReservation()) {
        ++region->second.value.uses;
        use.region_ = region->first;
    }
    if (!region->second.value.allocation) {
        use.window_ = {address, sizeBytes, needed};
    }
    use.manager_ = this;
    return use;
}

/// Some region overlaps the window: it must hold all of it, mapped with the access that is needed.
Result<void> MemoryManager::requireUsable(uint64_t address, uint64_t end, Access needed) const {
    const auto region = regions_.find(address);
    if (region == regions_.end()) {
        return fail(Status::InvalidArgument,
                    "{} bytes at {:#x} begin outside of the driver's memory and reach into it",
                    end - address,
                    address);
    }
    const Region &held = region->second.value;
    std::optional<AddressStretch> whole; // of an allocation or an import
    if (held.allocation) {
        whole = {region->first, held.allocation->sizeBytes};
    } else if (held.import) {
        whole = {held.import->address, held.import->sizeBytes};
    }
    if (whole) {
        if (address < whole->base || end - whole->base > whole->sizeBytes) {
            return fail(Status::InvalidArgument,
                        "{} bytes at {:#x} reach beyond the {} bytes at {:#x}",
                        end - address,
                        address,
                        whole->sizeBytes,
                        whole->base);
        }
        if (held.allocation) {
            return {};
        }
    }
    return requireAccess(mappings_, address, end, needed);
}

Result<void> MemoryManager::requireAccess(const IntervalMap<Mapping> &mappings,
                                          uint64_t address,
                                          uint64_t end,
                                          Access needed) {
    uint64_t at = address;
    for (auto it = mappings.find(address); at < end; ++it) {
        if (it == mappings.end() || it->first > at) {
            return fail(Status::InvalidArgument,
                        "nothing is mapped at {:#x}, byte {} of {} at {:#x}",
                        at,
                        at - address,
                        end - address,
                        address);
        }
        if (it->second.value.access < needed) {
            return fail(Status::InvalidArgument,
                        "the mapping at {:#x} must not be {}",
                        it->first,
                        nameOf(needed));
        }
        at = it->second.end;
    }
    return {};
}

Result<void> MemoryManager::checkUse(uint64_t region,
                                     uint64_t address,
                                     uint64_t sizeBytes,
                                     Access needed) const {
    const MutexLock lock(mutex_);
    // An import that was closed meanwhile lies there as it was. Addresses of a reservation are not
    // held: what is retired there is somebody else's.
    const bool isRetired = region != 0 && retired_.regions.find(region) != retired_.regions.end();
    const auto &mappings = isRetired ? retired_.mappings : mappings_;
    if (auto usable = requireAccess(mappings, address, address + sizeBytes, needed); !usable) {
        return fail(Status::DeviceLost,
                    "a command met a page fault: {}; when it was recorded there was",
                    usable.error().message);
    }
    return {};
}

void MemoryManager::endUse(uint64_t va) {
    Dropped dropped; // after the lock
    const MutexLock lock(mutex_);
    if (const auto region = regions_.find(va); region != regions_.end()) {
        --region->second.value.uses;
        return;
    }
    const auto retired = retired_.regions.find(va);
    if (--retired->second.value.uses > 0) {
        return;
    }
    const uint64_t end = retired->second.end;
    retired_.mappings.moveTo(va, end, dropped.mappings);
    retired_.regions.moveTo(va, end, dropped.regions);
    space_->discard(va, end - va);
}

} // namespace causeway::memory
