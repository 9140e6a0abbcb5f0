#include "unit_tests/level_zero/driver_fixture.h"

namespace causeway::api {
namespace {

class PhysicalMemoryTest : public DriverTest {
  protected:
    ze_result_t create(uint32_t flags,
                       size_t size,
                       ze_device_handle_t device,
                       const void *pNext = nullptr) {
        auto desc = make<ze_physical_mem_desc_t>(ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC);
        desc.pNext = pNext;
        desc.flags = flags;
        desc.size = size;
        ze_physical_mem_handle_t object = nullptr;
        const ze_result_t result = api::zePhysicalMemCreate(context_, device, &desc, &object);
        EXPECT_EQ(object != nullptr, result == ZE_RESULT_SUCCESS);
        return result;
    }
};

constexpr uint32_t onDeviceFlag = ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE;
constexpr uint32_t onHostFlag = ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST;

TEST_F(PhysicalMemoryTest, DeviceMemoryIsTheDefault) {
    const uint64_t before = backend_.devices()[0]->freeBytes();
    EXPECT_EQ(create(0, page, devices_[0]), ZE_RESULT_SUCCESS);
    EXPECT_EQ(create(onDeviceFlag, page, devices_[0]), ZE_RESULT_SUCCESS);
    EXPECT_EQ(backend_.devices()[0]->freeBytes(), before - 2 * page);
}

TEST_F(PhysicalMemoryTest, HostMemoryNeedsNoDevice) {
    const uint64_t before = backend_.devices()[0]->freeBytes();
    EXPECT_EQ(create(onHostFlag, 4096, nullptr), ZE_RESULT_SUCCESS);
    EXPECT_EQ(create(onHostFlag, 4096, devices_[0]), ZE_RESULT_SUCCESS);
    EXPECT_EQ(backend_.devices()[0]->freeBytes(), before);
}

TEST_F(PhysicalMemoryTest, DeviceMemoryNeedsADeviceOfTheContext) {
    EXPECT_EQ(create(0, page, nullptr), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_EQ(create(0, page, devices_[1]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(PhysicalMemoryTest, FlagsMustNameOnePlacement) {
    EXPECT_EQ(create(4, page, devices_[0]), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_EQ(create(onDeviceFlag | onHostFlag, page, devices_[0]),
              ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

TEST_F(PhysicalMemoryTest, SizesMustBeWholePages) {
    EXPECT_EQ(create(0, 0, devices_[0]), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(create(0, page + 1, devices_[0]), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(create(onHostFlag, 100, nullptr), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
}

TEST_F(PhysicalMemoryTest, MoreThanTheDeviceHasIsOutOfDeviceMemory) {
    EXPECT_EQ(create(0, 2 * memoryBytes, devices_[0]), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}

TEST_F(PhysicalMemoryTest, PropertiesTellIdAndSize) {
    const auto object = makePhysical(2 * page);
    auto properties = make<ze_physical_mem_properties_t>(ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES);
    EXPECT_EQ(api::zePhysicalMemGetProperties(context_, nullptr, &properties),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_EQ(api::zePhysicalMemGetProperties(context_, object, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(properties.id, 0U);
    ASSERT_EQ(api::zePhysicalMemGetProperties(context_, object, &properties), ZE_RESULT_SUCCESS);
    EXPECT_NE(properties.id, 0U);
    EXPECT_EQ(properties.size, 2 * page);
    EXPECT_EQ(api::zePhysicalMemDestroy(context_, object), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zePhysicalMemGetProperties(context_, object, &properties),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(PhysicalMemoryTest, AnotherKindOfExternalMemoryIsAnUnsupportedEnumeration) {
    auto import = make<ze_external_memory_import_fd_t>(ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD);
    import.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
    import.fd = 0;
    EXPECT_EQ(create(0, page, devices_[0], &import), ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
}

TEST_F(PhysicalMemoryTest, NullPointersAreInvalid) {
    auto desc = make<ze_physical_mem_desc_t>(ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC);
    desc.size = page;
    ze_physical_mem_handle_t object = nullptr;
    EXPECT_EQ(api::zePhysicalMemCreate(context_, devices_[0], nullptr, &object),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(api::zePhysicalMemCreate(context_, devices_[0], &desc, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(PhysicalMemoryTest, AnObjectCanBeDestroyedOnce) {
    const auto object = makePhysical(page);
    EXPECT_EQ(api::zePhysicalMemDestroy(context_, object), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zePhysicalMemDestroy(context_, object), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(api::zePhysicalMemDestroy(context_, nullptr), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(PhysicalMemoryTest, AnObjectLivesWhileItIsMapped) {
    const uint64_t before = backend_.devices()[0]->freeBytes();
    void *address = reserve(page);
    const auto object = makePhysical(page);
    ASSERT_EQ(api::zeVirtualMemMap(
                  context_, address, page, object, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zePhysicalMemDestroy(context_, object), ZE_RESULT_SUCCESS);
    *static_cast<int *>(address) = 7;
    EXPECT_EQ(backend_.devices()[0]->freeBytes(), before - page);
    EXPECT_EQ(api::zeVirtualMemUnmap(context_, address, page), ZE_RESULT_SUCCESS);
    EXPECT_EQ(backend_.devices()[0]->freeBytes(), before);
}

} // namespace
} // namespace causeway::api
