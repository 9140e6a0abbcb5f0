#pragma once

#include <level_zero/ze_api.h>
#include <level_zero/ze_ipc_phys_mem_handle_range.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

/// Level Zero as both roles use it: initialisation, calls that old loaders lack, errors, owners.
///
/// A program that may ask for a loader of version 1.27 or newer simply calls zeInitDrivers,
/// zeMemGetIpcHandleWithProperties and the others by name. This one also runs with the older ones
/// of today's distributions: it looks these few up in the loader, and where that lacks one, asks
/// the driver for it.
namespace range_demo {

/// Initialises Level Zero in this process and returns the first driver that offers the range
/// extension. Throws where there is none.
ze_driver_handle_t initialiseDriver();

// From here on only after initialiseDriver().

/// zeMemGetIpcHandleWithProperties
ze_result_t getIpcHandleWithProperties(ze_context_handle_t context,
                                       const void *ptr,
                                       void *pNext,
                                       ze_ipc_mem_handle_t *handle);

/// zeMemPutIpcHandle
ze_result_t putIpcHandle(ze_context_handle_t context, ze_ipc_mem_handle_t handle);

/// Throws with the result's name and the driver's explanation, unless SUCCESS.
void require(ze_result_t result, std::string_view call);

/// For destructors: prints a failure to the standard error, and remembers it.
void cleanUp(ze_result_t result, std::string_view call) noexcept;
bool cleanUpFailed();

struct DestroyContext {
    void operator()(ze_context_handle_t context) const noexcept {
        cleanUp(zeContextDestroy(context), "zeContextDestroy");
    }
};

struct DestroyPhysicalMemory {
    ze_context_handle_t context = nullptr;

    void operator()(ze_physical_mem_handle_t memory) const noexcept {
        cleanUp(zePhysicalMemDestroy(context, memory), "zePhysicalMemDestroy");
    }
};

struct FreeReservation {
    ze_context_handle_t context = nullptr;
    size_t sizeBytes = 0;

    void operator()(void *address) const noexcept {
        cleanUp(zeVirtualMemFree(context, address, sizeBytes), "zeVirtualMemFree");
    }
};

struct Unmap {
    ze_context_handle_t context = nullptr;
    size_t sizeBytes = 0;

    void operator()(void *address) const noexcept {
        cleanUp(zeVirtualMemUnmap(context, address, sizeBytes), "zeVirtualMemUnmap");
    }
};

struct CloseIpcHandle {
    ze_context_handle_t context = nullptr;

    void operator()(void *address) const noexcept {
        cleanUp(zeMemCloseIpcHandle(context, address), "zeMemCloseIpcHandle");
    }
};

using Context = std::unique_ptr<std::remove_pointer_t<ze_context_handle_t>, DestroyContext>;
using PhysicalMemory =
    std::unique_ptr<std::remove_pointer_t<ze_physical_mem_handle_t>, DestroyPhysicalMemory>;
using Reservation = std::unique_ptr<void, FreeReservation>;
using Mapping = std::unique_ptr<void, Unmap>;
using ImportedView = std::unique_ptr<void, CloseIpcHandle>;

/// What every other call needs, on the first device of the driver.
struct Session {
    ze_device_handle_t device = nullptr;
    std::string deviceName;
    Context context;
};

/// Calls initialiseDriver().
Session openSession();

} // namespace range_demo
