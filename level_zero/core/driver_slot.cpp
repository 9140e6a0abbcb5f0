#include "level_zero/core/driver_slot.h"

#include <utility>

namespace causeway::core {

void DriverSlot::setBuilder(Builder builder) {
    const MutexLock lock(mutex_);
    builder_ = builder;
}

Result<Driver *> DriverSlot::initialize() {
    if (Driver *driver = get()) {
        return driver;
    }
    const MutexLock lock(mutex_);
    if (!driver_) {
        if (builder_ == nullptr) {
            return fail(Status::Uninitialized, "no driver was set up in this process");
        }
        auto built = builder_();
        if (!built) {
            return forward(built);
        }
        driver_ = std::move(*built);
        current_.store(driver_.get(), std::memory_order_release);
    }
    return driver_.get();
}

std::unique_ptr<Driver> DriverSlot::exchange(std::unique_ptr<Driver> driver) {
    const MutexLock lock(mutex_);
    std::swap(driver_, driver);
    current_.store(driver_.get(), std::memory_order_release);
    return driver;
}

DriverSlot &driverSlot() {
    static auto *const slot = new DriverSlot;
    return *slot;
}

} // namespace causeway::core
