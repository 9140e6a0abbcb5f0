#pragma once

#include "level_zero/core/driver.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"

#include <atomic>
#include <memory>

namespace causeway::core {

/// Where entry points find the driver of this process. Empty until zeInit or zeInitDrivers; a build
/// that failed may be tried again. Threads: any.
class DriverSlot {
  public:
    using Builder = Result<std::unique_ptr<Driver>> (*)();

    /// The composition root says how a driver is made, in this process and those forked from it;
    /// before the first `initialize`.
    static void setBuilder(Builder builder);

    /// The driver, built by the first call. Errors: the builder's; Uninitialized without one.
    Result<Driver *> initialize();

    /// Null before initialisation. Lock-free.
    [[nodiscard]] Driver *get() const { return current_.load(std::memory_order_acquire); }

    /// For tests, with no call in progress: puts a driver in place (null: none) and returns the one
    /// that was there.
    std::unique_ptr<Driver> exchange(std::unique_ptr<Driver> driver);

  private:
    Mutex mutex_;
    std::unique_ptr<Driver> driver_ GUARDED_BY(mutex_);
    std::atomic<Driver *> current_ = nullptr;
};

/// The process's slot. A forked child has an empty one: nothing of its parent's driver, with whose
/// threads and locks nobody knows what is, is ever used there. Never destroyed: other threads, and
/// the exit handlers of an application, may call the driver until the very end.
[[nodiscard]] DriverSlot &driverSlot();

} // namespace causeway::core
