#pragma once

#include "level_zero/api/guard.h"
#include "level_zero/core/driver_slot.h"
#include "shared/base/result.h"
#include "shared/os/fork.h"

#include <level_zero/ze_api.h>

#include <memory>
#include <string_view>

/// From handles to objects and back. What begins with `on` is the frame of an entry point: it runs
/// the body on the object of the first handle, alive during the call, or answers why it cannot.
namespace causeway::api {

/// Errors: Uninitialized.
[[nodiscard]] inline Result<core::Driver *> currentDriver() {
    core::Driver *driver = core::driverSlot().get();
    if (driver != nullptr) {
        return driver;
    }
    if (isForkedChild()) {
        return fail(Status::Uninitialized,
                    "this process was forked from one that had loaded the driver, whose handles "
                    "mean nothing here; zeInit or zeInitDrivers starts the driver afresh");
    }
    return fail(Status::Uninitialized, "neither zeInit nor zeInitDrivers was called");
}

/// Errors of all: Uninitialized, InvalidNullHandle, InvalidArgument.
[[nodiscard]] Result<core::Driver *> findDriver(ze_driver_handle_t hDriver);
[[nodiscard]] Result<const core::Device *> findDevice(ze_device_handle_t hDevice);
[[nodiscard]] Result<std::shared_ptr<core::Context>> findContext(ze_context_handle_t hContext);

/// The same for a device that the context was created for.
[[nodiscard]] Result<const core::Device *> findDeviceIn(const core::Context &context,
                                                        ze_device_handle_t hDevice);

/// An object that is known by its handle alone: `findObject(hEvent, &core::Objects::events,
/// "event")`. Errors: Uninitialized, InvalidNullHandle, InvalidArgument.
template <typename T>
[[nodiscard]] Result<std::shared_ptr<T>> findObject(const void *handle,
                                                    core::HandleRegistry<T> core::Objects::*kind,
                                                    std::string_view name) {
    auto driver = currentDriver();
    if (!driver) {
        return forward(driver);
    }
    if (handle == nullptr) {
        return fail(Status::InvalidNullHandle, "the {} handle is null", name);
    }
    auto found = ((*driver)->objects().*kind).find(handle);
    if (found == nullptr) {
        return fail(Status::InvalidArgument, "{} is not a live {} handle", handle, name);
    }
    return found;
}

/// Ends a handle that findObject has found. Errors: InvalidArgument (another thread was faster).
template <typename T>
[[nodiscard]] Result<void> destroyObject(const void *handle,
                                         core::HandleRegistry<T> core::Objects::*kind,
                                         std::string_view name) {
    if (auto found = findObject(handle, kind, name); !found) {
        return forward(found);
    }
    if ((core::driverSlot().get()->objects().*kind).remove(handle) == nullptr) {
        return fail(Status::InvalidArgument, "{} was destroyed by another thread", handle);
    }
    return {};
}

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

/// Makes an object live; the driver is initialised.
template <typename ZeHandle, typename T>
[[nodiscard]] ZeHandle publish(std::shared_ptr<T> object,
                               core::HandleRegistry<T> core::Objects::*kind) {
    return toHandle<ZeHandle>((core::driverSlot().get()->objects().*kind).add(std::move(object)));
}

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

/// For the other objects: `body` gets the object itself, as a shared pointer.
template <typename T, typename Body>
ze_result_t onObject(std::string_view function,
                     const void *handle,
                     core::HandleRegistry<T> core::Objects::*kind,
                     std::string_view name,
                     Body &&body) noexcept {
    return guarded(function, [&]() -> Result<void> {
        auto object = findObject(handle, kind, name);
        if (!object) {
            return forward(object);
        }
        return body(*object);
    });
}

/// `body(std::shared_ptr<core::CommandList>)`.
template <typename Body>
ze_result_t onCommandList(std::string_view function,
                          ze_command_list_handle_t hCommandList,
                          Body &&body) noexcept {
    return onObject(
        function, hCommandList, &core::Objects::lists, "command list", std::forward<Body>(body));
}

/// `body(std::shared_ptr<core::CommandQueue>)`.
template <typename Body>
ze_result_t onCommandQueue(std::string_view function,
                           ze_command_queue_handle_t hCommandQueue,
                           Body &&body) noexcept {
    return onObject(
        function, hCommandQueue, &core::Objects::queues, "command queue", std::forward<Body>(body));
}

/// `body(std::shared_ptr<core::Event>)`.
template <typename Body>
ze_result_t onEvent(std::string_view function, ze_event_handle_t hEvent, Body &&body) noexcept {
    return onObject(function, hEvent, &core::Objects::events, "event", std::forward<Body>(body));
}

/// `body(std::shared_ptr<core::EventPool>)`.
template <typename Body>
ze_result_t onEventPool(std::string_view function,
                        ze_event_pool_handle_t hEventPool,
                        Body &&body) noexcept {
    return onObject(
        function, hEventPool, &core::Objects::pools, "event pool", std::forward<Body>(body));
}

/// `body(std::shared_ptr<core::Fence>)`.
template <typename Body>
ze_result_t onFence(std::string_view function, ze_fence_handle_t hFence, Body &&body) noexcept {
    return onObject(function, hFence, &core::Objects::fences, "fence", std::forward<Body>(body));
}

} // namespace causeway::api
