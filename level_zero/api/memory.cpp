#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/external_memory.h"
#include "level_zero/api/handles.h"

namespace causeway::api {
namespace {

Result<void> checkDescriptor(const ze_device_mem_alloc_desc_t *desc) {
    if (desc == nullptr) {
        return nullPointer("device_desc");
    }
    constexpr uint32_t known = ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_CACHED |
                               ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_UNCACHED |
                               ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT;
    if (auto checked = checkFlags("device_desc->flags", desc->flags, known); !checked) {
        return checked;
    }
    if (desc->ordinal != 0) {
        return fail(Status::InvalidArgument,
                    "device_desc->ordinal is {}; the device has one memory",
                    desc->ordinal);
    }
    return {};
}

Result<void> checkDescriptor(const ze_host_mem_alloc_desc_t *desc) {
    if (desc == nullptr) {
        return nullPointer("host_desc");
    }
    constexpr uint32_t known =
        ZE_HOST_MEM_ALLOC_FLAG_BIAS_CACHED | ZE_HOST_MEM_ALLOC_FLAG_BIAS_UNCACHED |
        ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED | ZE_HOST_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT |
        ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY;
    return checkFlags("host_desc->flags", desc->flags, known);
}

/// The common end of the three allocation calls.
Result<void> allocate(core::Context &context,
                      memory::AllocationRequest request,
                      const ExternalMemory &external,
                      void **pptr) {
    if (pptr == nullptr) {
        return nullPointer("pptr");
    }
    request.file = external.file;
    auto address = external.imported ? context.importAllocation(request, *external.imported)
                                     : context.memory().allocate(request);
    if (!address) {
        return forward(address);
    }
    *pptr = toPointer(*address);
    return {};
}

Result<void> freeMemory(core::Context &context, const void *ptr) {
    if (ptr == nullptr) {
        return nullPointer("ptr");
    }
    return context.freeMemory(toAddress(ptr));
}

/// The work that may use any memory of the context. Lost work does not use any.
Result<void> waitForQueues(const core::Context &context) {
    auto driver = currentDriver();
    if (!driver) {
        return forward(driver);
    }
    static_cast<void>(core::synchronizeAll((*driver)->objects().queuesOf(context)));
    return {};
}

ze_memory_type_t toMemoryType(memory::PointerKind kind) {
    switch (kind) {
    case memory::PointerKind::Device:
        return ZE_MEMORY_TYPE_DEVICE;
    case memory::PointerKind::Host:
        return ZE_MEMORY_TYPE_HOST;
    case memory::PointerKind::Shared:
        return ZE_MEMORY_TYPE_SHARED;
    case memory::PointerKind::Unknown:
        break;
    }
    return ZE_MEMORY_TYPE_UNKNOWN;
}

/// Null for none, and for one that ZE_AFFINITY_MASK hides.
ze_device_handle_t deviceHandle(const kmd::Device *device) {
    const core::Driver *driver = core::driverSlot().get();
    const core::Device *shown = driver != nullptr ? driver->deviceOf(device) : nullptr;
    return shown != nullptr ? toHandle(*shown) : nullptr;
}

} // namespace

ze_result_t zeMemAllocDevice(ze_context_handle_t hContext,
                             const ze_device_mem_alloc_desc_t *deviceDesc,
                             size_t size,
                             size_t alignment,
                             ze_device_handle_t hDevice,
                             void **pptr) {
    return onContext("zeMemAllocDevice", hContext, [&](core::Context &context) -> Result<void> {
        auto device = findDeviceIn(context, hDevice);
        if (!device) {
            return forward(device);
        }
        if (auto checked = checkDescriptor(deviceDesc); !checked) {
            return checked;
        }
        auto external = readExternalMemory(deviceDesc->pNext);
        if (!external) {
            return forward(external);
        }
        return allocate(context,
                        {.kind = memory::AllocationKind::Device,
                         .device = &(*device)->kmd(),
                         .sizeBytes = size,
                         .alignment = alignment},
                        *external,
                        pptr);
    });
}

ze_result_t zeMemAllocHost(ze_context_handle_t hContext,
                           const ze_host_mem_alloc_desc_t *hostDesc,
                           size_t size,
                           size_t alignment,
                           void **pptr) {
    return onContext("zeMemAllocHost", hContext, [&](core::Context &context) -> Result<void> {
        if (auto checked = checkDescriptor(hostDesc); !checked) {
            return checked;
        }
        auto external = readExternalMemory(hostDesc->pNext);
        if (!external) {
            return forward(external);
        }
        return allocate(context,
                        {.kind = memory::AllocationKind::Host,
                         .device = &context.hostMemoryDevice().kmd(),
                         .sizeBytes = size,
                         .alignment = alignment},
                        *external,
                        pptr);
    });
}

ze_result_t zeMemAllocShared(ze_context_handle_t hContext,
                             const ze_device_mem_alloc_desc_t *deviceDesc,
                             const ze_host_mem_alloc_desc_t *hostDesc,
                             size_t size,
                             size_t alignment,
                             ze_device_handle_t hDevice,
                             void **pptr) {
    return onContext("zeMemAllocShared", hContext, [&](core::Context &context) -> Result<void> {
        const core::Device *home = &context.hostMemoryDevice();
        if (hDevice != nullptr) {
            auto device = findDeviceIn(context, hDevice);
            if (!device) {
                return forward(device);
            }
            home = *device;
        }
        if (auto checked = checkDescriptor(deviceDesc); !checked) {
            return checked;
        }
        if (auto checked = checkDescriptor(hostDesc); !checked) {
            return checked;
        }
        for (const void *chain : {deviceDesc->pNext, hostDesc->pNext}) {
            if (auto refused = refuseExternalMemory(chain); !refused) {
                return refused;
            }
        }
        return allocate(context,
                        {.kind = memory::AllocationKind::Shared,
                         .device = &home->kmd(),
                         .sizeBytes = size,
                         .alignment = alignment},
                        {},
                        pptr);
    });
}

ze_result_t zeMemFree(ze_context_handle_t hContext, void *ptr) {
    return onContext("zeMemFree", hContext, [&](core::Context &context) -> Result<void> {
        return freeMemory(context, ptr);
    });
}

ze_result_t zeMemFreeExt(ze_context_handle_t hContext,
                         const ze_memory_free_ext_desc_t *pMemFreeDesc,
                         void *ptr) {
    return onContext("zeMemFreeExt", hContext, [&](core::Context &context) -> Result<void> {
        if (pMemFreeDesc == nullptr) {
            return nullPointer("pMemFreeDesc");
        }
        constexpr uint32_t known = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE |
                                   ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
        auto checked = checkFlags("pMemFreeDesc->freePolicy", pMemFreeDesc->freePolicy, known);
        if (!checked) {
            return checked;
        }
        const auto policy = pMemFreeDesc->freePolicy;
        if (ptr != nullptr && (policy & ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE) != 0) {
            if (auto done = waitForQueues(context); !done) {
                return done;
            }
        }
        // What commands still use is always freed when the last of them ends.
        return freeMemory(context, ptr);
    });
}

ze_result_t zeMemGetAllocProperties(ze_context_handle_t hContext,
                                    const void *ptr,
                                    ze_memory_allocation_properties_t *pMemAllocProperties,
                                    ze_device_handle_t *phDevice) {
    constexpr auto function = "zeMemGetAllocProperties";
    return onContext(function, hContext, [&](core::Context &context) -> Result<void> {
        if (ptr == nullptr) {
            return nullPointer("ptr");
        }
        if (pMemAllocProperties == nullptr) {
            return nullPointer("pMemAllocProperties");
        }
        auto query = findDescriptorQuery(pMemAllocProperties->pNext);
        if (!query) {
            return forward(query);
        }
        if (*query != nullptr) {
            auto fd = context.descriptorAt(toAddress(ptr));
            if (!fd) {
                return forward(fd);
            }
            (*query)->fd = *fd;
        }
        const memory::PointerInfo info = context.memory().pointerInfo(toAddress(ptr));
        pMemAllocProperties->type = toMemoryType(info.kind);
        pMemAllocProperties->id = info.id;
        pMemAllocProperties->pageSize = info.pageBytes;
        if (phDevice != nullptr) {
            *phDevice = deviceHandle(info.device);
        }
        return {};
    });
}

ze_result_t zeMemGetAddressRange(ze_context_handle_t hContext,
                                 const void *ptr,
                                 void **pBase,
                                 size_t *pSize) {
    return onContext("zeMemGetAddressRange", hContext, [&](core::Context &context) -> Result<void> {
        if (ptr == nullptr) {
            return nullPointer("ptr");
        }
        auto range = context.memory().addressRange(toAddress(ptr));
        if (!range) {
            return forward(range);
        }
        if (pBase != nullptr) {
            *pBase = toPointer(range->base);
        }
        if (pSize != nullptr) {
            *pSize = range->sizeBytes;
        }
        return {};
    });
}

} // namespace causeway::api
