#pragma once

#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/os/os.h"

#include <atomic>
#include <cstdint>
#include <optional>

namespace causeway::copy {

/// Tells this process that a batch is done. Made unsignalled; a queue signals it, or gives it the
/// error because of which its batch will never be done.
///
/// Threads: everything from any. reset() while a batch that was submitted with it is not done is a
/// race of the application's.
class Fence {
  public:
    explicit Fence(Os &os) : os_(os) {}

    Fence(const Fence &) = delete;
    Fence &operator=(const Fence &) = delete;
    ~Fence() = default;

    /// Waits `timeoutNs` (0: only looks, UINT64_MAX: for ever) until the batch is done: true; false
    /// when time is up. Errors: why it will never be done.
    Result<bool> wait(uint64_t timeoutNs) const EXCLUDES(mutex_);

    /// wait(0).
    [[nodiscard]] Result<bool> query() const EXCLUDES(mutex_) { return wait(0); }

    /// As new.
    void reset() EXCLUDES(mutex_);

    /// For the queue: the batch is done.
    void signal();
    /// For the queue: it will never be.
    void fail(const Error &error) noexcept EXCLUDES(mutex_);

  private:
    Os &os_;
    std::atomic<uint32_t> ended_{0}; ///< the futex
    mutable Mutex mutex_;
    std::optional<Error> error_ GUARDED_BY(mutex_);
};

} // namespace causeway::copy
