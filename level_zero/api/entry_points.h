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

// device.cpp
decltype(::zeDeviceGet) zeDeviceGet;
decltype(::zeDeviceGetRootDevice) zeDeviceGetRootDevice;
decltype(::zeDeviceGetSubDevices) zeDeviceGetSubDevices;
decltype(::zeDeviceGetP2PProperties) zeDeviceGetP2PProperties;
decltype(::zeDeviceCanAccessPeer) zeDeviceCanAccessPeer;
decltype(::zeDeviceGetStatus) zeDeviceGetStatus;

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

} // namespace causeway::api
