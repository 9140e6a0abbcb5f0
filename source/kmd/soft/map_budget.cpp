#include "source/kmd/soft/map_budget.h"

#include "shared/base/checked.h"

#include <algorithm>
#include <new>

namespace causeway::kmd::soft {
namespace {

// What the kernel starts with, and what a large application has besides our mappings: for processes
// without /proc.
constexpr uint64_t assumedLimit = 65530;
constexpr uint64_t assumedElsewhere = 2048;

} // namespace

MapBudget::MapBudget(Os &os) : os_(os) {
    const MutexLock lock(mutex_);
    measure();
}

Result<void> MapBudget::admit(uint64_t maps, std::string_view what, uint64_t spare) {
    const MutexLock lock(mutex_);
    const auto admitted = checkedAdd(admitted_, maps);
    if (!hasRoom(maps, spare) || !admitted || *admitted > leftWhenMeasured_ / 2) {
        measure();
    }
    if (!hasRoom(maps, spare)) {
        return fail(Status::OutOfDeviceMemory,
                    "{}: needs up to {} more mappings, but about {} of {} (vm.max_map_count) are "
                    "in use and {} are kept for undoing",
                    what,
                    maps,
                    count(),
                    limit_,
                    spare);
    }
    admitted_ += maps;
    return {};
}

void MapBudget::lookAgain() {
    const MutexLock lock(mutex_);
    leftWhenMeasured_ = 0;
}

void MapBudget::measure() {
    limit_ = os_.mapCountLimit().value_or(assumedLimit);
    const auto maps = os_.mapCount();
    if (maps) {
        measured_ = *maps;
        measurable_ = true;
        edges_.clear();
    } else {
        // For lack of a descriptor, for instance: what was known before still counts.
        measured_ += admitted_;
    }
    admitted_ = 0;
    leftWhenMeasured_ = limit_ - std::min(limit_, count());
}

uint64_t MapBudget::count() const {
    return measurable_ ? measured_ + admitted_ : assumedElsewhere + edges_.size();
}

bool MapBudget::hasRoom(uint64_t maps, uint64_t spare) const {
    const auto wanted = checkedAdd(maps, spare);
    return wanted && fitsWithin(count(), *wanted, limit_);
}

void MapBudget::noteMapped(uint64_t va, uint64_t sizeBytes) {
    if (measurable_) {
        return;
    }
    const MutexLock lock(mutex_);
    edges_.erase(edges_.upper_bound(va), edges_.lower_bound(va + sizeBytes));
    try {
        edges_.insert(va);
        edges_.insert(va + sizeBytes);
    } catch (const std::bad_alloc &) {
        return; // an edge that is not counted: nobody's call fails for it
    }
}

void MapBudget::noteGone(uint64_t va, uint64_t sizeBytes) {
    if (measurable_) {
        return;
    }
    const MutexLock lock(mutex_);
    edges_.erase(edges_.lower_bound(va), edges_.upper_bound(va + sizeBytes));
}

} // namespace causeway::kmd::soft
