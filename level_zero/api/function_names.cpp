#include "level_zero/api/function_names.h"

#include "level_zero/api/entry_points.h"

#include <array>

namespace causeway::api {

namespace {

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the interface wants a void pointer
#define NAMED(function)                                                                            \
    NamedFunction {                                                                                \
        #function, reinterpret_cast<void *>(&api::function)                                        \
    }
const std::array functions = {
    NAMED(zeInit),
    NAMED(zeInitDrivers),
    NAMED(zeDriverGet),
    NAMED(zeDriverGetApiVersion),
    NAMED(zeDriverGetProperties),
    NAMED(zeDriverGetIpcProperties),
    NAMED(zeDriverGetExtensionProperties),
    NAMED(zeDriverGetExtensionFunctionAddress),
    NAMED(zeDriverGetLastErrorDescription),
    NAMED(zeDriverGetDefaultContext),
    NAMED(zeDeviceGet),
    NAMED(zeDeviceGetRootDevice),
    NAMED(zeDeviceGetSubDevices),
    NAMED(zeDeviceGetP2PProperties),
    NAMED(zeDeviceCanAccessPeer),
    NAMED(zeDeviceGetStatus),
    NAMED(zeDeviceGetGlobalTimestamps),
    NAMED(zeDeviceSynchronize),
    NAMED(zeDeviceGetProperties),
    NAMED(zeDeviceGetComputeProperties),
    NAMED(zeDeviceGetModuleProperties),
    NAMED(zeDeviceGetCommandQueueGroupProperties),
    NAMED(zeDeviceGetMemoryProperties),
    NAMED(zeDeviceGetMemoryAccessProperties),
    NAMED(zeDeviceGetCacheProperties),
    NAMED(zeDeviceGetImageProperties),
    NAMED(zeDeviceGetExternalMemoryProperties),
    NAMED(zeDevicePciGetPropertiesExt),
    NAMED(zeContextCreate),
    NAMED(zeContextCreateEx),
    NAMED(zeContextDestroy),
    NAMED(zeContextGetStatus),
    NAMED(zeContextSystemBarrier),
    NAMED(zeContextMakeMemoryResident),
    NAMED(zeContextEvictMemory),
    NAMED(zeVirtualMemReserve),
    NAMED(zeVirtualMemFree),
    NAMED(zeVirtualMemQueryPageSize),
    NAMED(zeVirtualMemMap),
    NAMED(zeVirtualMemUnmap),
    NAMED(zeVirtualMemSetAccessAttribute),
    NAMED(zeVirtualMemGetAccessAttribute),
    NAMED(zePhysicalMemCreate),
    NAMED(zePhysicalMemDestroy),
    NAMED(zePhysicalMemGetProperties),
    NAMED(zeMemAllocDevice),
    NAMED(zeMemAllocHost),
    NAMED(zeMemAllocShared),
    NAMED(zeMemFree),
    NAMED(zeMemFreeExt),
    NAMED(zeMemGetAllocProperties),
    NAMED(zeMemGetAddressRange),
    NAMED(zeMemGetIpcHandle),
    NAMED(zeMemGetIpcHandleWithProperties),
    NAMED(zeMemOpenIpcHandle),
    NAMED(zeMemCloseIpcHandle),
    NAMED(zeMemPutIpcHandle),
    NAMED(zeMemGetIpcHandleFromFileDescriptorExp),
    NAMED(zeMemGetFileDescriptorFromIpcHandleExp),
    NAMED(zeCommandQueueCreate),
    NAMED(zeCommandQueueDestroy),
    NAMED(zeCommandQueueExecuteCommandLists),
    NAMED(zeCommandQueueSynchronize),
    NAMED(zeCommandQueueGetOrdinal),
    NAMED(zeCommandQueueGetIndex),
    NAMED(zeCommandQueueGetFlags),
    NAMED(zeCommandQueueGetMode),
    NAMED(zeCommandQueueGetPriority),
    NAMED(zeFenceCreate),
    NAMED(zeFenceDestroy),
    NAMED(zeFenceHostSynchronize),
    NAMED(zeFenceQueryStatus),
    NAMED(zeFenceReset),
    NAMED(zeCommandListCreate),
    NAMED(zeCommandListCreateImmediate),
    NAMED(zeCommandListDestroy),
    NAMED(zeCommandListClose),
    NAMED(zeCommandListReset),
    NAMED(zeCommandListHostSynchronize),
    NAMED(zeCommandListImmediateAppendCommandListsExp),
    NAMED(zeCommandListImmediateAppendCommandListsWithParameters),
    NAMED(zeCommandListGetDeviceHandle),
    NAMED(zeCommandListGetContextHandle),
    NAMED(zeCommandListGetOrdinal),
    NAMED(zeCommandListIsImmediate),
    NAMED(zeCommandListImmediateGetIndex),
    NAMED(zeCommandListGetFlags),
    NAMED(zeCommandListImmediateGetFlags),
    NAMED(zeCommandListImmediateGetMode),
    NAMED(zeCommandListImmediateGetPriority),
    NAMED(zeCommandListAppendMemoryCopy),
    NAMED(zeCommandListAppendMemoryCopyWithParameters),
    NAMED(zeCommandListAppendMemoryCopyFromContext),
    NAMED(zeCommandListAppendMemoryCopyRegion),
    NAMED(zeCommandListAppendMemoryFill),
    NAMED(zeCommandListAppendMemoryFillWithParameters),
    NAMED(zeCommandListAppendBarrier),
    NAMED(zeCommandListAppendMemoryRangesBarrier),
    NAMED(zeCommandListAppendSignalEvent),
    NAMED(zeCommandListAppendWaitOnEvents),
    NAMED(zeCommandListAppendEventReset),
    NAMED(zeCommandListAppendWriteGlobalTimestamp),
    NAMED(zeCommandListAppendQueryKernelTimestamps),
    NAMED(zeCommandListAppendMemoryPrefetch),
    NAMED(zeCommandListAppendMemAdvise),
    NAMED(zeEventPoolCreate),
    NAMED(zeEventPoolDestroy),
    NAMED(zeEventPoolGetIpcHandle),
    NAMED(zeEventPoolPutIpcHandle),
    NAMED(zeEventPoolOpenIpcHandle),
    NAMED(zeEventPoolCloseIpcHandle),
    NAMED(zeEventPoolGetContextHandle),
    NAMED(zeEventPoolGetFlags),
    NAMED(zeEventCreate),
    NAMED(zeEventDestroy),
    NAMED(zeEventHostSignal),
    NAMED(zeEventHostSynchronize),
    NAMED(zeEventQueryStatus),
    NAMED(zeEventHostReset),
    NAMED(zeEventQueryKernelTimestamp),
    NAMED(zeEventQueryTimestampsExp),
    NAMED(zeEventQueryKernelTimestampsExt),
    NAMED(zeEventGetEventPool),
    NAMED(zeEventGetSignalScope),
    NAMED(zeEventGetWaitScope),
    NAMED(zexDriverImportExternalPointer),
    NAMED(zexDriverReleaseImportedPointer),
    NAMED(zexDriverGetHostPointerBaseAddress),
};
#undef NAMED

} // namespace

std::span<const NamedFunction> namedFunctions() {
    return functions;
}

void *findFunction(std::string_view name) {
    for (const NamedFunction &function : namedFunctions()) {
        if (function.name == name) {
            return function.address;
        }
    }
    return nullptr;
}

} // namespace causeway::api
