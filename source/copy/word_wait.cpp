#include "source/copy/word_wait.h"

#include "shared/base/log.h"

#include <algorithm>
#include <cerrno>

namespace causeway::copy {
namespace {

using std::chrono::nanoseconds;

// Sleeping and being woken costs some 10 us: what is signalled sooner should not pay for it.
constexpr int spins = 128;

// How long a stop flag, or a word whose signaller died before its wake, goes unnoticed.
constexpr nanoseconds longestSleep = std::chrono::milliseconds(100);

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

bool isSet(const std::atomic<uint32_t> &word) {
    return word.load(std::memory_order_acquire) != 0;
}

bool isSetSoon(const std::atomic<uint32_t> &word) {
    for (int i = 0; i < spins; ++i) {
        if (isSet(word)) {
            return true;
        }
        relax();
    }
    return false;
}

/// What ends a sleep without being a failure.
bool isOrdinary(Errno error) {
    return error.value == EAGAIN || error.value == EINTR || error.value == ETIMEDOUT;
}

} // namespace

Deadline Deadline::after(Os &os, uint64_t timeoutNs) {
    const auto now = os.now();
    const auto range = std::chrono::steady_clock::time_point::max() - now;
    if (timeoutNs >= static_cast<uint64_t>(range.count())) {
        return never();
    }
    return Deadline(now + nanoseconds(timeoutNs));
}

nanoseconds Deadline::remaining(Os &os, nanoseconds limit) const {
    if (!at_) {
        return limit;
    }
    return std::clamp(nanoseconds(*at_ - os.now()), nanoseconds(0), limit);
}

void setAndWake(Os &os, std::atomic<uint32_t> &word, uint32_t value) {
    word.store(value, std::memory_order_release);
    if (const auto woken = os.futexWake(word); !woken) {
        // The waiters find out by themselves when they next look.
        log(LogLevel::Debug, "waking the waiters of a signal: errno {}", woken.error().value);
    }
}

Result<bool> waitUntilSet(Os &os,
                          const std::atomic<uint32_t> &word,
                          const Deadline &deadline,
                          const StopFlags &stop) {
    if (isSet(word)) {
        return true;
    }
    if (deadline.hasPassed(os)) {
        return false;
    }
    if (isSetSoon(word)) {
        return true;
    }
    for (;;) {
        const nanoseconds sleep = deadline.remaining(os, longestSleep);
        if (sleep == nanoseconds(0) || stop.raised()) {
            return isSet(word);
        }
        const auto slept = os.futexWait(word, 0, sleep);
        if (!slept && !isOrdinary(slept.error())) {
            return failWith(slept.error(), "futex wait for a signal");
        }
        if (isSet(word)) {
            return true;
        }
    }
}

} // namespace causeway::copy
