#include "source/kmd/soft/bank.h"

#include "shared/base/log.h"
#include "source/kmd/soft/sealed_file.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

namespace causeway::kmd::soft {
namespace {

// A system call each, on the one thread that serves all peers, and each makes all later ones of the
// file slower (README, Banks and leases).
constexpr size_t mostLocksOfALease = 64;

} // namespace

Bank::Bank(Os &os, UniqueFd file, uint64_t sizeBytes)
    : os_(os), file_(std::move(file)), sizeBytes_(sizeBytes), free_(sizeBytes) {}

Result<TravelFd> Bank::exportDescriptor(std::span<const Extent> extents) {
    auto file = os_.reopen(file_.get(), O_RDWR);
    if (!file) {
        if (isDescriptorShortage(file.error()) || file.error().value == ENOMEM) {
            return failWith(file.error(), "opening a bank for a peer");
        }
        return lendForGood(extents);
    }
    auto leased = lease(file->get(), extents);
    if (!leased) {
        return forward(leased);
    }
    return TravelFd::own(std::move(*file));
}

Result<void> Bank::lease(int fd, std::span<const Extent> extents) {
    for (const Extent &extent : coverExtents(extents, mostLocksOfALease)) {
        const auto locked = os_.lockForReading(fd, extent.offset, extent.sizeBytes);
        if (!locked) {
            // Read locks never conflict: only the kernel's memory for locks can have run out.
            return fail(Status::OutOfHostMemory,
                        "{}",
                        describe(locked.error(), "locking a slot for a peer").message);
        }
    }
    return {};
}

TravelFd Bank::lendForGood(std::span<const Extent> extents) {
    const MutexLock lock(mutex_);
    for (const Extent &extent : extents) {
        retire(extent);
    }
    return TravelFd::borrow(file_.get());
}

void Bank::retire(const Extent &extent) {
    auto it = live_.upper_bound(extent.offset);
    if (it != live_.begin()) {
        --it;
    }
    for (; it != live_.end() && it->first < extent.offset + extent.sizeBytes; ++it) {
        if (it->first + it->second.sizeBytes > extent.offset) {
            it->second.retired = true;
        }
    }
}

std::optional<uint64_t> Bank::take(uint64_t sizeBytes, uint64_t alignment, Charge &charge) {
    const MutexLock lock(mutex_);
    StretchNode node = free_.take(sizeBytes, alignment);
    if (node.empty()) {
        return std::nullopt;
    }
    const uint64_t offset = node.key();
    node.mapped().charge = std::move(charge);
    live_.insert(std::move(node));
    return offset;
}

void Bank::release(uint64_t offset) {
    StretchNode node;
    {
        const MutexLock lock(mutex_);
        node = live_.extract(offset);
        ++leaving_;
    }
    giveBack(std::move(node));
}

void Bank::sweep(size_t most) {
    size_t left = 0;
    {
        const MutexLock lock(mutex_);
        left = std::min(most, pending_.size());
    }
    for (; left > 0; --left) {
        StretchNode node = nextPending();
        if (node.empty()) {
            return; // another thread sweeps too
        }
        giveBack(std::move(node));
    }
}

StretchNode Bank::nextPending() {
    const MutexLock lock(mutex_);
    auto it = pending_.lower_bound(nextToSweep_);
    if (it == pending_.end()) {
        it = pending_.begin();
    }
    if (it == pending_.end()) {
        return {};
    }
    nextToSweep_ = it->first + 1;
    ++leaving_;
    return pending_.extract(it);
}

/// While the node is here, it is in none of the maps: no other thread can see the slot.
void Bank::giveBack(StretchNode node) {
    const Fate fate = tryToEmpty(node.key(), node.mapped());
    const MutexLock lock(mutex_);
    --leaving_;
    switch (fate) {
    case Fate::Free:
        node.mapped().charge.giveBack();
        free_.put(std::move(node));
        break;
    case Fate::Pending:
        pending_.insert(std::move(node));
        break;
    case Fate::Retired:
        retired_.insert(std::move(node));
        break;
    }
}

Bank::Fate Bank::tryToEmpty(uint64_t offset, const Stretch &slot) {
    if (slot.retired) {
        return Fate::Retired;
    }
    const auto leased = os_.isLockedByOthers(file_.get(), offset, slot.sizeBytes);
    if (!leased || *leased) {
        return Fate::Pending;
    }
    const auto punched = os_.punchHole(file_.get(), offset, slot.sizeBytes);
    if (!punched) {
        static std::atomic_flag logged;
        if (!logged.test_and_set()) {
            log(LogLevel::Error,
                "a slot of {} bytes is lost: punching a hole failed with errno {}",
                slot.sizeBytes,
                punched.error().value);
        }
        return Fate::Retired;
    }
    return Fate::Free;
}

bool Bank::hasPending() const {
    const MutexLock lock(mutex_);
    return !pending_.empty();
}

bool Bank::idle() const {
    const MutexLock lock(mutex_);
    return live_.empty() && pending_.empty() && retired_.empty() && leaving_ == 0;
}

std::vector<Extent> mergeExtents(std::span<const Extent> extents) {
    std::vector<Extent> merged(extents.begin(), extents.end());
    std::ranges::sort(merged, {}, &Extent::offset);
    size_t used = 0;
    for (const Extent &next : merged) {
        if (used > 0) {
            Extent &last = merged[used - 1];
            if (next.offset - last.offset <= last.sizeBytes) {
                last.sizeBytes =
                    std::max(last.sizeBytes, next.offset - last.offset + next.sizeBytes);
                continue;
            }
        }
        merged[used++] = next;
    }
    merged.resize(used);
    return merged;
}

std::vector<Extent> coverExtents(std::span<const Extent> extents, size_t most) {
    std::vector<Extent> merged = mergeExtents(extents);
    if (merged.size() <= most) {
        return merged;
    }
    // An extent that begins a stretch of its own: the first, and those behind the largest gaps.
    std::vector<size_t> starts(merged.size() - 1);
    std::iota(starts.begin(), starts.end(), size_t{1});
    const auto kept = starts.begin() + static_cast<ptrdiff_t>(most - 1);
    std::ranges::nth_element(starts, kept, std::greater(), [&merged](size_t i) {
        return merged[i].offset - merged[i - 1].offset - merged[i - 1].sizeBytes;
    });
    starts.erase(kept, starts.end());
    std::ranges::sort(starts);
    starts.push_back(merged.size());

    std::vector<Extent> cover;
    size_t first = 0;
    for (const size_t next : starts) {
        const Extent &last = merged[next - 1];
        const uint64_t offset = merged[first].offset;
        cover.push_back({.offset = offset, .sizeBytes = last.offset + last.sizeBytes - offset});
        first = next;
    }
    return cover;
}

} // namespace causeway::kmd::soft
