#pragma once

#include "shared/base/mutex.h"

#include <atomic>
#include <cstdint>
#include <unordered_map>

namespace causeway {

/// The numbers of descriptors that applications were told of, in this process. Some clients close
/// what is not theirs; the kernel then gives the number to whoever asks next, which can be this
/// driver, and for the same file. So whoever tells of a number claims it, and every descriptor that
/// the driver is given ends the claim on its number: the former holder must not touch it any more.
/// Any thread.
class PublicNumbers {
  public:
    using Claim = uint64_t; ///< 0: none

    /// The one of this process, which has one space of numbers.
    static PublicNumbers &ofProcess();

    /// Ends an earlier claim.
    [[nodiscard]] Claim claim(int fd);

    [[nodiscard]] bool holds(int fd, Claim claim) const;

    void giveUp(int fd, Claim claim);

    /// The kernel has just given us this number.
    void given(int fd);

    [[nodiscard]] size_t count() const { return count_; }

  private:
    mutable Mutex mutex_;
    std::unordered_map<int, Claim> claims_ GUARDED_BY(mutex_);
    Claim last_ GUARDED_BY(mutex_) = 0;
    std::atomic<size_t> count_ = 0; ///< of claims: most descriptors are given where there are none
};

} // namespace causeway
