#pragma once

#include "shared/base/mutex.h"
#include "shared/base/result.h"

#include <atomic>
#include <optional>
#include <string_view>

namespace causeway::copy {

/// The first failure of any command of the queues that share it. What one queue does may depend on
/// what another did, so they are lost together: nobody waits for a signal that will never come.
/// Threads: any.
class FailureLatch {
  public:
    FailureLatch() = default;
    FailureLatch(const FailureLatch &) = delete;
    FailureLatch &operator=(const FailureLatch &) = delete;
    ~FailureLatch() = default;

    /// The first error stays.
    void set(const Error &error) noexcept EXCLUDES(mutex_);

    /// The first error, if there was one. Lock-free where there was none.
    [[nodiscard]] Result<void> check() const noexcept EXCLUDES(mutex_);

    /// What waiting commands look at.
    [[nodiscard]] const std::atomic<bool> &flag() const { return isSet_; }

  private:
    std::atomic<bool> isSet_{false}; ///< once `error_` is there
    mutable Mutex mutex_;
    std::optional<Error> error_ GUARDED_BY(mutex_);
};

/// An error without its sentence where there is no memory for that: for those who must not fail.
[[nodiscard]] Error errorOf(Status status, std::string_view message) noexcept;
[[nodiscard]] Error copyOf(const Error &error) noexcept;

} // namespace causeway::copy
