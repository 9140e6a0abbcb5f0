#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/handles.h"

#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

namespace causeway::api {
namespace {

/// Without repetitions, in order.
Result<std::vector<const core::Device *>> findDevices(std::span<const ze_device_handle_t> handles) {
    std::vector<const core::Device *> devices;
    for (const ze_device_handle_t handle : handles) {
        auto device = findDevice(handle);
        if (!device) {
            return forward(device, "phDevices");
        }
        if (std::ranges::find(devices, *device) == devices.end()) {
            devices.push_back(*device);
        }
    }
    return devices;
}

Result<void> createContext(core::Driver &driver,
                           const ze_context_desc_t *desc,
                           std::span<const ze_device_handle_t> handles,
                           ze_context_handle_t *phContext) {
    if (desc == nullptr) {
        return nullPointer("desc");
    }
    if (phContext == nullptr) {
        return nullPointer("phContext");
    }
    if (auto checked = checkFlags("desc->flags", desc->flags, ZE_CONTEXT_FLAG_TBD); !checked) {
        return checked;
    }
    auto devices = findDevices(handles);
    if (!devices) {
        return forward(devices);
    }
    auto context = driver.createContext(std::move(*devices));
    if (!context) {
        return forward(context);
    }
    *phContext = toHandle<ze_context_handle_t>(*context);
    return {};
}

/// Memory of the devices that there are is where it is: nothing migrates and nothing is evicted, so
/// that only the arguments are judged.
ze_result_t onResidency(const char *function,
                        ze_context_handle_t hContext,
                        ze_device_handle_t hDevice,
                        const void *ptr,
                        size_t size) {
    return onContext(function, hContext, [&](core::Context &context) -> Result<void> {
        if (auto device = findDeviceIn(context, hDevice); !device) {
            return forward(device);
        }
        if (ptr == nullptr) {
            return nullPointer("ptr");
        }
        if (size == 0) {
            return fail(Status::InvalidSize, "the size is 0");
        }
        return context.require(toAddress(ptr), size, Access::None);
    });
}

} // namespace

ze_result_t zeContextCreate(ze_driver_handle_t hDriver,
                            const ze_context_desc_t *desc,
                            ze_context_handle_t *phContext) {
    return onDriver("zeContextCreate", hDriver, [&](core::Driver &driver) -> Result<void> {
        return createContext(driver, desc, {}, phContext);
    });
}

ze_result_t zeContextCreateEx(ze_driver_handle_t hDriver,
                              const ze_context_desc_t *desc,
                              uint32_t numDevices,
                              ze_device_handle_t *phDevices,
                              ze_context_handle_t *phContext) {
    return onDriver("zeContextCreateEx", hDriver, [&](core::Driver &driver) -> Result<void> {
        if (phDevices == nullptr && numDevices > 0) {
            return fail(Status::InvalidSize, "phDevices is null and numDevices {}", numDevices);
        }
        return createContext(driver, desc, {phDevices, numDevices}, phContext);
    });
}

ze_result_t zeContextDestroy(ze_context_handle_t hContext) {
    return guarded("zeContextDestroy", [&]() -> Result<void> {
        auto driver = currentDriver();
        if (!driver) {
            return forward(driver);
        }
        return (*driver)->destroyContext(hContext);
    });
}

ze_result_t zeContextGetStatus(ze_context_handle_t hContext) {
    // Once a command has failed, the work of all queues of the context is lost.
    return onContext("zeContextGetStatus", hContext, [](core::Context &context) {
        return context.failures().check();
    });
}

ze_result_t zeContextSystemBarrier(ze_context_handle_t hContext, ze_device_handle_t hDevice) {
    return onContext(
        "zeContextSystemBarrier", hContext, [&](core::Context &context) -> Result<void> {
            if (auto device = findDeviceIn(context, hDevice); !device) {
                return forward(device);
            }
            std::atomic_thread_fence(std::memory_order_seq_cst);
            return {};
        });
}

ze_result_t zeContextMakeMemoryResident(ze_context_handle_t hContext,
                                        ze_device_handle_t hDevice,
                                        void *ptr,
                                        size_t size) {
    return onResidency("zeContextMakeMemoryResident", hContext, hDevice, ptr, size);
}

ze_result_t zeContextEvictMemory(ze_context_handle_t hContext,
                                 ze_device_handle_t hDevice,
                                 void *ptr,
                                 size_t size) {
    return onResidency("zeContextEvictMemory", hContext, hDevice, ptr, size);
}

} // namespace causeway::api
