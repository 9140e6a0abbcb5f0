#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/external_memory.h"
#include "level_zero/api/handles.h"

namespace causeway::api {
namespace {

Result<Placement> toPlacement(ze_physical_mem_flags_t flags) {
    switch (flags) {
    case 0:
    case ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE:
        return Placement::Device;
    case ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST:
        return Placement::Host;
    default:
        return fail(Status::InvalidEnumeration,
                    "desc->flags is {:#x}; it must be 0, on device or on host",
                    flags);
    }
}

/// Host memory may be asked for without a device.
Result<const core::Device *> findHomeDevice(const core::Context &context,
                                            ze_device_handle_t hDevice,
                                            Placement placement) {
    if (hDevice == nullptr && placement == Placement::Host) {
        return &context.hostMemoryDevice();
    }
    return findDeviceIn(context, hDevice);
}

Result<core::Handle *> createPhysical(core::Context &context,
                                      ze_device_handle_t hDevice,
                                      const ze_physical_mem_desc_t &desc) {
    auto placement = toPlacement(desc.flags);
    if (!placement) {
        return forward(placement);
    }
    auto device = findHomeDevice(context, hDevice, *placement);
    if (!device) {
        return forward(device);
    }
    auto external = readExternalMemory(desc.pNext);
    if (!external) {
        return forward(external);
    }
    if (const auto fd = external->imported) {
        return context.importPhysical(**device, *placement, desc.size, *fd);
    }
    return context.createPhysical(**device, *placement, desc.size, external->file);
}

} // namespace

ze_result_t zePhysicalMemCreate(ze_context_handle_t hContext,
                                ze_device_handle_t hDevice,
                                ze_physical_mem_desc_t *desc,
                                ze_physical_mem_handle_t *phPhysicalMemory) {
    return onContext("zePhysicalMemCreate", hContext, [&](core::Context &context) -> Result<void> {
        if (desc == nullptr) {
            return nullPointer("desc");
        }
        if (phPhysicalMemory == nullptr) {
            return nullPointer("phPhysicalMemory");
        }
        auto object = createPhysical(context, hDevice, *desc);
        if (!object) {
            return forward(object);
        }
        *phPhysicalMemory = toHandle<ze_physical_mem_handle_t>(*object);
        return {};
    });
}

ze_result_t zePhysicalMemGetProperties(ze_context_handle_t hContext,
                                       ze_physical_mem_handle_t hPhysicalMem,
                                       ze_physical_mem_properties_t *pMemProperties) {
    constexpr auto function = "zePhysicalMemGetProperties";
    return onContext(function, hContext, [&](core::Context &context) -> Result<void> {
        auto object = context.findPhysical(hPhysicalMem);
        if (!object) {
            return forward(object);
        }
        if (pMemProperties == nullptr) {
            return nullPointer("pMemProperties");
        }
        auto query = findDescriptorQuery(pMemProperties->pNext);
        if (!query) {
            return forward(query);
        }
        if (*query != nullptr) {
            auto fd = context.newDescriptor((*object)->memory);
            if (!fd) {
                return forward(fd);
            }
            (*query)->fd = fd->release(); // the application's from here on
        }
        pMemProperties->id = (*object)->id;
        pMemProperties->size = (*object)->memory->sizeBytes();
        return {};
    });
}

ze_result_t zePhysicalMemDestroy(ze_context_handle_t hContext,
                                 ze_physical_mem_handle_t hPhysicalMemory) {
    return onContext("zePhysicalMemDestroy", hContext, [&](core::Context &context) -> Result<void> {
        return context.destroyPhysical(hPhysicalMemory);
    });
}

} // namespace causeway::api
