#pragma once

#include "shared/base/mutex.h"
#include "shared/os/os.h"

#include <atomic>
#include <cstdint>
#include <set>
#include <string_view>

namespace causeway::kmd::soft {

/// Keeps the process away from vm.max_map_count, where even undoing can fail. The count is an
/// estimate: what /proc/self/maps said last, plus what was admitted since (mappings that went away
/// count until the next look). It looks again when the estimate comes near the limit and when half
/// of what was left then has been admitted. One per backend. Any thread.
///
/// A process that cannot read /proc/self/maps counts the mappings of its own address spaces
/// instead: the note functions are for that and do nothing otherwise.
class MapBudget {
  public:
    /// Mappings kept for undoing what was admitted.
    static constexpr uint64_t spareMaps = 64;

    explicit MapBudget(Os &os);

    /// Before something that can add up to `maps` mappings. OutOfDeviceMemory where fewer than
    /// `spare` would be left. `what` begins the sentence: "binding".
    [[nodiscard]] Result<void> admit(uint64_t maps,
                                     std::string_view what,
                                     uint64_t spare = spareMaps);

    /// The kernel refused what was admitted: others map too, so the next call looks.
    void lookAgain();

    /// [va, va + sizeBytes) is one mapping now.
    void noteMapped(uint64_t va, uint64_t sizeBytes);
    /// Nothing of ours is there any more.
    void noteGone(uint64_t va, uint64_t sizeBytes);

  private:
    void measure() REQUIRES(mutex_);
    [[nodiscard]] uint64_t count() const REQUIRES(mutex_);
    [[nodiscard]] bool hasRoom(uint64_t maps, uint64_t spare) const REQUIRES(mutex_);

    Os &os_;
    Mutex mutex_;
    std::atomic<bool> measurable_ = false;
    uint64_t limit_ GUARDED_BY(mutex_) = 0;
    uint64_t measured_ GUARDED_BY(mutex_) = 0;
    uint64_t admitted_ GUARDED_BY(mutex_) = 0;         ///< since then
    uint64_t leftWhenMeasured_ GUARDED_BY(mutex_) = 0; ///< below limit_
    std::set<uint64_t> edges_ GUARDED_BY(mutex_);      ///< where our mappings begin or end
};

} // namespace causeway::kmd::soft
