#include "level_zero/ddi/tables.h"

#include "level_zero/api/entry_points.h"
#include "level_zero/api/refusal.h"

#include <type_traits>

namespace causeway::ddi {
namespace {

/// Writes the entries that `version` has. `since` is the version that brought an entry.
template <typename Table>
class Writer {
  public:
    Writer(Table &table, ze_api_version_t version) : table_(table), version_(version) {}

    template <typename Function>
    Writer &entry(ze_api_version_t since,
                  Function Table::*slot,
                  std::type_identity_t<Function> function) {
        if (version_ >= since) {
            table_.*slot = function;
        }
        return *this;
    }

    /// For what the driver does not have.
    template <api::FixedText Name, api::FixedText Why, typename... Arguments>
    Writer &refuse(ze_api_version_t since, ze_result_t (ZE_APICALL *Table::*slot)(Arguments...)) {
        return entry(since, slot, &api::refused<Name, Why, Arguments...>);
    }

  private:
    Table &table_;
    ze_api_version_t version_;
};

constexpr api::FixedText noKernels = "the device runs no kernels; it copies and fills memory";
constexpr api::FixedText noImages = "the device has no images";
constexpr api::FixedText noSemaphores = "external semaphores are not supported";
constexpr api::FixedText noGraphs = "graphs are not supported";
constexpr api::FixedText noHostFunctions = "functions of the host cannot be appended";
constexpr api::FixedText noClones = "command lists cannot be cloned or changed";
constexpr api::FixedText noCounters = "counter-based events are not supported";

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
               api::zeDriverGetLastErrorDescription)
        .entry(ZE_API_VERSION_1_14, &Table::pfnGetDefaultContext, api::zeDriverGetDefaultContext);
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
        .entry(ZE_API_VERSION_1_1, &Table::pfnGetGlobalTimestamps, api::zeDeviceGetGlobalTimestamps)
        .entry(ZE_API_VERSION_1_3, &Table::pfnPciGetPropertiesExt, api::zeDevicePciGetPropertiesExt)
        .entry(ZE_API_VERSION_1_7, &Table::pfnGetRootDevice, api::zeDeviceGetRootDevice)
        .refuse<"zeDeviceImportExternalSemaphoreExt", noSemaphores>(
            ZE_API_VERSION_1_12, &Table::pfnImportExternalSemaphoreExt)
        .entry(ZE_API_VERSION_1_14, &Table::pfnSynchronize, api::zeDeviceSynchronize);
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

void fill(ze_mem_exp_dditable_t &table, ze_api_version_t version) {
    using Table = ze_mem_exp_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_6,
               &Table::pfnGetIpcHandleFromFileDescriptorExp,
               api::zeMemGetIpcHandleFromFileDescriptorExp)
        .entry(ZE_API_VERSION_1_6,
               &Table::pfnGetFileDescriptorFromIpcHandleExp,
               api::zeMemGetFileDescriptorFromIpcHandleExp);
}

void fill(ze_physical_mem_dditable_t &table, ze_api_version_t version) {
    using Table = ze_physical_mem_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnCreate, api::zePhysicalMemCreate)
        .entry(ZE_API_VERSION_1_0, &Table::pfnDestroy, api::zePhysicalMemDestroy)
        .entry(ZE_API_VERSION_1_15, &Table::pfnGetProperties, api::zePhysicalMemGetProperties);
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

void fill(ze_command_queue_dditable_t &table, ze_api_version_t version) {
    using Table = ze_command_queue_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnCreate, api::zeCommandQueueCreate)
        .entry(ZE_API_VERSION_1_0, &Table::pfnDestroy, api::zeCommandQueueDestroy)
        .entry(ZE_API_VERSION_1_0,
               &Table::pfnExecuteCommandLists,
               api::zeCommandQueueExecuteCommandLists)
        .entry(ZE_API_VERSION_1_0, &Table::pfnSynchronize, api::zeCommandQueueSynchronize)
        .entry(ZE_API_VERSION_1_9, &Table::pfnGetOrdinal, api::zeCommandQueueGetOrdinal)
        .entry(ZE_API_VERSION_1_9, &Table::pfnGetIndex, api::zeCommandQueueGetIndex)
        .entry(ZE_API_VERSION_1_17, &Table::pfnGetFlags, api::zeCommandQueueGetFlags)
        .entry(ZE_API_VERSION_1_17, &Table::pfnGetMode, api::zeCommandQueueGetMode)
        .entry(ZE_API_VERSION_1_17, &Table::pfnGetPriority, api::zeCommandQueueGetPriority);
}

namespace {

void fillLists(ze_command_list_dditable_t &table, ze_api_version_t version) {
    using Table = ze_command_list_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnCreate, api::zeCommandListCreate)
        .entry(ZE_API_VERSION_1_0, &Table::pfnCreateImmediate, api::zeCommandListCreateImmediate)
        .entry(ZE_API_VERSION_1_0, &Table::pfnDestroy, api::zeCommandListDestroy)
        .entry(ZE_API_VERSION_1_0, &Table::pfnClose, api::zeCommandListClose)
        .entry(ZE_API_VERSION_1_0, &Table::pfnReset, api::zeCommandListReset)
        .entry(ZE_API_VERSION_1_6, &Table::pfnHostSynchronize, api::zeCommandListHostSynchronize)
        .entry(ZE_API_VERSION_1_9, &Table::pfnGetDeviceHandle, api::zeCommandListGetDeviceHandle)
        .entry(ZE_API_VERSION_1_9, &Table::pfnGetContextHandle, api::zeCommandListGetContextHandle)
        .entry(ZE_API_VERSION_1_9, &Table::pfnGetOrdinal, api::zeCommandListGetOrdinal)
        .entry(
            ZE_API_VERSION_1_9, &Table::pfnImmediateGetIndex, api::zeCommandListImmediateGetIndex)
        .entry(ZE_API_VERSION_1_9, &Table::pfnIsImmediate, api::zeCommandListIsImmediate)
        .entry(ZE_API_VERSION_1_16,
               &Table::pfnImmediateAppendCommandListsWithParameters,
               api::zeCommandListImmediateAppendCommandListsWithParameters)
        .entry(ZE_API_VERSION_1_17, &Table::pfnGetFlags, api::zeCommandListGetFlags)
        .entry(
            ZE_API_VERSION_1_17, &Table::pfnImmediateGetFlags, api::zeCommandListImmediateGetFlags)
        .entry(ZE_API_VERSION_1_17, &Table::pfnImmediateGetMode, api::zeCommandListImmediateGetMode)
        .entry(ZE_API_VERSION_1_17,
               &Table::pfnImmediateGetPriority,
               api::zeCommandListImmediateGetPriority);
}

void fillAppends(ze_command_list_dditable_t &table, ze_api_version_t version) {
    using Table = ze_command_list_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0,
               &Table::pfnAppendWriteGlobalTimestamp,
               api::zeCommandListAppendWriteGlobalTimestamp)
        .entry(ZE_API_VERSION_1_0, &Table::pfnAppendBarrier, api::zeCommandListAppendBarrier)
        .entry(ZE_API_VERSION_1_0,
               &Table::pfnAppendMemoryRangesBarrier,
               api::zeCommandListAppendMemoryRangesBarrier)
        .entry(ZE_API_VERSION_1_0, &Table::pfnAppendMemoryCopy, api::zeCommandListAppendMemoryCopy)
        .entry(ZE_API_VERSION_1_0, &Table::pfnAppendMemoryFill, api::zeCommandListAppendMemoryFill)
        .entry(ZE_API_VERSION_1_0,
               &Table::pfnAppendMemoryCopyRegion,
               api::zeCommandListAppendMemoryCopyRegion)
        .entry(ZE_API_VERSION_1_0,
               &Table::pfnAppendMemoryCopyFromContext,
               api::zeCommandListAppendMemoryCopyFromContext)
        .entry(ZE_API_VERSION_1_0,
               &Table::pfnAppendMemoryPrefetch,
               api::zeCommandListAppendMemoryPrefetch)
        .entry(ZE_API_VERSION_1_0, &Table::pfnAppendMemAdvise, api::zeCommandListAppendMemAdvise)
        .entry(
            ZE_API_VERSION_1_0, &Table::pfnAppendSignalEvent, api::zeCommandListAppendSignalEvent)
        .entry(
            ZE_API_VERSION_1_0, &Table::pfnAppendWaitOnEvents, api::zeCommandListAppendWaitOnEvents)
        .entry(ZE_API_VERSION_1_0, &Table::pfnAppendEventReset, api::zeCommandListAppendEventReset)
        .entry(ZE_API_VERSION_1_0,
               &Table::pfnAppendQueryKernelTimestamps,
               api::zeCommandListAppendQueryKernelTimestamps)
        .entry(ZE_API_VERSION_1_16,
               &Table::pfnAppendMemoryCopyWithParameters,
               api::zeCommandListAppendMemoryCopyWithParameters)
        .entry(ZE_API_VERSION_1_16,
               &Table::pfnAppendMemoryFillWithParameters,
               api::zeCommandListAppendMemoryFillWithParameters);
}

void refuseAppends(ze_command_list_dditable_t &table, ze_api_version_t version) {
    using Table = ze_command_list_dditable_t;
    Writer(table, version)
        .refuse<"zeCommandListAppendImageCopy", noImages>(ZE_API_VERSION_1_0,
                                                          &Table::pfnAppendImageCopy)
        .refuse<"zeCommandListAppendImageCopyRegion", noImages>(ZE_API_VERSION_1_0,
                                                                &Table::pfnAppendImageCopyRegion)
        .refuse<"zeCommandListAppendImageCopyToMemory", noImages>(
            ZE_API_VERSION_1_0, &Table::pfnAppendImageCopyToMemory)
        .refuse<"zeCommandListAppendImageCopyFromMemory", noImages>(
            ZE_API_VERSION_1_0, &Table::pfnAppendImageCopyFromMemory)
        .refuse<"zeCommandListAppendImageCopyToMemoryExt", noImages>(
            ZE_API_VERSION_1_3, &Table::pfnAppendImageCopyToMemoryExt)
        .refuse<"zeCommandListAppendImageCopyFromMemoryExt", noImages>(
            ZE_API_VERSION_1_3, &Table::pfnAppendImageCopyFromMemoryExt)
        .refuse<"zeCommandListAppendLaunchKernel", noKernels>(ZE_API_VERSION_1_0,
                                                              &Table::pfnAppendLaunchKernel)
        .refuse<"zeCommandListAppendLaunchCooperativeKernel", noKernels>(
            ZE_API_VERSION_1_0, &Table::pfnAppendLaunchCooperativeKernel)
        .refuse<"zeCommandListAppendLaunchKernelIndirect", noKernels>(
            ZE_API_VERSION_1_0, &Table::pfnAppendLaunchKernelIndirect)
        .refuse<"zeCommandListAppendLaunchMultipleKernelsIndirect", noKernels>(
            ZE_API_VERSION_1_0, &Table::pfnAppendLaunchMultipleKernelsIndirect)
        .refuse<"zeCommandListAppendLaunchKernelWithParameters", noKernels>(
            ZE_API_VERSION_1_14, &Table::pfnAppendLaunchKernelWithParameters)
        .refuse<"zeCommandListAppendLaunchKernelWithArguments", noKernels>(
            ZE_API_VERSION_1_14, &Table::pfnAppendLaunchKernelWithArguments)
        .refuse<"zeCommandListAppendSignalExternalSemaphoreExt", noSemaphores>(
            ZE_API_VERSION_1_12, &Table::pfnAppendSignalExternalSemaphoreExt)
        .refuse<"zeCommandListAppendWaitExternalSemaphoreExt", noSemaphores>(
            ZE_API_VERSION_1_12, &Table::pfnAppendWaitExternalSemaphoreExt)
        .refuse<"zeCommandListBeginGraphCaptureExt", noGraphs>(ZE_API_VERSION_1_17,
                                                               &Table::pfnBeginGraphCaptureExt)
        .refuse<"zeCommandListBeginCaptureIntoGraphExt", noGraphs>(
            ZE_API_VERSION_1_17, &Table::pfnBeginCaptureIntoGraphExt)
        .refuse<"zeCommandListIsGraphCaptureEnabledExt", noGraphs>(
            ZE_API_VERSION_1_17, &Table::pfnIsGraphCaptureEnabledExt)
        .refuse<"zeCommandListEndGraphCaptureExt", noGraphs>(ZE_API_VERSION_1_17,
                                                             &Table::pfnEndGraphCaptureExt)
        .refuse<"zeCommandListGetGraphExt", noGraphs>(ZE_API_VERSION_1_17, &Table::pfnGetGraphExt)
        .refuse<"zeCommandListAppendGraphExt", noGraphs>(ZE_API_VERSION_1_17,
                                                         &Table::pfnAppendGraphExt)
        .refuse<"zeCommandListAppendHostFunction", noHostFunctions>(ZE_API_VERSION_1_17,
                                                                    &Table::pfnAppendHostFunction);
}

} // namespace

void fill(ze_command_list_dditable_t &table, ze_api_version_t version) {
    fillLists(table, version);
    fillAppends(table, version);
    refuseAppends(table, version);
}

void fill(ze_command_list_exp_dditable_t &table, ze_api_version_t version) {
    using Table = ze_command_list_exp_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_9,
               &Table::pfnImmediateAppendCommandListsExp,
               api::zeCommandListImmediateAppendCommandListsExp)
        .refuse<"zeCommandListCreateCloneExp", noClones>(ZE_API_VERSION_1_9,
                                                         &Table::pfnCreateCloneExp);
}

void fill(ze_fence_dditable_t &table, ze_api_version_t version) {
    using Table = ze_fence_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnCreate, api::zeFenceCreate)
        .entry(ZE_API_VERSION_1_0, &Table::pfnDestroy, api::zeFenceDestroy)
        .entry(ZE_API_VERSION_1_0, &Table::pfnHostSynchronize, api::zeFenceHostSynchronize)
        .entry(ZE_API_VERSION_1_0, &Table::pfnQueryStatus, api::zeFenceQueryStatus)
        .entry(ZE_API_VERSION_1_0, &Table::pfnReset, api::zeFenceReset);
}

void fill(ze_event_pool_dditable_t &table, ze_api_version_t version) {
    using Table = ze_event_pool_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnCreate, api::zeEventPoolCreate)
        .entry(ZE_API_VERSION_1_0, &Table::pfnDestroy, api::zeEventPoolDestroy)
        .entry(ZE_API_VERSION_1_0, &Table::pfnGetIpcHandle, api::zeEventPoolGetIpcHandle)
        .entry(ZE_API_VERSION_1_0, &Table::pfnOpenIpcHandle, api::zeEventPoolOpenIpcHandle)
        .entry(ZE_API_VERSION_1_0, &Table::pfnCloseIpcHandle, api::zeEventPoolCloseIpcHandle)
        .entry(ZE_API_VERSION_1_6, &Table::pfnPutIpcHandle, api::zeEventPoolPutIpcHandle)
        .entry(ZE_API_VERSION_1_9, &Table::pfnGetContextHandle, api::zeEventPoolGetContextHandle)
        .entry(ZE_API_VERSION_1_9, &Table::pfnGetFlags, api::zeEventPoolGetFlags);
}

void fill(ze_event_dditable_t &table, ze_api_version_t version) {
    using Table = ze_event_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_0, &Table::pfnCreate, api::zeEventCreate)
        .entry(ZE_API_VERSION_1_0, &Table::pfnDestroy, api::zeEventDestroy)
        .entry(ZE_API_VERSION_1_0, &Table::pfnHostSignal, api::zeEventHostSignal)
        .entry(ZE_API_VERSION_1_0, &Table::pfnHostSynchronize, api::zeEventHostSynchronize)
        .entry(ZE_API_VERSION_1_0, &Table::pfnQueryStatus, api::zeEventQueryStatus)
        .entry(ZE_API_VERSION_1_0, &Table::pfnHostReset, api::zeEventHostReset)
        .entry(
            ZE_API_VERSION_1_0, &Table::pfnQueryKernelTimestamp, api::zeEventQueryKernelTimestamp)
        .entry(ZE_API_VERSION_1_6,
               &Table::pfnQueryKernelTimestampsExt,
               api::zeEventQueryKernelTimestampsExt)
        .entry(ZE_API_VERSION_1_9, &Table::pfnGetEventPool, api::zeEventGetEventPool)
        .entry(ZE_API_VERSION_1_9, &Table::pfnGetSignalScope, api::zeEventGetSignalScope)
        .entry(ZE_API_VERSION_1_9, &Table::pfnGetWaitScope, api::zeEventGetWaitScope)
        .refuse<"zeEventCounterBasedCreate", noCounters>(ZE_API_VERSION_1_15,
                                                         &Table::pfnCounterBasedCreate)
        .refuse<"zeEventCounterBasedOpenIpcHandle", noCounters>(
            ZE_API_VERSION_1_15, &Table::pfnCounterBasedOpenIpcHandle);
}

void fill(ze_event_exp_dditable_t &table, ze_api_version_t version) {
    using Table = ze_event_exp_dditable_t;
    Writer(table, version)
        .entry(ZE_API_VERSION_1_2, &Table::pfnQueryTimestampsExp, api::zeEventQueryTimestampsExp);
}

void fill(ze_module_dditable_t &table, ze_api_version_t version) {
    using Table = ze_module_dditable_t;
    Writer(table, version)
        .refuse<"zeModuleCreate", noKernels>(ZE_API_VERSION_1_0, &Table::pfnCreate)
        .refuse<"zeModuleDynamicLink", noKernels>(ZE_API_VERSION_1_0, &Table::pfnDynamicLink);
}

void fill(ze_kernel_dditable_t &table, ze_api_version_t version) {
    using Table = ze_kernel_dditable_t;
    Writer(table, version)
        .refuse<"zeKernelCreate", noKernels>(ZE_API_VERSION_1_0, &Table::pfnCreate);
}

void fill(ze_image_dditable_t &table, ze_api_version_t version) {
    using Table = ze_image_dditable_t;
    Writer(table, version)
        .refuse<"zeImageCreate", noImages>(ZE_API_VERSION_1_0, &Table::pfnCreate)
        .refuse<"zeImageGetProperties", noImages>(ZE_API_VERSION_1_0, &Table::pfnGetProperties)
        .refuse<"zeImageViewCreateExt", noImages>(ZE_API_VERSION_1_5, &Table::pfnViewCreateExt);
}

void fill(ze_image_exp_dditable_t &table, ze_api_version_t version) {
    using Table = ze_image_exp_dditable_t;
    Writer(table, version)
        .refuse<"zeImageViewCreateExp", noImages>(ZE_API_VERSION_1_5, &Table::pfnViewCreateExp);
}

void fill(ze_graph_dditable_t &table, ze_api_version_t version) {
    using Table = ze_graph_dditable_t;
    Writer(table, version)
        .refuse<"zeGraphCreateExt", noGraphs>(ZE_API_VERSION_1_17, &Table::pfnCreateExt);
}

void fill(ze_sampler_dditable_t &table, ze_api_version_t version) {
    using Table = ze_sampler_dditable_t;
    Writer(table, version)
        .refuse<"zeSamplerCreate", noImages>(ZE_API_VERSION_1_0, &Table::pfnCreate);
}

} // namespace causeway::ddi
