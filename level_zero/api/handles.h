#pragma once

#include "level_zero/api/guard.h"
#include "level_zero/core/driver_slot.h"
#include "shared/base/result.h"

#include <level_zero/ze_api.h>

#include <memory>
#include <string_view>

/// From handles to objects and back. What begins with `on` is the frame of an entry point: it runs
/// the body on the object of the first handle, alive during the call, or answers why it cannot.
namespace causeway::api {

/// Errors: Uninitialized.
[[nodiscard]] inline Result<core::Driver *> currentDriver() {
    core::Driver *driver = core::driverSlot().get();
    if (driver == nullptr) {
        return fail(Status::Uninitialized, "neither zeInit nor zeInitDrivers was called");
    }
    return driver;
}

/// Errors of all: Uninitialized, InvalidNullHandle, InvalidArgument.
[[nodiscard]] Result<core::Driver *> findDriver(ze_driver_handle_t hDriver);
[[nodiscard]] Result<const core::Device *> findDevice(ze_device_handle_t hDevice);
[[nodiscard]] Result<std::shared_ptr<core::Context>> findContext(ze_context_handle_t hContext);

/// The same for a device that the context was created for.
[[nodiscard]] Result<const core::Device *> findDeviceIn(const core::Context &context,
                                                        ze_device_handle_t hDevice);

// Handles are addresses of objects; the SDK declares them as pointers to structures that nobody
// defines, which makes the casts necessary.
// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
[[nodiscard]] inline ze_driver_handle_t toHandle(core::Driver &driver) {
    return reinterpret_cast<ze_driver_handle_t>(&driver);
}

[[nodiscard]] inline ze_device_handle_t toHandle(const core::Device &device) {
    // The application cannot look inside; constness ends where the C interface begins.
    return reinterpret_cast<ze_device_handle_t>(const_cast<core::Device *>(&device));
}

/// For contexts, physical memory and what else can be destroyed.
template <typename ZeHandle>
[[nodiscard]] ZeHandle toHandle(core::Handle *handle) {
    return reinterpret_cast<ZeHandle>(handle);
}

// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

template <typename Body>
ze_result_t onDriver(std::string_view function, ze_driver_handle_t hDriver, Body &&body) noexcept {
    return guarded(function, [&]() -> Result<void> {
        auto driver = findDriver(hDriver);
        if (!driver) {
            return forward(driver);
        }
        return body(**driver);
    });
}

template <typename Body>
ze_result_t onDevice(std::string_view function, ze_device_handle_t hDevice, Body &&body) noexcept {
    return guarded(function, [&]() -> Result<void> {
        auto device = findDevice(hDevice);
        if (!device) {
            return forward(device);
        }
        return body(**device);
    });
}

template <typename Body>
ze_result_t onContext(std::string_view function,
                      ze_context_handle_t hContext,
                      Body &&body) noexcept {
    return guarded(function, [&]() -> Result<void> {
        auto context = findContext(hContext);
        if (!context) {
            return forward(context);
        }
        return body(**context);
    });
}

} // namespace causeway::api
