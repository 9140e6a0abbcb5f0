#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/external_memory.h"
#include "level_zero/api/handles.h"
#include "source/copy/commands.h"

#include <algorithm>

/// What a device says of itself. It runs no kernels (the module properties say so), so limits that
/// only kernels could meet are nominal: small, and never 0, since clients divide by them.
namespace causeway::api {
namespace {

constexpr uint32_t nominalGroupItems = 1024;
constexpr uint32_t nominalGroupItemsZ = 64;
constexpr uint32_t nominalGroups = 65535;
constexpr uint32_t nominalLocalMemoryBytes = 64 * 1024;
constexpr uint32_t nominalSimdWidth = 8;
constexpr uint32_t nominalArgumentBytes = 1024;
constexpr uint32_t nominalHardwareContexts = 1024;

constexpr uint64_t ticksPerSecond = 1'000'000'000;
constexpr uint32_t timestampBits = 64;

/// Runs `body(device, *pProperties)`, the structure zeroed.
template <typename Properties, typename Body>
ze_result_t onProperties(std::string_view function,
                         ze_device_handle_t hDevice,
                         Properties *pProperties,
                         Body &&body) noexcept {
    return onDevice(function, hDevice, [&](const core::Device &device) -> Result<void> {
        if (pProperties == nullptr) {
            return nullPointer("the properties structure");
        }
        clearProperties(*pProperties);
        body(device.properties(), *pProperties);
        return {};
    });
}

/// The same for a query that lists `available` structures.
template <typename Properties, typename Body>
ze_result_t onPropertiesList(std::string_view function,
                             ze_device_handle_t hDevice,
                             uint32_t *pCount,
                             Properties *pProperties,
                             uint32_t available,
                             Body &&body) noexcept {
    return onDevice(function, hDevice, [&](const core::Device &device) -> Result<void> {
        if (pCount == nullptr) {
            return nullPointer("pCount");
        }
        writeCounted(pCount, pProperties, available, [&](Properties &item, uint32_t) {
            clearProperties(item);
            body(device.properties(), item);
        });
        return {};
    });
}

void writeIdentity(const kmd::DeviceProperties &device, ze_device_properties_t &out) {
    out.type = ZE_DEVICE_TYPE_GPU;
    out.vendorId = device.vendorId;
    out.deviceId = device.deviceId;
    if (device.integrated) {
        out.flags = ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
    }
    static_assert(sizeof(out.uuid.id) == sizeof(device.uuid));
    std::ranges::copy(device.uuid, out.uuid.id);
    writeName(out.name, device.name);
}

/// threadCount threads, as execution units of one thread each in one slice.
void writeShape(const kmd::DeviceProperties &device, ze_device_properties_t &out) {
    out.numThreadsPerEU = 1;
    out.physicalEUSimdWidth = nominalSimdWidth;
    out.numEUsPerSubslice = std::max(device.threadCount, 1U);
    out.numSubslicesPerSlice = 1;
    out.numSlices = 1;
}

/// Nanoseconds per tick in the old form of the structure, ticks per second from 1.2 on.
void writeClocks(const kmd::DeviceProperties &device, ze_device_properties_t &out) {
    out.coreClockRate = device.coreClockMHz;
    out.timerResolution = out.stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
                              ? ticksPerSecond
                              : 1'000'000'000 / ticksPerSecond;
    out.timestampValidBits = timestampBits;
    out.kernelTimestampValidBits = timestampBits;
}

} // namespace

ze_result_t zeDeviceGetProperties(ze_device_handle_t hDevice,
                                  ze_device_properties_t *pDeviceProperties) {
    return onProperties("zeDeviceGetProperties",
                        hDevice,
                        pDeviceProperties,
                        [](const kmd::DeviceProperties &device, ze_device_properties_t &out) {
                            writeIdentity(device, out);
                            writeShape(device, out);
                            writeClocks(device, out);
                            out.maxMemAllocSize = device.memoryBytes;
                            out.maxHardwareContexts = nominalHardwareContexts;
                        });
}

ze_result_t zeDeviceGetComputeProperties(ze_device_handle_t hDevice,
                                         ze_device_compute_properties_t *pComputeProperties) {
    return onProperties("zeDeviceGetComputeProperties",
                        hDevice,
                        pComputeProperties,
                        [](const kmd::DeviceProperties &, ze_device_compute_properties_t &out) {
                            out.maxTotalGroupSize = nominalGroupItems;
                            out.maxGroupSizeX = nominalGroupItems;
                            out.maxGroupSizeY = nominalGroupItems;
                            out.maxGroupSizeZ = nominalGroupItemsZ;
                            out.maxGroupCountX = nominalGroups;
                            out.maxGroupCountY = nominalGroups;
                            out.maxGroupCountZ = nominalGroups;
                            out.maxSharedLocalMemory = nominalLocalMemoryBytes;
                            out.numSubGroupSizes = 1;
                            out.subGroupSizes[0] = nominalSimdWidth;
                        });
}

ze_result_t zeDeviceGetModuleProperties(ze_device_handle_t hDevice,
                                        ze_device_module_properties_t *pModuleProperties) {
    return onProperties("zeDeviceGetModuleProperties",
                        hDevice,
                        pModuleProperties,
                        [](const kmd::DeviceProperties &, ze_device_module_properties_t &out) {
                            // spirvVersionSupported stays 0: no SPIR-V.
                            out.maxArgumentsSize = nominalArgumentBytes;
                        });
}

ze_result_t zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t hDevice,
    uint32_t *pCount,
    ze_command_queue_group_properties_t *pCommandQueueGroupProperties) {
    return onPropertiesList(
        "zeDeviceGetCommandQueueGroupProperties",
        hDevice,
        pCount,
        pCommandQueueGroupProperties,
        1,
        [](const kmd::DeviceProperties &, ze_command_queue_group_properties_t &out) {
            out.flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
                        ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
            out.maxMemoryFillPatternSize = copy::FillPattern::longest;
            out.numQueues = 1;
        });
}

ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t hDevice,
                                        uint32_t *pCount,
                                        ze_device_memory_properties_t *pMemProperties) {
    return onPropertiesList(
        "zeDeviceGetMemoryProperties",
        hDevice,
        pCount,
        pMemProperties,
        1,
        [](const kmd::DeviceProperties &device, ze_device_memory_properties_t &out) {
            out.maxClockRate = device.coreClockMHz;
            out.maxBusWidth = 64;
            out.totalSize = device.memoryBytes;
            writeName(out.name, device.integrated ? "host memory" : "device memory");
        });
}

ze_result_t zeDeviceGetMemoryAccessProperties(
    ze_device_handle_t hDevice, ze_device_memory_access_properties_t *pMemAccessProperties) {
    return onProperties(
        "zeDeviceGetMemoryAccessProperties",
        hDevice,
        pMemAccessProperties,
        [](const kmd::DeviceProperties &, ze_device_memory_access_properties_t &out) {
            constexpr ze_memory_access_cap_flags_t everything =
                ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC |
                ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
            out.hostAllocCapabilities = everything;
            out.deviceAllocCapabilities = everything;
            out.sharedSingleDeviceAllocCapabilities = everything;
            out.sharedCrossDeviceAllocCapabilities = everything;
            // Memory that the driver did not allocate: not for kernels, of which there are none.
            out.sharedSystemAllocCapabilities = 0;
        });
}

ze_result_t zeDeviceGetCacheProperties(ze_device_handle_t hDevice,
                                       uint32_t *pCount,
                                       ze_device_cache_properties_t *pCacheProperties) {
    return onPropertiesList("zeDeviceGetCacheProperties",
                            hDevice,
                            pCount,
                            pCacheProperties,
                            0,
                            [](const kmd::DeviceProperties &, ze_device_cache_properties_t &) {});
}

ze_result_t zeDeviceGetImageProperties(ze_device_handle_t hDevice,
                                       ze_device_image_properties_t *pImageProperties) {
    // All 0: no images.
    return onProperties("zeDeviceGetImageProperties",
                        hDevice,
                        pImageProperties,
                        [](const kmd::DeviceProperties &, ze_device_image_properties_t &) {});
}

ze_result_t zeDeviceGetExternalMemoryProperties(
    ze_device_handle_t hDevice, ze_device_external_memory_properties_t *pExternalMemoryProperties) {
    return onProperties("zeDeviceGetExternalMemoryProperties",
                        hDevice,
                        pExternalMemoryProperties,
                        [](const kmd::DeviceProperties &, auto &out) {
                            out.memoryAllocationImportTypes = descriptorTypes;
                            out.memoryAllocationExportTypes = descriptorTypes;
                        });
}

ze_result_t zeDevicePciGetPropertiesExt(ze_device_handle_t hDevice,
                                        ze_pci_ext_properties_t *pPciProperties) {
    return onProperties("zeDevicePciGetPropertiesExt",
                        hDevice,
                        pPciProperties,
                        [](const kmd::DeviceProperties &device, ze_pci_ext_properties_t &out) {
                            out.address = {.domain = device.pci.domain,
                                           .bus = device.pci.bus,
                                           .device = device.pci.device,
                                           .function = device.pci.function};
                            out.maxSpeed = {.genVersion = -1, .width = -1, .maxBandwidth = -1};
                        });
}

} // namespace causeway::api
