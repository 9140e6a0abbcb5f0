#include "level_zero/ddi/tables.h"

#include "level_zero/api/entry_points.h"

namespace causeway::ddi {
namespace {

/// Writes the entries that `version` has. `since` is the version that brought an entry.
template <typename Table>
class Writer {
  public:
    Writer(Table &table, ze_api_version_t version) : table_(table), version_(version) {}

    template <typename Function>
    const Writer &entry(ze_api_version_t since, Function Table::*slot, Function function) const {
        if (version_ >= since) {
            table_.*slot = function;
        }
        return *this;
    }

  private:
    Table &table_;
    ze_api_version_t version_;
};

} // namespace

void fill(ze_global_dditable_t &table, ze_api_version_t version) {
    using Table = ze_global_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnInit, api::zeInit)
        .entry(ZE_API_VERSION_1_10, &Table::pfnInitDrivers, api::zeInitDrivers);
}

void fill(ze_driver_dditable_t &table, ze_api_version_t version) {
    using Table = ze_driver_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGet, api::zeDriverGet)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetApiVersion, api::zeDriverGetApiVersion)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetProperties, api::zeDriverGetProperties)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetIpcProperties, api::zeDriverGetIpcProperties)
        .entry(ZE_API_VERSION_1_0,
               &Table::pfnGetExtensionProperties,
               api::zeDriverGetExtensionProperties)
        .entry(ZE_API_VERSION_1_1,
               &Table::pfnGetExtensionFunctionAddress,
               api::zeDriverGetExtensionFunctionAddress)
        .entry(ZE_API_VERSION_1_6,
               &Table::pfnGetLastErrorDescription,
               api::zeDriverGetLastErrorDescription);
}

void fill(ze_device_dditable_t &table, ze_api_version_t version) {
    using Table = ze_device_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGet, api::zeDeviceGet)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetSubDevices, api::zeDeviceGetSubDevices)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetProperties, api::zeDeviceGetProperties)
        .entry(
            ZE_API_VERSION_1_0, &Table::pfnGetComputeProperties, api::zeDeviceGetComputeProperties)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetModuleProperties, api::zeDeviceGetModuleProperties)
        .entry(ZE_API_VERSION_1_0,
               &Table::pfnGetCommandQueueGroupProperties,
               api::zeDeviceGetCommandQueueGroupProperties)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetMemoryProperties, api::zeDeviceGetMemoryProperties)
        .entry(ZE_API_VERSION_1_0,
               &Table::pfnGetMemoryAccessProperties,
               api::zeDeviceGetMemoryAccessProperties)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetCacheProperties, api::zeDeviceGetCacheProperties)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetImageProperties, api::zeDeviceGetImageProperties)
        .entry(ZE_API_VERSION_1_0,
               &Table::pfnGetExternalMemoryProperties,
               api::zeDeviceGetExternalMemoryProperties)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetP2PProperties, api::zeDeviceGetP2PProperties)
        .entry(ZE_API_VERSION_1_0, &Table::pfnCanAccessPeer, api::zeDeviceCanAccessPeer)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetStatus, api::zeDeviceGetStatus)
        .entry(ZE_API_VERSION_1_7, &Table::pfnGetRootDevice, api::zeDeviceGetRootDevice);
}

void fill(ze_context_dditable_t &table, ze_api_version_t version) {
    using Table = ze_context_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnCreate, api::zeContextCreate)
        .entry(ZE_API_VERSION_1_0, &Table::pfnDestroy, api::zeContextDestroy)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetStatus, api::zeContextGetStatus)
        .entry(ZE_API_VERSION_1_0, &Table::pfnSystemBarrier, api::zeContextSystemBarrier)
        .entry(ZE_API_VERSION_1_0, &Table::pfnMakeMemoryResident, api::zeContextMakeMemoryResident)
        .entry(ZE_API_VERSION_1_0, &Table::pfnEvictMemory, api::zeContextEvictMemory)
        .entry(ZE_API_VERSION_1_1, &Table::pfnCreateEx, api::zeContextCreateEx);
}

void fill(ze_mem_dditable_t &table, ze_api_version_t version) {
    using Table = ze_mem_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnAllocShared, api::zeMemAllocShared)
        .entry(ZE_API_VERSION_1_0, &Table::pfnAllocDevice, api::zeMemAllocDevice)
        .entry(ZE_API_VERSION_1_0, &Table::pfnAllocHost, api::zeMemAllocHost)
        .entry(ZE_API_VERSION_1_0, &Table::pfnFree, api::zeMemFree)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetAllocProperties, api::zeMemGetAllocProperties)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetAddressRange, api::zeMemGetAddressRange)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetIpcHandle, api::zeMemGetIpcHandle)
        .entry(ZE_API_VERSION_1_0, &Table::pfnOpenIpcHandle, api::zeMemOpenIpcHandle)
        .entry(ZE_API_VERSION_1_0, &Table::pfnCloseIpcHandle, api::zeMemCloseIpcHandle)
        .entry(ZE_API_VERSION_1_3, &Table::pfnFreeExt, api::zeMemFreeExt)
        .entry(ZE_API_VERSION_1_6, &Table::pfnPutIpcHandle, api::zeMemPutIpcHandle)
        .entry(ZE_API_VERSION_1_15,
               &Table::pfnGetIpcHandleWithProperties,
               api::zeMemGetIpcHandleWithProperties);
}

void fill(ze_physical_mem_dditable_t &table, ze_api_version_t version) {
    using Table = ze_physical_mem_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnCreate, api::zePhysicalMemCreate)
        .entry(ZE_API_VERSION_1_0, &Table::pfnDestroy, api::zePhysicalMemDestroy);
}

void fill(ze_virtual_mem_dditable_t &table, ze_api_version_t version) {
    using Table = ze_virtual_mem_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnReserve, api::zeVirtualMemReserve)
        .entry(ZE_API_VERSION_1_0, &Table::pfnFree, api::zeVirtualMemFree)
        .entry(ZE_API_VERSION_1_0, &Table::pfnQueryPageSize, api::zeVirtualMemQueryPageSize)
        .entry(ZE_API_VERSION_1_0, &Table::pfnMap, api::zeVirtualMemMap)
        .entry(ZE_API_VERSION_1_0, &Table::pfnUnmap, api::zeVirtualMemUnmap)
        .entry(
            ZE_API_VERSION_1_0, &Table::pfnSetAccessAttribute, api::zeVirtualMemSetAccessAttribute)
        .entry(
            ZE_API_VERSION_1_0, &Table::pfnGetAccessAttribute, api::zeVirtualMemGetAccessAttribute);
}

} // namespace causeway::ddi
