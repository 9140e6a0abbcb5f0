#include "unit_tests/level_zero/command_fixture.h"

#include <chrono>
#include <future>
#include <tuple>

namespace causeway::api {
namespace {

using DeviceTest = DriverTest;

class DeviceSynchronizeTest : public CommandFixture {
  protected:
    /// A command of `queue_` meets memory that is gone: all work of the fixture's context is lost.
    void failWork() {
        void *address = reserve(page);
        ASSERT_EQ(api::zeVirtualMemMap(context_,
                                       address,
                                       page,
                                       makePhysical(page),
                                       0,
                                       ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
                  ZE_RESULT_SUCCESS);
        ASSERT_EQ(api::zeCommandListAppendMemoryCopy(list_, address, src_, 1, nullptr, 0, nullptr),
                  ZE_RESULT_SUCCESS);
        ASSERT_EQ(api::zeCommandListClose(list_), ZE_RESULT_SUCCESS);
        ASSERT_EQ(api::zeVirtualMemUnmap(context_, address, page), ZE_RESULT_SUCCESS);
        ASSERT_EQ(api::zeCommandQueueExecuteCommandLists(queue_, 1, &list_, nullptr),
                  ZE_RESULT_SUCCESS);
        ASSERT_EQ(api::zeCommandQueueSynchronize(queue_, forEver), ZE_RESULT_ERROR_DEVICE_LOST);
    }
};

TEST_F(DeviceSynchronizeTest, WaitsForOtherContextsWhereTheWorkOfOneIsLost) {
    auto *const working = makeImmediate(otherContext_);
    uint8_t source = 7;
    uint8_t copied = 0;
    ASSERT_EQ(api::zeCommandListAppendMemoryCopy(working, &copied, &source, 1, nullptr, 1, &event_),
              ZE_RESULT_SUCCESS);
    failWork();
    auto synchronized =
        std::async(std::launch::async, [&] { return api::zeDeviceSynchronize(devices_[0]); });
    EXPECT_EQ(synchronized.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
    ASSERT_EQ(api::zeEventHostSignal(event_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(synchronized.get(), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_EQ(copied, 7);
}

TEST_F(DeviceTest, DevicesAreListedAsFarAsTheArrayGoes) {
    uint32_t count = 0;
    EXPECT_EQ(api::zeDeviceGet(driver_, &count, nullptr), ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, 2U);
    count = 1;
    std::array<ze_device_handle_t, 2> some = {};
    EXPECT_EQ(api::zeDeviceGet(driver_, &count, some.data()), ZE_RESULT_SUCCESS);
    EXPECT_EQ(some[0], devices_[0]);
    EXPECT_EQ(some[1], nullptr);
    count = 9;
    EXPECT_EQ(api::zeDeviceGet(driver_, &count, some.data()), ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(api::zeDeviceGet(driver_, nullptr, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(DeviceTest, PropertiesAreThoseOfTheBackEnd) {
    const kmd::DeviceProperties &expected = backend_.devices()[1]->properties();
    auto properties = make<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    ASSERT_EQ(api::zeDeviceGetProperties(devices_[1], &properties), ZE_RESULT_SUCCESS);
    EXPECT_EQ(properties.type, ZE_DEVICE_TYPE_GPU);
    EXPECT_EQ(properties.flags, uint32_t{ZE_DEVICE_PROPERTY_FLAG_INTEGRATED});
    EXPECT_EQ(properties.vendorId, expected.vendorId);
    EXPECT_EQ(properties.deviceId, expected.deviceId);
    EXPECT_EQ(properties.maxMemAllocSize, memoryBytes);
    EXPECT_TRUE(std::ranges::equal(properties.uuid.id, expected.uuid));
    EXPECT_EQ(properties.name, expected.name);
    EXPECT_EQ(uint64_t{properties.numThreadsPerEU} * properties.numEUsPerSubslice *
                  properties.numSubslicesPerSlice * properties.numSlices,
              expected.threadCount);
}

TEST_F(DeviceTest, TimerResolutionIsATimeAndSince12ARate) {
    auto properties = make<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    ASSERT_EQ(api::zeDeviceGetProperties(devices_[0], &properties), ZE_RESULT_SUCCESS);
    EXPECT_EQ(properties.timerResolution, 1U);
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    ASSERT_EQ(api::zeDeviceGetProperties(devices_[0], &properties), ZE_RESULT_SUCCESS);
    EXPECT_EQ(properties.timerResolution, 1'000'000'000U);
}

TEST_F(DeviceTest, UnknownStructuresInTheChainAreLeftAlone) {
    auto other = make<ze_device_ip_version_ext_t>(ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT);
    other.ipVersion = 77;
    auto properties = make<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    properties.pNext = &other;
    ASSERT_EQ(api::zeDeviceGetProperties(devices_[0], &properties), ZE_RESULT_SUCCESS);
    EXPECT_EQ(properties.pNext, &other);
    EXPECT_EQ(other.ipVersion, 77U);
}

TEST_F(DeviceTest, TheFirstMemoryIsTheOnlyOne) {
    uint32_t count = 0;
    EXPECT_EQ(api::zeDeviceGetMemoryProperties(devices_[0], &count, nullptr), ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, 1U);
    auto properties =
        make<ze_device_memory_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES);
    EXPECT_EQ(api::zeDeviceGetMemoryProperties(devices_[0], &count, &properties),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(properties.totalSize, memoryBytes);
    EXPECT_EQ(properties.stype, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES);
}

TEST_F(DeviceTest, OneQueueGroupCopiesAndComputes) {
    uint32_t count = 4;
    std::array<ze_command_queue_group_properties_t, 4> groups = {};
    EXPECT_EQ(api::zeDeviceGetCommandQueueGroupProperties(devices_[0], &count, groups.data()),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(groups[0].flags,
              uint32_t{ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
                       ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY});
    EXPECT_GT(groups[0].numQueues, 0U);
    EXPECT_GT(groups[0].maxMemoryFillPatternSize, 0U);
}

TEST_F(DeviceTest, LimitsThatClientsDivideByAreNotZero) {
    auto properties =
        make<ze_device_compute_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
    ASSERT_EQ(api::zeDeviceGetComputeProperties(devices_[0], &properties), ZE_RESULT_SUCCESS);
    EXPECT_GT(properties.maxTotalGroupSize, 0U);
    EXPECT_GT(properties.maxGroupCountX, 0U);
    ASSERT_EQ(properties.numSubGroupSizes, 1U);
    EXPECT_GT(properties.subGroupSizes[0], 0U);
}

TEST_F(DeviceTest, WhatIsNotThereIsZero) {
    uint32_t count = 3;
    EXPECT_EQ(api::zeDeviceGetSubDevices(devices_[0], &count, nullptr), ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, 0U);
    ze_device_handle_t root = devices_[0];
    EXPECT_EQ(api::zeDeviceGetRootDevice(devices_[0], &root), ZE_RESULT_SUCCESS);
    EXPECT_EQ(root, nullptr);
    ze_device_image_properties_t images = {};
    images.maxImageDims1D = 7;
    EXPECT_EQ(api::zeDeviceGetImageProperties(devices_[0], &images), ZE_RESULT_SUCCESS);
    EXPECT_EQ(images.maxImageDims1D, 0U);
    ze_device_module_properties_t modules = {};
    modules.spirvVersionSupported = 7;
    EXPECT_EQ(api::zeDeviceGetModuleProperties(devices_[0], &modules), ZE_RESULT_SUCCESS);
    EXPECT_EQ(modules.spirvVersionSupported, 0U);
}

TEST_F(DeviceTest, MemoryLeavesAndEntersAsOpaqueDescriptors) {
    ze_device_external_memory_properties_t external = {};
    external.imageImportTypes = 7;
    ASSERT_EQ(api::zeDeviceGetExternalMemoryProperties(devices_[0], &external), ZE_RESULT_SUCCESS);
    constexpr uint32_t opaque = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;
    EXPECT_EQ(external.memoryAllocationExportTypes, opaque);
    EXPECT_EQ(external.memoryAllocationImportTypes, opaque);
    EXPECT_EQ(external.imageExportTypes, 0U);
    EXPECT_EQ(external.imageImportTypes, 0U);
}

// oneCCL and MPICH tell cards apart by it.
TEST_F(DeviceTest, PciAddressesDiffer) {
    auto first = make<ze_pci_ext_properties_t>(ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES);
    auto second = first;
    ASSERT_EQ(api::zeDevicePciGetPropertiesExt(devices_[0], &first), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeDevicePciGetPropertiesExt(devices_[1], &second), ZE_RESULT_SUCCESS);
    EXPECT_NE(std::tie(first.address.domain, first.address.bus, first.address.device),
              std::tie(second.address.domain, second.address.bus, second.address.device));
    EXPECT_EQ(first.maxSpeed.width, -1);
    EXPECT_EQ(first.maxSpeed.genVersion, -1);
    EXPECT_EQ(first.maxSpeed.maxBandwidth, -1);
}

TEST_F(DeviceTest, PeersReachEachOther) {
    for (const ze_device_handle_t peer : devices_) {
        ze_bool_t reachable = 0;
        EXPECT_EQ(api::zeDeviceCanAccessPeer(devices_[0], peer, &reachable), ZE_RESULT_SUCCESS);
        EXPECT_EQ(reachable, 1);
        auto properties = make<ze_device_p2p_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES);
        EXPECT_EQ(api::zeDeviceGetP2PProperties(devices_[0], peer, &properties), ZE_RESULT_SUCCESS);
        EXPECT_NE(properties.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS, 0U);
    }
    ze_bool_t reachable = 0;
    EXPECT_EQ(api::zeDeviceCanAccessPeer(devices_[0], nullptr, &reachable),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(DeviceTest, EveryQueryWantsItsStructure) {
    for (const ze_result_t result :
         {api::zeDeviceGetProperties(devices_[0], nullptr),
          api::zeDeviceGetComputeProperties(devices_[0], nullptr),
          api::zeDevicePciGetPropertiesExt(devices_[0], nullptr),
          api::zeDeviceGetExternalMemoryProperties(devices_[0], nullptr),
          api::zeDeviceGetModuleProperties(devices_[0], nullptr),
          api::zeDeviceGetMemoryAccessProperties(devices_[0], nullptr),
          api::zeDeviceGetMemoryProperties(devices_[0], nullptr, nullptr),
          api::zeDeviceGetCacheProperties(devices_[0], nullptr, nullptr),
          api::zeDeviceGetRootDevice(devices_[0], nullptr),
          api::zeDeviceGetSubDevices(devices_[0], nullptr, nullptr),
          api::zeDeviceCanAccessPeer(devices_[0], devices_[0], nullptr)}) {
        EXPECT_EQ(result, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }
    EXPECT_EQ(api::zeDeviceGetStatus(devices_[0]), ZE_RESULT_SUCCESS);
}

} // namespace
} // namespace causeway::api
