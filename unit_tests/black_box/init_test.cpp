#include "unit_tests/black_box/ipc_fixture.h"

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace causeway::black_box {

namespace {

/// What a running driver says about itself.
class InitTest : public DriverTest {
  protected:
    static ze_device_properties_t deviceProperties() {
        ze_device_properties_t properties = {};
        properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
        require(zeDeviceGetProperties(firstDevice(), &properties), "zeDeviceGetProperties");
        return properties;
    }
};

} // namespace

TEST_F(InitTest, LoaderFindsTheDriverAndADevice) {
    EXPECT_NE(driver().handle, nullptr);
    EXPECT_GE(driver().devices.size(), 1U);
}

TEST_F(InitTest, DriverIsTheSameAtEveryCall) {
    uint32_t count = 1;
    ze_driver_handle_t again = nullptr;
    EXPECT_EQ(zeInit(0), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeDriverGet(&count, &again), ZE_RESULT_SUCCESS);
    EXPECT_EQ(again, driver().handle);
}

TEST_F(InitTest, DriverSpeaksApi117) {
    auto version = ZE_API_VERSION_FORCE_UINT32;
    EXPECT_EQ(zeDriverGetApiVersion(driver().handle, &version), ZE_RESULT_SUCCESS);
    EXPECT_EQ(static_cast<uint32_t>(version), ZE_MAKE_VERSION(1, 17));
}

TEST_F(InitTest, DriverPropertiesCarryAVersionAndAUuid) {
    ze_driver_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
    EXPECT_EQ(zeDriverGetProperties(driver().handle, &properties), ZE_RESULT_SUCCESS);
    EXPECT_NE(properties.driverVersion, 0U);
    const ze_driver_uuid_t zero = {};
    EXPECT_NE(std::memcmp(&properties.uuid, &zero, sizeof(zero)), 0);
}

TEST_F(InitTest, DriverSharesMemoryBetweenProcesses) {
    ze_driver_ipc_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES;
    EXPECT_EQ(zeDriverGetIpcProperties(driver().handle, &properties), ZE_RESULT_SUCCESS);
    EXPECT_NE(properties.flags & ZE_IPC_PROPERTY_FLAG_MEMORY, 0U);
}

TEST_F(InitTest, FieldCase77_RangeExtensionIsListed) {
    EXPECT_STREQ(ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME, "ZE_extension_ipc_phys_mem_handle_range");
    EXPECT_EQ(extensionVersion(ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME), ZE_MAKE_VERSION(1, 0));
}

TEST_F(InitTest, HandleTypeExtensionIsListed) {
    EXPECT_EQ(extensionVersion(ZE_IPC_MEM_HANDLE_TYPE_EXT_NAME), ZE_MAKE_VERSION(1, 0));
}

TEST_F(InitTest, ShortExtensionListIsFilledInPart) {
    const auto all = extensions();
    ASSERT_GE(all.size(), 2U);
    uint32_t count = 1;
    std::array<ze_driver_extension_properties_t, 2> some = {};
    EXPECT_EQ(zeDriverGetExtensionProperties(driver().handle, &count, some.data()),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, 1U);
    EXPECT_STREQ(some[0].name, all[0].name);
    EXPECT_STREQ(some[1].name, "");
}

TEST_F(InitTest, LongExtensionListIsCutToTheRightCount) {
    const auto all = extensions();
    auto count = static_cast<uint32_t>(all.size() + 5);
    std::vector<ze_driver_extension_properties_t> more(count);
    EXPECT_EQ(zeDriverGetExtensionProperties(driver().handle, &count, more.data()),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, all.size());
}

TEST_F(InitTest, FieldCase77_NewerCallsAreHadByName) {
    for (const char *name : {"zeMemGetIpcHandleWithProperties", "zeMemPutIpcHandle"}) {
        void *address = nullptr;
        EXPECT_EQ(zeDriverGetExtensionFunctionAddress(driver().handle, name, &address),
                  ZE_RESULT_SUCCESS)
            << name;
        EXPECT_NE(address, nullptr) << name;
    }
}

// Nothing counts free memory, so no count can be wrong: what is left shows when objects are
// created.
TEST_F(InitTest, FieldCase43_NoCallTellsFreeMemory) {
    for (const char *name : {"zesInit", "zesDeviceEnumMemoryModules", "zesMemoryGetState"}) {
        void *address = nullptr;
        EXPECT_NE(zeDriverGetExtensionFunctionAddress(driver().handle, name, &address),
                  ZE_RESULT_SUCCESS)
            << name;
        EXPECT_EQ(address, nullptr) << name;
    }
}

// Clients probe for private calls of another driver and fall back.
TEST_F(InitTest, FieldCase68_UnknownCallsAreAnErrorAndANullPointer) {
    for (const char *name : {"zexMemGetIpcHandles", "zexMemOpenIpcHandles", "zeNoSuchCall", ""}) {
        int something = 0;
        void *address = &something;
        EXPECT_NE(zeDriverGetExtensionFunctionAddress(driver().handle, name, &address),
                  ZE_RESULT_SUCCESS)
            << name;
        EXPECT_EQ(address, nullptr) << name;
    }
}

TEST_F(InitTest, FailureLeavesASentence) {
    EXPECT_EQ(exportResult(context(), nullptr, chunk), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_NE(lastErrorDescription(), "");
}

TEST_F(InitTest, SentenceBelongsToItsThread) {
    exportResult(context(), nullptr, chunk);
    const auto here = lastErrorDescription();
    std::string there;
    std::jthread([&] {
        int local = 0;
        exportResult(context(), &local, 0);
        there = lastErrorDescription();
    }).join();
    EXPECT_NE(there, "");
    EXPECT_NE(there, here);
    EXPECT_EQ(lastErrorDescription(), here);
}

TEST_F(InitTest, SuccessLeavesTheSentenceAlone) {
    exportResult(context(), nullptr, chunk);
    const auto before = lastErrorDescription();
    const Range range(context(), manyPieces(1));
    EXPECT_EQ(lastErrorDescription(), before);
}

TEST_F(InitTest, DeviceIsAnIntegratedGpu) {
    const auto properties = deviceProperties();
    EXPECT_EQ(properties.type, ZE_DEVICE_TYPE_GPU);
    EXPECT_NE(properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED, 0U);
    EXPECT_NE(properties.vendorId, 0U);
    EXPECT_NE(std::string(properties.name), "");
    EXPECT_GT(properties.maxMemAllocSize, 0U);
}

TEST_F(InitTest, DeviceHasMemory) {
    uint32_t count = 0;
    ASSERT_EQ(zeDeviceGetMemoryProperties(firstDevice(), &count, nullptr), ZE_RESULT_SUCCESS);
    ASSERT_GE(count, 1U);
    std::vector<ze_device_memory_properties_t> memories(count);
    for (auto &memory : memories) {
        memory.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
    }
    EXPECT_EQ(zeDeviceGetMemoryProperties(firstDevice(), &count, memories.data()),
              ZE_RESULT_SUCCESS);
    EXPECT_GT(memories.front().totalSize, 0U);
}

TEST_F(InitTest, DeviceHasMemoryAccessProperties) {
    ze_device_memory_access_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES;
    EXPECT_EQ(zeDeviceGetMemoryAccessProperties(firstDevice(), &properties), ZE_RESULT_SUCCESS);
    EXPECT_NE(properties.hostAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW, 0U);
    EXPECT_NE(properties.deviceAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW, 0U);
}

TEST_F(InitTest, DeviceHasComputeProperties) {
    ze_device_compute_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES;
    EXPECT_EQ(zeDeviceGetComputeProperties(firstDevice(), &properties), ZE_RESULT_SUCCESS);
    EXPECT_GT(properties.maxTotalGroupSize, 0U);
    EXPECT_GT(properties.maxGroupSizeX, 0U);
}

TEST_F(InitTest, DeviceHasAQueueGroupThatComputesAndCopies) {
    uint32_t count = 0;
    ASSERT_EQ(zeDeviceGetCommandQueueGroupProperties(firstDevice(), &count, nullptr),
              ZE_RESULT_SUCCESS);
    std::vector<ze_command_queue_group_properties_t> groups(count);
    for (auto &group : groups) {
        group.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    }
    ASSERT_EQ(zeDeviceGetCommandQueueGroupProperties(firstDevice(), &count, groups.data()),
              ZE_RESULT_SUCCESS);
    constexpr uint32_t both =
        ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
    uint32_t queues = 0;
    for (const auto &group : groups) {
        queues += (group.flags & both) == both ? group.numQueues : 0;
    }
    EXPECT_GE(queues, 1U);
}

TEST_F(InitTest, ContextOfOneDeviceIsMade) {
    const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ze_context_handle_t one = nullptr;
    auto *device = firstDevice();
    ASSERT_EQ(zeContextCreateEx(driver().handle, &desc, 1, &device, &one), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeContextGetStatus(one), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeContextDestroy(one), ZE_RESULT_SUCCESS);
}

} // namespace causeway::black_box
