#include "level_zero/api/function_names.h"

#include "level_zero/api/entry_points.h"

#include <array>

namespace causeway::api {

std::span<const NamedFunction> namedFunctions() {
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the interface wants a void pointer
#define NAMED(function)                                                                            \
    NamedFunction {                                                                                \
        #function, reinterpret_cast<void *>(&api::function)                                        \
    }
    static const std::array functions = {
        NAMED(zeInit),
        NAMED(zeInitDrivers),
        NAMED(zeDriverGet),
        NAMED(zeDriverGetApiVersion),
        NAMED(zeDriverGetProperties),
        NAMED(zeDriverGetIpcProperties),
        NAMED(zeDriverGetExtensionProperties),
        NAMED(zeDriverGetExtensionFunctionAddress),
        NAMED(zeDriverGetLastErrorDescription),
        NAMED(zeDeviceGet),
        NAMED(zeDeviceGetRootDevice),
        NAMED(zeDeviceGetSubDevices),
        NAMED(zeDeviceGetP2PProperties),
        NAMED(zeDeviceCanAccessPeer),
        NAMED(zeDeviceGetStatus),
        NAMED(zeDeviceGetProperties),
        NAMED(zeDeviceGetComputeProperties),
        NAMED(zeDeviceGetModuleProperties),
        NAMED(zeDeviceGetCommandQueueGroupProperties),
        NAMED(zeDeviceGetMemoryProperties),
        NAMED(zeDeviceGetMemoryAccessProperties),
        NAMED(zeDeviceGetCacheProperties),
        NAMED(zeDeviceGetImageProperties),
        NAMED(zeDeviceGetExternalMemoryProperties),
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
    };
#undef NAMED
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
