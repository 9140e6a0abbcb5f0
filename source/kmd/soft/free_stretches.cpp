#include "source/kmd/soft/free_stretches.h"

#include "shared/base/checked.h"

#include <iterator>

namespace causeway::kmd::soft {

FreeStretches::FreeStretches(uint64_t sizeBytes) {
    free_.emplace(0, Stretch{.sizeBytes = sizeBytes});
}

StretchNode FreeStretches::take(uint64_t sizeBytes, uint64_t alignment) {
    for (auto it = free_.begin(); it != free_.end(); ++it) {
        const auto offset = alignUp(it->first, alignment);
        if (offset && fitsWithin(*offset - it->first, sizeBytes, it->second.sizeBytes)) {
            return carve(it, *offset, sizeBytes);
        }
    }
    return {};
}

StretchNode FreeStretches::carve(Stretches::iterator from, uint64_t offset, uint64_t sizeBytes) {
    const uint64_t before = offset - from->first;
    const uint64_t behind = from->second.sizeBytes - before - sizeBytes;
    // All nodes are made before the first change.
    Stretches fresh;
    fresh.emplace(offset, Stretch{.sizeBytes = sizeBytes});
    if (behind > 0) {
        fresh.emplace(offset + sizeBytes, Stretch{.sizeBytes = behind});
    }
    StretchNode taken = fresh.extract(offset);
    if (before > 0) {
        from->second.sizeBytes = before;
    } else {
        free_.erase(from);
    }
    free_.merge(fresh);
    return taken;
}

void FreeStretches::put(StretchNode node) {
    auto it = free_.insert(std::move(node)).position;
    const auto next = std::next(it);
    if (next != free_.end() && it->first + it->second.sizeBytes == next->first) {
        it->second.sizeBytes += next->second.sizeBytes;
        free_.erase(next);
    }
    if (it == free_.begin()) {
        return;
    }
    const auto before = std::prev(it);
    if (before->first + before->second.sizeBytes == it->first) {
        before->second.sizeBytes += it->second.sizeBytes;
        free_.erase(it);
    }
}

} // namespace causeway::kmd::soft
