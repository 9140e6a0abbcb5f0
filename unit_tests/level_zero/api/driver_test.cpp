#include "level_zero/api/function_names.h"
#include "unit_tests/level_zero/driver_fixture.h"

#include <level_zero/ze_ipc_phys_mem_handle_range.h>

#include <cstring>

namespace causeway::api {
namespace {

using DriverQueryTest = DriverTest;

TEST_F(DriverQueryTest, TheVersionIs117) {
    auto version = ZE_API_VERSION_1_0;
    EXPECT_EQ(api::zeDriverGetApiVersion(driver_, &version), ZE_RESULT_SUCCESS);
    EXPECT_EQ(version, ZE_API_VERSION_1_17);
    EXPECT_EQ(api::zeDriverGetApiVersion(driver_, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(DriverQueryTest, PropertiesReportDdiHandlesAndLeaveOtherStructuresAlone) {
    auto other = make<ze_driver_memory_free_ext_properties_t>(
        ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES);
    other.freePolicies = 77;
    auto ddi = make<ze_driver_ddi_handles_ext_properties_t>(
        ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES);
    ddi.pNext = &other;
    auto properties = make<ze_driver_properties_t>(ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
    properties.pNext = &ddi;
    EXPECT_EQ(api::zeDriverGetProperties(driver_, &properties), ZE_RESULT_SUCCESS);
    EXPECT_NE(properties.driverVersion, 0U);
    EXPECT_EQ(properties.pNext, &ddi);
    EXPECT_EQ(ddi.flags, uint32_t{ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED});
    EXPECT_EQ(other.freePolicies, 77U);
}

TEST_F(DriverQueryTest, MemoryAndEventsCrossProcesses) {
    auto properties = make<ze_driver_ipc_properties_t>(ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES);
    EXPECT_EQ(api::zeDriverGetIpcProperties(driver_, &properties), ZE_RESULT_SUCCESS);
    EXPECT_EQ(properties.flags,
              uint32_t{ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL});
}

TEST_F(DriverQueryTest, ExtensionsAreListedAsFarAsTheArrayGoes) {
    uint32_t count = 0;
    EXPECT_EQ(api::zeDriverGetExtensionProperties(driver_, &count, nullptr), ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, 8U);
    count = 1;
    std::array<ze_driver_extension_properties_t, 2> items = {};
    EXPECT_EQ(api::zeDriverGetExtensionProperties(driver_, &count, items.data()),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, 1U);
    EXPECT_STREQ(items[0].name, ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME);
    EXPECT_EQ(items[0].version, uint32_t{ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_VERSION_1_0});
    EXPECT_STREQ(items[1].name, "");
}

TEST_F(DriverQueryTest, EveryFunctionIsFoundByName) {
    for (const NamedFunction &function : namedFunctions()) {
        void *address = nullptr;
        const std::string name(function.name);
        EXPECT_EQ(api::zeDriverGetExtensionFunctionAddress(driver_, name.c_str(), &address),
                  ZE_RESULT_SUCCESS);
        EXPECT_EQ(address, function.address) << name;
    }
}

TEST_F(DriverQueryTest, AnUnknownFunctionIsNull) {
    void *address = this;
    EXPECT_EQ(api::zeDriverGetExtensionFunctionAddress(driver_, "zexMemGetIpcHandles", &address),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(address, nullptr);
    EXPECT_NE(lastSentence().find("zexMemGetIpcHandles"), std::string::npos);
}

TEST_F(DriverQueryTest, DescribingTheLastErrorKeepsIt) {
    EXPECT_EQ(api::zeMemFree(context_, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(lastSentence(), "zeMemFree: ptr is null");
    EXPECT_EQ(lastSentence(), "zeMemFree: ptr is null");
}

} // namespace
} // namespace causeway::api
