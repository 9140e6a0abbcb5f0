#pragma once

#include <level_zero/ze_api.h>

/// The entry points that this driver implements, each with the signature that the SDK declares.
/// `ddi/` puts them into tables; nothing else calls them but tests. Contracts: ze_api.h, and
/// README.md for what is decided here.
namespace causeway::api {

// init.cpp
decltype(::zeInit) zeInit;
decltype(::zeInitDrivers) zeInitDrivers;

// driver.cpp
decltype(::zeDriverGet) zeDriverGet;
decltype(::zeDriverGetApiVersion) zeDriverGetApiVersion;
decltype(::zeDriverGetProperties) zeDriverGetProperties;
decltype(::zeDriverGetIpcProperties) zeDriverGetIpcProperties;
decltype(::zeDriverGetExtensionProperties) zeDriverGetExtensionProperties;
decltype(::zeDriverGetExtensionFunctionAddress) zeDriverGetExtensionFunctionAddress;
decltype(::zeDriverGetLastErrorDescription) zeDriverGetLastErrorDescription;
decltype(::zeDriverGetDefaultContext) zeDriverGetDefaultContext;

// device.cpp
decltype(::zeDeviceGet) zeDeviceGet;
decltype(::zeDeviceGetRootDevice) zeDeviceGetRootDevice;
decltype(::zeDeviceGetSubDevices) zeDeviceGetSubDevices;
decltype(::zeDeviceGetP2PProperties) zeDeviceGetP2PProperties;
decltype(::zeDeviceCanAccessPeer) zeDeviceCanAccessPeer;
decltype(::zeDeviceGetStatus) zeDeviceGetStatus;
decltype(::zeDeviceGetGlobalTimestamps) zeDeviceGetGlobalTimestamps;
decltype(::zeDeviceSynchronize) zeDeviceSynchronize;

// device_properties.cpp
decltype(::zeDeviceGetProperties) zeDeviceGetProperties;
decltype(::zeDeviceGetComputeProperties) zeDeviceGetComputeProperties;
decltype(::zeDeviceGetModuleProperties) zeDeviceGetModuleProperties;
decltype(::zeDeviceGetCommandQueueGroupProperties) zeDeviceGetCommandQueueGroupProperties;
decltype(::zeDeviceGetMemoryProperties) zeDeviceGetMemoryProperties;
decltype(::zeDeviceGetMemoryAccessProperties) zeDeviceGetMemoryAccessProperties;
decltype(::zeDeviceGetCacheProperties) zeDeviceGetCacheProperties;
decltype(::zeDeviceGetImageProperties) zeDeviceGetImageProperties;
decltype(::zeDeviceGetExternalMemoryProperties) zeDeviceGetExternalMemoryProperties;
decltype(::zeDevicePciGetPropertiesExt) zeDevicePciGetPropertiesExt;

// context.cpp
decltype(::zeContextCreate) zeContextCreate;
decltype(::zeContextCreateEx) zeContextCreateEx;
decltype(::zeContextDestroy) zeContextDestroy;
decltype(::zeContextGetStatus) zeContextGetStatus;
decltype(::zeContextSystemBarrier) zeContextSystemBarrier;
decltype(::zeContextMakeMemoryResident) zeContextMakeMemoryResident;
decltype(::zeContextEvictMemory) zeContextEvictMemory;

// virtual_memory.cpp
decltype(::zeVirtualMemReserve) zeVirtualMemReserve;
decltype(::zeVirtualMemFree) zeVirtualMemFree;
decltype(::zeVirtualMemQueryPageSize) zeVirtualMemQueryPageSize;
decltype(::zeVirtualMemMap) zeVirtualMemMap;
decltype(::zeVirtualMemUnmap) zeVirtualMemUnmap;
decltype(::zeVirtualMemSetAccessAttribute) zeVirtualMemSetAccessAttribute;
decltype(::zeVirtualMemGetAccessAttribute) zeVirtualMemGetAccessAttribute;

// physical_memory.cpp
decltype(::zePhysicalMemCreate) zePhysicalMemCreate;
decltype(::zePhysicalMemDestroy) zePhysicalMemDestroy;
decltype(::zePhysicalMemGetProperties) zePhysicalMemGetProperties;

// memory.cpp
decltype(::zeMemAllocDevice) zeMemAllocDevice;
decltype(::zeMemAllocHost) zeMemAllocHost;
decltype(::zeMemAllocShared) zeMemAllocShared;
decltype(::zeMemFree) zeMemFree;
decltype(::zeMemFreeExt) zeMemFreeExt;
decltype(::zeMemGetAllocProperties) zeMemGetAllocProperties;
decltype(::zeMemGetAddressRange) zeMemGetAddressRange;

// ipc.cpp
decltype(::zeMemGetIpcHandle) zeMemGetIpcHandle;
decltype(::zeMemGetIpcHandleWithProperties) zeMemGetIpcHandleWithProperties;
decltype(::zeMemOpenIpcHandle) zeMemOpenIpcHandle;
decltype(::zeMemCloseIpcHandle) zeMemCloseIpcHandle;
decltype(::zeMemPutIpcHandle) zeMemPutIpcHandle;
decltype(::zeMemGetIpcHandleFromFileDescriptorExp) zeMemGetIpcHandleFromFileDescriptorExp;
decltype(::zeMemGetFileDescriptorFromIpcHandleExp) zeMemGetFileDescriptorFromIpcHandleExp;

// command_queue.cpp
decltype(::zeCommandQueueCreate) zeCommandQueueCreate;
decltype(::zeCommandQueueDestroy) zeCommandQueueDestroy;
decltype(::zeCommandQueueExecuteCommandLists) zeCommandQueueExecuteCommandLists;
decltype(::zeCommandQueueSynchronize) zeCommandQueueSynchronize;
decltype(::zeCommandQueueGetOrdinal) zeCommandQueueGetOrdinal;
decltype(::zeCommandQueueGetIndex) zeCommandQueueGetIndex;
decltype(::zeCommandQueueGetFlags) zeCommandQueueGetFlags;
decltype(::zeCommandQueueGetMode) zeCommandQueueGetMode;
decltype(::zeCommandQueueGetPriority) zeCommandQueueGetPriority;

// fence.cpp
decltype(::zeFenceCreate) zeFenceCreate;
decltype(::zeFenceDestroy) zeFenceDestroy;
decltype(::zeFenceHostSynchronize) zeFenceHostSynchronize;
decltype(::zeFenceQueryStatus) zeFenceQueryStatus;
decltype(::zeFenceReset) zeFenceReset;

// command_list.cpp
decltype(::zeCommandListCreate) zeCommandListCreate;
decltype(::zeCommandListCreateImmediate) zeCommandListCreateImmediate;
decltype(::zeCommandListDestroy) zeCommandListDestroy;
decltype(::zeCommandListClose) zeCommandListClose;
decltype(::zeCommandListReset) zeCommandListReset;
decltype(::zeCommandListHostSynchronize) zeCommandListHostSynchronize;
decltype(::zeCommandListImmediateAppendCommandListsExp) zeCommandListImmediateAppendCommandListsExp;
decltype(::zeCommandListImmediateAppendCommandListsWithParameters)
    zeCommandListImmediateAppendCommandListsWithParameters;
decltype(::zeCommandListGetDeviceHandle) zeCommandListGetDeviceHandle;
decltype(::zeCommandListGetContextHandle) zeCommandListGetContextHandle;
decltype(::zeCommandListGetOrdinal) zeCommandListGetOrdinal;
decltype(::zeCommandListIsImmediate) zeCommandListIsImmediate;
decltype(::zeCommandListImmediateGetIndex) zeCommandListImmediateGetIndex;
decltype(::zeCommandListGetFlags) zeCommandListGetFlags;
decltype(::zeCommandListImmediateGetFlags) zeCommandListImmediateGetFlags;
decltype(::zeCommandListImmediateGetMode) zeCommandListImmediateGetMode;
decltype(::zeCommandListImmediateGetPriority) zeCommandListImmediateGetPriority;

// command_copy.cpp
decltype(::zeCommandListAppendMemoryCopy) zeCommandListAppendMemoryCopy;
decltype(::zeCommandListAppendMemoryCopyWithParameters) zeCommandListAppendMemoryCopyWithParameters;
decltype(::zeCommandListAppendMemoryCopyFromContext) zeCommandListAppendMemoryCopyFromContext;
decltype(::zeCommandListAppendMemoryCopyRegion) zeCommandListAppendMemoryCopyRegion;
decltype(::zeCommandListAppendMemoryFill) zeCommandListAppendMemoryFill;
decltype(::zeCommandListAppendMemoryFillWithParameters) zeCommandListAppendMemoryFillWithParameters;

// command_sync.cpp
decltype(::zeCommandListAppendBarrier) zeCommandListAppendBarrier;
decltype(::zeCommandListAppendMemoryRangesBarrier) zeCommandListAppendMemoryRangesBarrier;
decltype(::zeCommandListAppendSignalEvent) zeCommandListAppendSignalEvent;
decltype(::zeCommandListAppendWaitOnEvents) zeCommandListAppendWaitOnEvents;
decltype(::zeCommandListAppendEventReset) zeCommandListAppendEventReset;
decltype(::zeCommandListAppendWriteGlobalTimestamp) zeCommandListAppendWriteGlobalTimestamp;
decltype(::zeCommandListAppendQueryKernelTimestamps) zeCommandListAppendQueryKernelTimestamps;
decltype(::zeCommandListAppendMemoryPrefetch) zeCommandListAppendMemoryPrefetch;
decltype(::zeCommandListAppendMemAdvise) zeCommandListAppendMemAdvise;

// event_pool.cpp
decltype(::zeEventPoolCreate) zeEventPoolCreate;
decltype(::zeEventPoolDestroy) zeEventPoolDestroy;
decltype(::zeEventPoolGetIpcHandle) zeEventPoolGetIpcHandle;
decltype(::zeEventPoolPutIpcHandle) zeEventPoolPutIpcHandle;
decltype(::zeEventPoolOpenIpcHandle) zeEventPoolOpenIpcHandle;
decltype(::zeEventPoolCloseIpcHandle) zeEventPoolCloseIpcHandle;
decltype(::zeEventPoolGetContextHandle) zeEventPoolGetContextHandle;
decltype(::zeEventPoolGetFlags) zeEventPoolGetFlags;

// event.cpp
decltype(::zeEventCreate) zeEventCreate;
decltype(::zeEventDestroy) zeEventDestroy;
decltype(::zeEventHostSignal) zeEventHostSignal;
decltype(::zeEventHostSynchronize) zeEventHostSynchronize;
decltype(::zeEventQueryStatus) zeEventQueryStatus;
decltype(::zeEventHostReset) zeEventHostReset;
decltype(::zeEventQueryKernelTimestamp) zeEventQueryKernelTimestamp;
decltype(::zeEventQueryTimestampsExp) zeEventQueryTimestampsExp;
decltype(::zeEventQueryKernelTimestampsExt) zeEventQueryKernelTimestampsExt;
decltype(::zeEventGetEventPool) zeEventGetEventPool;
decltype(::zeEventGetSignalScope) zeEventGetSignalScope;
decltype(::zeEventGetWaitScope) zeEventGetWaitScope;

// host_pointers.cpp
ze_result_t zexDriverImportExternalPointer(ze_driver_handle_t hDriver, void *ptr, size_t size);
ze_result_t zexDriverReleaseImportedPointer(ze_driver_handle_t hDriver, void *ptr);
ze_result_t zexDriverGetHostPointerBaseAddress(ze_driver_handle_t hDriver,
                                               void *ptr,
                                               void **baseAddress);

} // namespace causeway::api
