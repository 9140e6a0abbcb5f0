#pragma once

#include "shared/base/result.h"
#include "shared/os/os.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace causeway::copy {

/// When a wait gives up. A value; any thread.
class Deadline {
  public:
    static Deadline never() { return Deadline(std::nullopt); }

    /// `timeoutNs` from now. 0: has passed already, so that a wait only looks. UINT64_MAX, and
    /// whatever is beyond the clock's range: never.
    static Deadline after(Os &os, uint64_t timeoutNs);

    /// Nothing: never.
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> when() const { return at_; }

    [[nodiscard]] bool hasPassed(Os &os) const { return at_ && os.now() >= *at_; }

    /// Until the deadline, at most `limit`, not below 0.
    [[nodiscard]] std::chrono::nanoseconds remaining(Os &os, std::chrono::nanoseconds limit) const;

  private:
    explicit Deadline(std::optional<std::chrono::steady_clock::time_point> at) : at_(at) {}

    std::optional<std::chrono::steady_clock::time_point> at_;
};

/// Sets `word` to `value`, which is not 0, and wakes all who wait for it, in any process. All that
/// the caller wrote before is seen by those who find the word set.
void setAndWake(Os &os, std::atomic<uint32_t> &word, uint32_t value);

/// What ends a wait early: any of two flags.
class StopFlags {
  public:
    StopFlags() = default;

    explicit StopFlags(const std::atomic<bool> &first, const std::atomic<bool> *second = nullptr)
        : first_(&first), second_(second) {}

    [[nodiscard]] bool raised() const {
        return (first_ != nullptr && *first_) || (second_ != nullptr && *second_);
    }

  private:
    const std::atomic<bool> *first_ = nullptr;
    const std::atomic<bool> *second_ = nullptr;
};

/// Waits until `word` is not 0: looks for some microseconds, then sleeps. True: it is set. False:
/// the deadline has passed or a stop flag was raised (which is noticed within 100 ms).
///
/// The word may lie in memory that other processes write: whatever they do, the wait ends at its
/// deadline. A signaller that dies between setting the word and waking its waiters delays them by
/// 100 ms at most. Any thread.
/// Errors: those of futex(2), which a mapped word does not cause.
Result<bool> waitUntilSet(Os &os,
                          const std::atomic<uint32_t> &word,
                          const Deadline &deadline,
                          const StopFlags &stop = {});

} // namespace causeway::copy
