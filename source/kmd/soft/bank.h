#pragma once

#include "shared/base/mutex.h"
#include "shared/os/os.h"
#include "source/kmd/soft/free_stretches.h"
#include "source/kmd/soft/soft_backing.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace causeway::kmd::soft {

/// One large sparse file that holds many objects, each in a slot. Owns the file and the slots'
/// charges. Kept alive by the pool, by memory in it and by exports, so it may outlive the pool. Any
/// thread; no lock is held during system calls.
///
/// A slot is free, live (memory is in it), pending (its memory died, but a peer holds a lease) or
/// retired. It stays charged to the device until it is free: its pages are still in use.
class Bank final : public SoftBacking {
  public:
    /// `file` is sealed, of that size and all zeros. `os` outlives the bank.
    Bank(Os &os, UniqueFd file, uint64_t sizeBytes);

    [[nodiscard]] ObjectKind kind() const override { return ObjectKind::Memfd; }

    [[nodiscard]] uint64_t sizeBytes() const override { return sizeBytes_; }

    [[nodiscard]] bool holdsOneObject() const override { return false; }

    [[nodiscard]] bool canTravel() const override { return true; }

    [[nodiscard]] std::shared_ptr<PublishedFile> publish(PublishUntil) override { return nullptr; }

    [[nodiscard]] int fd() const override { return file_.get(); }

    /// A descriptor with a lease on the extents, which the caller's memory objects occupy. Without
    /// /proc there can be no lease: the bank's own descriptor is lent and the slots retire.
    [[nodiscard]] Result<TravelFd> exportDescriptor(std::span<const Extent> extents) override;

    /// The offset of a zeroed slot, by first fit. `charge` moves in on success only.
    [[nodiscard]] std::optional<uint64_t> take(uint64_t sizeBytes,
                                               uint64_t alignment,
                                               Charge &charge);

    /// The memory in the slot at `offset` is gone.
    void release(uint64_t offset);

    /// Looks again at up to `most` pending slots, each time at the next ones.
    void sweep(size_t most);

    [[nodiscard]] bool hasPending() const;

    /// Nothing live, pending or retired in it.
    [[nodiscard]] bool idle() const;

  private:
    enum class Fate : uint8_t { Free, Pending, Retired };

    [[nodiscard]] Result<void> lease(int fd, std::span<const Extent> extents);
    [[nodiscard]] TravelFd lendForGood(std::span<const Extent> extents);
    void retire(const Extent &extent) REQUIRES(mutex_);
    [[nodiscard]] StretchNode nextPending();
    void giveBack(StretchNode node) EXCLUDES(mutex_);
    [[nodiscard]] Fate tryToEmpty(uint64_t offset, const Stretch &slot);

    Os &os_;
    const UniqueFd file_;
    const uint64_t sizeBytes_;
    mutable Mutex mutex_;
    FreeStretches free_ GUARDED_BY(mutex_);
    Stretches live_ GUARDED_BY(mutex_);
    Stretches pending_ GUARDED_BY(mutex_);
    Stretches retired_ GUARDED_BY(mutex_);
    size_t leaving_ GUARDED_BY(mutex_) = 0; ///< slots that a thread is giving back right now
    uint64_t nextToSweep_ GUARDED_BY(mutex_) = 0;
};

/// In order of offset, adjacent and overlapping ones joined.
[[nodiscard]] std::vector<Extent> mergeExtents(std::span<const Extent> extents);

/// Like mergeExtents, but no more than `most` (above 0): the smallest gaps are covered too.
[[nodiscard]] std::vector<Extent> coverExtents(std::span<const Extent> extents, size_t most);

} // namespace causeway::kmd::soft
