#pragma once

#include "shared/base/result.h"
#include "shared/os/os.h"
#include "source/copy/word_wait.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>

namespace causeway::copy {

/// Now, in the unit of all timestamps: nanoseconds of CLOCK_MONOTONIC_RAW, which is one clock for
/// all processes and devices of a boot.
[[nodiscard]] uint64_t timestampNow(Os &os);

/// When an operation ran, in nanoseconds of CLOCK_MONOTONIC_RAW. Context and global times are the
/// same here: the CPU does the work without being preempted by another context's.
struct EventTimestamps {
    uint64_t globalStart = 0;
    uint64_t globalEnd = 0;
    uint64_t contextStart = 0;
    uint64_t contextEnd = 0;

    bool operator==(const EventTimestamps &) const = default;
};

/// The state of one event as it lies in memory that processes share: 64 bytes, aligned to 64, of
/// which all zeros are an event that is not signalled. It is never constructed there: whoever makes
/// a pool takes zeroed memory, and every process uses it where it has mapped it (`at`).
///
/// | byte | field                                                  |
/// |------|--------------------------------------------------------|
/// |    0 | state: 0 not signalled, anything else signalled; futex |
/// |    4 | zero                                                   |
/// |    8 | globalStart, globalEnd, contextStart, contextEnd       |
/// |   40 | zero                                                   |
///
/// Threads: everything from any thread of any process. A signal publishes what its thread wrote
/// before to those who see the event signalled. A reset that runs together with a signal or a wait
/// is a race of the application's: either may win.
/// Other processes write here as they like: nothing read from it is used for more than the answer.
class alignas(64) EventState {
  public:
    /// The event at `address`: mapped, writable, a multiple of 64.
    static EventState &at(void *address) { return *static_cast<EventState *>(address); }

    /// Signals and wakes all who wait, in any process. The timestamps stay as they are.
    void signal(Os &os);
    /// The same with the times of the operation, which are there once the event is signalled.
    void signalWithTimestamps(Os &os, uint64_t startNs, uint64_t endNs);
    /// Back to not signalled, timestamps 0.
    void reset();

    [[nodiscard]] bool isSignalled() const;
    /// Of the last signal that had any. Consistent as long as nobody signals or resets meanwhile.
    [[nodiscard]] EventTimestamps timestamps() const;

    /// Waits until the event is signalled: true. False: the deadline has passed, or a stop
    /// flag was raised. Errors as of waitUntilSet.
    [[nodiscard]] Result<bool> wait(Os &os,
                                    const Deadline &deadline,
                                    const StopFlags &stop = {}) const;

  private:
    std::atomic<uint32_t> state_;
    [[maybe_unused]] uint32_t zero_;
    std::atomic<uint64_t> globalStart_;
    std::atomic<uint64_t> globalEnd_;
    std::atomic<uint64_t> contextStart_;
    std::atomic<uint64_t> contextEnd_;
    [[maybe_unused]] std::array<uint64_t, 3> zeros_;
};

static_assert(sizeof(EventState) == 64 && alignof(EventState) == 64);
static_assert(std::is_standard_layout_v<EventState>);
static_assert(std::is_trivially_destructible_v<EventState>);
static_assert(std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free);

} // namespace causeway::copy
