#include "level_zero/core/driver_slot.h"

#include "shared/os/fork.h"

#include <utility>

namespace causeway::core {
namespace {

constinit std::atomic<DriverSlot::Builder> chosenBuilder = nullptr;

} // namespace

void DriverSlot::setBuilder(Builder builder) {
    chosenBuilder = builder;
}

Result<Driver *> DriverSlot::initialize() {
    if (Driver *driver = get()) {
        return driver;
    }
    const MutexLock lock(mutex_);
    if (!driver_) {
        const Builder builder = chosenBuilder;
        if (builder == nullptr) {
            return fail(Status::Uninitialized, "no driver was set up in this process");
        }
        auto built = builder();
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
    static constinit PerProcess<DriverSlot> slots;
    return slots.get();
}

} // namespace causeway::core
