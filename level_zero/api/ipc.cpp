#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/handles.h"
#include "level_zero/api/pnext.h"
#include "shared/wire/ipc_handle.h"

#include <bit>
#include <limits>
#include <utility>

namespace causeway::api {
namespace {

static_assert(sizeof(ze_ipc_mem_handle_t) == sizeof(wire::HandleBytes));

wire::HandleBytes toBytes(const ze_ipc_mem_handle_t &handle) {
    return std::bit_cast<wire::HandleBytes>(handle);
}

Result<void> checkExportPointers(const void *ptr, const ze_ipc_mem_handle_t *pIpcHandle) {
    if (ptr == nullptr) {
        return nullPointer("ptr");
    }
    if (pIpcHandle == nullptr) {
        return nullPointer("pIpcHandle");
    }
    return {};
}

Result<void> give(Result<wire::HandleBytes> bytes, ze_ipc_mem_handle_t &handle) {
    if (!bytes) {
        return forward(bytes);
    }
    handle = std::bit_cast<ze_ipc_mem_handle_t>(*bytes);
    return {};
}

Result<wire::HandleBytes> exportObject(core::Context &context, const void *ptr) {
    auto handle = context.exportObject(toAddress(ptr));
    if (!handle && handle.error().status == Status::InvalidArgument) {
        return fail(Status::InvalidArgument,
                    "{}; a range of mapped physical memory is shared with a "
                    "ze_ipc_phys_mem_handle_range_ext_desc_t",
                    handle.error().message);
    }
    return handle;
}

/// A physical memory handle is an address too, of an object that need not be mapped anywhere.
Result<wire::HandleBytes> exportObjectOrHandle(core::Context &context, const void *ptr) {
    if (auto physical = context.findPhysical(ptr)) {
        return context.exportPhysical((*physical)->memory);
    }
    return exportObject(context, ptr);
}

} // namespace

ze_result_t zeMemGetIpcHandle(ze_context_handle_t hContext,
                              const void *ptr,
                              ze_ipc_mem_handle_t *pIpcHandle) {
    return onContext("zeMemGetIpcHandle", hContext, [&](core::Context &context) -> Result<void> {
        if (auto checked = checkExportPointers(ptr, pIpcHandle); !checked) {
            return checked;
        }
        return give(exportObject(context, ptr), *pIpcHandle);
    });
}

ze_result_t zeMemGetIpcHandleWithProperties(ze_context_handle_t hContext,
                                            const void *ptr,
                                            void *pNext,
                                            ze_ipc_mem_handle_t *pIpcHandle) {
    constexpr auto function = "zeMemGetIpcHandleWithProperties";
    return onContext(function, hContext, [&](core::Context &context) -> Result<void> {
        if (auto checked = checkExportPointers(ptr, pIpcHandle); !checked) {
            return checked;
        }
        auto options = readExportOptions(pNext);
        if (!options) {
            return forward(options);
        }
        auto handle = options->rangeBytes
                          ? context.exportRange(toAddress(ptr), *options->rangeBytes)
                          : exportObjectOrHandle(context, ptr);
        return give(std::move(handle), *pIpcHandle);
    });
}

ze_result_t zeMemOpenIpcHandle(ze_context_handle_t hContext,
                               ze_device_handle_t hDevice,
                               ze_ipc_mem_handle_t handle,
                               ze_ipc_memory_flags_t flags,
                               void **pptr) {
    return onContext("zeMemOpenIpcHandle", hContext, [&](core::Context &context) -> Result<void> {
        auto device = findDeviceIn(context, hDevice);
        if (!device) {
            return forward(device);
        }
        constexpr uint32_t known =
            ZE_IPC_MEMORY_FLAG_BIAS_CACHED | ZE_IPC_MEMORY_FLAG_BIAS_UNCACHED;
        if (auto checked = checkFlags("flags", flags, known); !checked) {
            return checked;
        }
        if (pptr == nullptr) {
            return nullPointer("pptr");
        }
        auto address = context.openHandle(**device, toBytes(handle));
        if (!address) {
            return forward(address);
        }
        *pptr = toPointer(*address);
        return {};
    });
}

ze_result_t zeMemCloseIpcHandle(ze_context_handle_t hContext, const void *ptr) {
    return onContext("zeMemCloseIpcHandle", hContext, [&](core::Context &context) -> Result<void> {
        if (ptr == nullptr) {
            return nullPointer("ptr");
        }
        return context.memory().closeImport(toAddress(ptr));
    });
}

ze_result_t zeMemPutIpcHandle(ze_context_handle_t hContext, ze_ipc_mem_handle_t handle) {
    return onContext("zeMemPutIpcHandle", hContext, [&](core::Context &context) -> Result<void> {
        context.putHandle(toBytes(handle));
        return {};
    });
}

ze_result_t zeMemGetIpcHandleFromFileDescriptorExp(ze_context_handle_t hContext,
                                                   uint64_t handle,
                                                   ze_ipc_mem_handle_t *pIpcHandle) {
    constexpr auto function = "zeMemGetIpcHandleFromFileDescriptorExp";
    return onContext(function, hContext, [&](core::Context &context) -> Result<void> {
        if (pIpcHandle == nullptr) {
            return nullPointer("pIpcHandle");
        }
        if (handle > std::numeric_limits<int>::max()) {
            return fail(Status::InvalidArgument, "{} is no file descriptor", handle);
        }
        return give(context.exportDescriptor(static_cast<int>(handle)), *pIpcHandle);
    });
}

ze_result_t zeMemGetFileDescriptorFromIpcHandleExp(ze_context_handle_t hContext,
                                                   ze_ipc_mem_handle_t ipcHandle,
                                                   uint64_t *pHandle) {
    constexpr auto function = "zeMemGetFileDescriptorFromIpcHandleExp";
    return onContext(function, hContext, [&](core::Context &context) -> Result<void> {
        if (pHandle == nullptr) {
            return nullPointer("pHandle");
        }
        auto fd = context.descriptorOf(toBytes(ipcHandle));
        if (!fd) {
            return forward(fd);
        }
        *pHandle = static_cast<uint64_t>(*fd);
        return {};
    });
}

} // namespace causeway::api
