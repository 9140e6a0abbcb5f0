#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/handles.h"
#include "source/memory/page_rules.h"

namespace causeway::api {
namespace {

Result<Access> toAccess(ze_memory_access_attribute_t attribute) {
    switch (attribute) {
    case ZE_MEMORY_ACCESS_ATTRIBUTE_NONE:
        return Access::None;
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE:
        return Access::ReadWrite;
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY:
        return Access::ReadOnly;
    default:
        return fail(Status::InvalidEnumeration,
                    "access is {}, which is no access attribute",
                    static_cast<uint32_t>(attribute));
    }
}

ze_memory_access_attribute_t toAttribute(Access access) {
    switch (access) {
    case Access::ReadOnly:
        return ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY;
    case Access::ReadWrite:
        return ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
    case Access::None:
        break;
    }
    return ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
}

} // namespace

ze_result_t zeVirtualMemReserve(ze_context_handle_t hContext,
                                const void *pStart,
                                size_t size,
                                void **pptr) {
    return onContext("zeVirtualMemReserve", hContext, [&](core::Context &context) -> Result<void> {
        if (pptr == nullptr) {
            return nullPointer("pptr");
        }
        auto address = context.memory().reserve(toAddress(pStart), size);
        if (!address) {
            return forward(address);
        }
        *pptr = toPointer(*address);
        return {};
    });
}

ze_result_t zeVirtualMemFree(ze_context_handle_t hContext, const void *ptr, size_t size) {
    return onContext("zeVirtualMemFree", hContext, [&](core::Context &context) -> Result<void> {
        if (ptr == nullptr) {
            return nullPointer("ptr");
        }
        if (size == 0) {
            return fail(Status::UnsupportedSize, "size is 0");
        }
        return context.memory().freeReservation(toAddress(ptr), size);
    });
}

ze_result_t zeVirtualMemQueryPageSize(ze_context_handle_t hContext,
                                      ze_device_handle_t hDevice,
                                      size_t size,
                                      size_t *pagesize) {
    constexpr auto function = "zeVirtualMemQueryPageSize";
    return onContext(function, hContext, [&](core::Context &context) -> Result<void> {
        auto device = findDeviceIn(context, hDevice);
        if (!device) {
            return forward(device);
        }
        if (pagesize == nullptr) {
            return nullPointer("pagesize");
        }
        *pagesize = memory::preferredPage((*device)->kmd().pageRules(Placement::Device), size);
        return {};
    });
}

ze_result_t zeVirtualMemMap(ze_context_handle_t hContext,
                            const void *ptr,
                            size_t size,
                            ze_physical_mem_handle_t hPhysicalMemory,
                            size_t offset,
                            ze_memory_access_attribute_t access) {
    return onContext("zeVirtualMemMap", hContext, [&](core::Context &context) -> Result<void> {
        auto physical = context.findPhysical(hPhysicalMemory);
        if (!physical) {
            return forward(physical);
        }
        if (ptr == nullptr) {
            return nullPointer("ptr");
        }
        auto wanted = toAccess(access);
        if (!wanted) {
            return forward(wanted);
        }
        return context.memory().map(toAddress(ptr), size, (*physical)->memory, offset, *wanted);
    });
}

ze_result_t zeVirtualMemUnmap(ze_context_handle_t hContext, const void *ptr, size_t size) {
    return onContext("zeVirtualMemUnmap", hContext, [&](core::Context &context) -> Result<void> {
        if (ptr == nullptr) {
            return nullPointer("ptr");
        }
        return context.memory().unmap(toAddress(ptr), size);
    });
}

ze_result_t zeVirtualMemSetAccessAttribute(ze_context_handle_t hContext,
                                           const void *ptr,
                                           size_t size,
                                           ze_memory_access_attribute_t access) {
    constexpr auto function = "zeVirtualMemSetAccessAttribute";
    return onContext(function, hContext, [&](core::Context &context) -> Result<void> {
        if (ptr == nullptr) {
            return nullPointer("ptr");
        }
        auto wanted = toAccess(access);
        if (!wanted) {
            return forward(wanted);
        }
        return context.memory().setAccess(toAddress(ptr), size, *wanted);
    });
}

ze_result_t zeVirtualMemGetAccessAttribute(ze_context_handle_t hContext,
                                           const void *ptr,
                                           size_t size,
                                           ze_memory_access_attribute_t *access,
                                           size_t *outSize) {
    constexpr auto function = "zeVirtualMemGetAccessAttribute";
    return onContext(function, hContext, [&](core::Context &context) -> Result<void> {
        if (ptr == nullptr) {
            return nullPointer("ptr");
        }
        if (access == nullptr) {
            return nullPointer("access");
        }
        if (outSize == nullptr) {
            return nullPointer("outSize");
        }
        auto stretch = context.memory().access(toAddress(ptr), size);
        if (!stretch) {
            return forward(stretch);
        }
        *access = toAttribute(stretch->access);
        *outSize = stretch->sizeBytes;
        return {};
    });
}

} // namespace causeway::api
