#include "level_zero/core/host_pointers.h"

#include "shared/base/checked.h"

namespace causeway::core {

Result<void> HostPointers::add(uint64_t address, uint64_t sizeBytes) {
    const auto end = checkedAdd(address, sizeBytes);
    if (sizeBytes == 0 || !end) {
        return fail(Status::InvalidSize, "{} bytes at {:#x} are no memory", sizeBytes, address);
    }
    const MutexLock lock(mutex_);
    const auto holder = stretches_.find(address);
    if (holder != stretches_.end() && *end <= holder->second.end) {
        return {};
    }
    if (stretches_.overlaps(address, *end)) {
        return fail(Status::OverlappingRegions,
                    "a part of the {} bytes at {:#x} was imported before",
                    sizeBytes,
                    address);
    }
    stretches_.insert(address, *end, {});
    return {};
}

Result<void> HostPointers::remove(uint64_t address) {
    const MutexLock lock(mutex_);
    const auto holder = stretches_.find(address);
    if (holder == stretches_.end() || holder->first != address) {
        return fail(Status::InvalidArgument, "{:#x} is no imported pointer", address);
    }
    stretches_.erase(holder);
    return {};
}

Result<uint64_t> HostPointers::baseOf(uint64_t address) const {
    const MutexLock lock(mutex_);
    const auto holder = stretches_.find(address);
    if (holder == stretches_.end()) {
        return fail(Status::InvalidArgument, "{:#x} lies in no imported memory", address);
    }
    return holder->first;
}

} // namespace causeway::core
