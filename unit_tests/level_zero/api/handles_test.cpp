#include "level_zero/api/function_names.h"
#include "unit_tests/level_zero/command_fixture.h"

#include <array>

namespace causeway::api {
namespace {

/// Calls `function` with this handle and zeroes for all else.
template <typename Handle, typename... Rest>
ze_result_t callOn(ze_result_t (*function)(Handle, Rest...), const void *handle) {
    return function(static_cast<Handle>(const_cast<void *>(handle)), Rest{}...);
}

/// The results of all entry points that take a handle.
// NOLINTNEXTLINE(readability-function-size): a list
std::vector<ze_result_t> callAllOn(const void *handle) {
    const auto call = [handle](auto... functions) {
        return std::vector<ze_result_t>{callOn(functions, handle)...};
    };
    return call(zeDriverGetApiVersion,
                zeDriverGetProperties,
                zeDriverGetIpcProperties,
                zeDriverGetExtensionProperties,
                zeDriverGetExtensionFunctionAddress,
                zeDriverGetLastErrorDescription,
                zeDeviceGet,
                zeDeviceGetRootDevice,
                zeDeviceGetSubDevices,
                zeDeviceGetP2PProperties,
                zeDeviceCanAccessPeer,
                zeDeviceGetStatus,
                zeDeviceGetGlobalTimestamps,
                zeDeviceSynchronize,
                zeDeviceGetProperties,
                zeDeviceGetComputeProperties,
                zeDeviceGetModuleProperties,
                zeDeviceGetCommandQueueGroupProperties,
                zeDeviceGetMemoryProperties,
                zeDeviceGetMemoryAccessProperties,
                zeDeviceGetCacheProperties,
                zeDeviceGetImageProperties,
                zeDeviceGetExternalMemoryProperties,
                zeDevicePciGetPropertiesExt,
                zeContextCreate,
                zeContextCreateEx,
                zeContextDestroy,
                zeContextGetStatus,
                zeContextSystemBarrier,
                zeContextMakeMemoryResident,
                zeContextEvictMemory,
                zeVirtualMemReserve,
                zeVirtualMemFree,
                zeVirtualMemQueryPageSize,
                zeVirtualMemMap,
                zeVirtualMemUnmap,
                zeVirtualMemSetAccessAttribute,
                zeVirtualMemGetAccessAttribute,
                zePhysicalMemCreate,
                zePhysicalMemDestroy,
                zePhysicalMemGetProperties,
                zeMemAllocDevice,
                zeMemAllocHost,
                zeMemAllocShared,
                zeMemFree,
                zeMemFreeExt,
                zeMemGetAllocProperties,
                zeMemGetAddressRange,
                zeMemGetIpcHandle,
                zeMemGetIpcHandleWithProperties,
                zeMemOpenIpcHandle,
                zeMemCloseIpcHandle,
                zeMemPutIpcHandle,
                zeMemGetIpcHandleFromFileDescriptorExp,
                zeMemGetFileDescriptorFromIpcHandleExp,
                zeCommandQueueCreate,
                zeCommandQueueDestroy,
                zeCommandQueueExecuteCommandLists,
                zeCommandQueueSynchronize,
                zeCommandQueueGetOrdinal,
                zeCommandQueueGetIndex,
                zeCommandQueueGetFlags,
                zeCommandQueueGetMode,
                zeCommandQueueGetPriority,
                zeFenceCreate,
                zeFenceDestroy,
                zeFenceHostSynchronize,
                zeFenceQueryStatus,
                zeFenceReset,
                zeCommandListCreate,
                zeCommandListCreateImmediate,
                zeCommandListDestroy,
                zeCommandListClose,
                zeCommandListReset,
                zeCommandListHostSynchronize,
                zeCommandListImmediateAppendCommandListsExp,
                zeCommandListImmediateAppendCommandListsWithParameters,
                zeCommandListGetDeviceHandle,
                zeCommandListGetContextHandle,
                zeCommandListGetOrdinal,
                zeCommandListIsImmediate,
                zeCommandListImmediateGetIndex,
                zeCommandListGetFlags,
                zeCommandListImmediateGetFlags,
                zeCommandListImmediateGetMode,
                zeCommandListImmediateGetPriority,
                zeCommandListAppendMemoryCopy,
                zeCommandListAppendMemoryCopyWithParameters,
                zeCommandListAppendMemoryCopyFromContext,
                zeCommandListAppendMemoryCopyRegion,
                zeCommandListAppendMemoryFill,
                zeCommandListAppendMemoryFillWithParameters,
                zeCommandListAppendBarrier,
                zeCommandListAppendMemoryRangesBarrier,
                zeCommandListAppendSignalEvent,
                zeCommandListAppendWaitOnEvents,
                zeCommandListAppendEventReset,
                zeCommandListAppendWriteGlobalTimestamp,
                zeCommandListAppendQueryKernelTimestamps,
                zeCommandListAppendMemoryPrefetch,
                zeCommandListAppendMemAdvise,
                zeEventPoolCreate,
                zeEventPoolDestroy,
                zeEventPoolGetIpcHandle,
                zeEventPoolPutIpcHandle,
                zeEventPoolOpenIpcHandle,
                zeEventPoolCloseIpcHandle,
                zeEventPoolGetContextHandle,
                zeEventPoolGetFlags,
                zeEventCreate,
                zeEventDestroy,
                zeEventHostSignal,
                zeEventHostSynchronize,
                zeEventQueryStatus,
                zeEventHostReset,
                zeEventQueryKernelTimestamp,
                zeEventQueryTimestampsExp,
                zeEventQueryKernelTimestampsExt,
                zeEventGetEventPool,
                zeEventGetSignalScope,
                zeEventGetWaitScope,
                zexDriverImportExternalPointer,
                zexDriverReleaseImportedPointer,
                zexDriverGetHostPointerBaseAddress);
}

using HandlesTest = DriverTest;
using HandlesOfCommandsTest = CommandFixture;

TEST_F(HandlesTest, TheListIsComplete) {
    // All but zeInit, zeInitDrivers and zeDriverGet, which take none, and
    // zeDriverGetDefaultContext, which answers a handle.
    EXPECT_EQ(callAllOn(nullptr).size(), namedFunctions().size() - 4);
}

TEST_F(HandlesTest, NullIsANullHandle) {
    for (const ze_result_t result : callAllOn(nullptr)) {
        EXPECT_EQ(result, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    }
}

TEST_F(HandlesTest, AForeignAddressIsAnInvalidArgument) {
    const std::array<uint64_t, 8> foreign = {};
    for (const ze_result_t result : callAllOn(foreign.data())) {
        EXPECT_EQ(result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    EXPECT_NE(lastSentence(), "");
}

TEST_F(HandlesTest, ADestroyedContextIsAnInvalidArgument) {
    const auto stale = makeContext();
    ASSERT_EQ(api::zeContextDestroy(stale), ZE_RESULT_SUCCESS);
    for (const ze_result_t result : callAllOn(stale)) {
        EXPECT_EQ(result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
}

TEST_F(HandlesOfCommandsTest, ADestroyedObjectIsAnInvalidArgument) {
    auto *const fence = makeFence(queue_);
    ASSERT_EQ(api::zeFenceDestroy(fence), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeEventDestroy(event_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeEventPoolDestroy(pool_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandListDestroy(list_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandListDestroy(immediate_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandQueueDestroy(queue_), ZE_RESULT_SUCCESS);
    const std::array<const void *, 6> stale = {fence, event_, pool_, list_, immediate_, queue_};
    for (const void *handle : stale) {
        for (const ze_result_t result : callAllOn(handle)) {
            EXPECT_EQ(result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        }
    }
}

TEST_F(HandlesOfCommandsTest, EveryHandleBeginsWithTheDispatchPointers) {
    const auto object = makePhysical(page);
    const std::array<const void *, 10> handles = {driver_,
                                                  devices_[0],
                                                  context_,
                                                  object,
                                                  list_,
                                                  immediate_,
                                                  queue_,
                                                  makeFence(queue_),
                                                  pool_,
                                                  event_};
    for (const void *handle : handles) {
        EXPECT_EQ(static_cast<const ze_handle_t *>(handle)->pCore, ddi::dispatch().pCore);
        EXPECT_EQ(static_cast<const ze_handle_t *>(handle)->pRuntime, ddi::dispatch().pRuntime);
    }
}

TEST(UninitializedTest, EveryCallSaysSo) {
    for (const ze_result_t result : callAllOn(nullptr)) {
        EXPECT_EQ(result, ZE_RESULT_ERROR_UNINITIALIZED);
    }
    uint32_t count = 0;
    EXPECT_EQ(api::zeDriverGet(&count, nullptr), ZE_RESULT_ERROR_UNINITIALIZED);
}

} // namespace
} // namespace causeway::api
