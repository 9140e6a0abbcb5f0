#include "unit_tests/level_zero/driver_fixture.h"

namespace causeway::api {
namespace {

class MemoryTest : public DriverTest {
  protected:
    void *allocateDevice(size_t size, size_t alignment = 0) {
        void *address = nullptr;
        EXPECT_EQ(
            api::zeMemAllocDevice(context_, &deviceDesc_, size, alignment, devices_[0], &address),
            ZE_RESULT_SUCCESS);
        return address;
    }

    ze_memory_type_t typeOf(const void *address, ze_device_handle_t *device = nullptr) {
        auto properties =
            make<ze_memory_allocation_properties_t>(ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
        EXPECT_EQ(api::zeMemGetAllocProperties(context_, address, &properties, device),
                  ZE_RESULT_SUCCESS);
        EXPECT_EQ(properties.id != 0, properties.type != ZE_MEMORY_TYPE_UNKNOWN);
        return properties.type;
    }

    ze_device_mem_alloc_desc_t deviceDesc_ =
        make<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
    ze_host_mem_alloc_desc_t hostDesc_ =
        make<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
};

TEST_F(MemoryTest, AllocationsKnowTheirTypeAndDevice) {
    void *device = allocateDevice(100);
    void *host = nullptr;
    void *shared = nullptr;
    ASSERT_EQ(api::zeMemAllocHost(context_, &hostDesc_, 100, 0, &host), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeMemAllocShared(context_, &deviceDesc_, &hostDesc_, 100, 0, nullptr, &shared),
              ZE_RESULT_SUCCESS);
    ze_device_handle_t owner = nullptr;
    EXPECT_EQ(typeOf(device, &owner), ZE_MEMORY_TYPE_DEVICE);
    EXPECT_EQ(owner, devices_[0]);
    EXPECT_EQ(typeOf(host, &owner), ZE_MEMORY_TYPE_HOST);
    EXPECT_EQ(owner, nullptr);
    EXPECT_EQ(typeOf(shared), ZE_MEMORY_TYPE_SHARED);
    for (void *address : {device, host, shared}) {
        EXPECT_EQ(api::zeMemFree(context_, address), ZE_RESULT_SUCCESS);
        EXPECT_EQ(typeOf(address), ZE_MEMORY_TYPE_UNKNOWN);
    }
}

TEST_F(MemoryTest, AForeignPointerIsOfUnknownType) {
    ze_device_handle_t owner = devices_[0];
    EXPECT_EQ(typeOf(this, &owner), ZE_MEMORY_TYPE_UNKNOWN);
    EXPECT_EQ(owner, nullptr);
    EXPECT_EQ(api::zeMemGetAddressRange(context_, this, nullptr, nullptr),
              ZE_RESULT_ERROR_ADDRESS_NOT_FOUND);
}

TEST_F(MemoryTest, TheRangeOfAnInteriorPointerIsTheAllocation) {
    void *address = allocateDevice(100, 4096);
    EXPECT_EQ(std::bit_cast<uint64_t>(address) % 4096, 0U);
    void *base = nullptr;
    size_t size = 0;
    const char *interior = static_cast<char *>(address) + 50;
    EXPECT_EQ(api::zeMemGetAddressRange(context_, interior, &base, nullptr), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeMemGetAddressRange(context_, interior, nullptr, &size), ZE_RESULT_SUCCESS);
    EXPECT_EQ(base, address);
    EXPECT_GE(size, 100U);
}

TEST_F(MemoryTest, MappedMemoryIsOfItsObjectsType) {
    void *address = reserve(page);
    ASSERT_EQ(
        api::zeVirtualMemMap(
            context_, address, page, makePhysical(page), 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
        ZE_RESULT_SUCCESS);
    EXPECT_EQ(typeOf(address), ZE_MEMORY_TYPE_DEVICE);
}

TEST_F(MemoryTest, DescriptorsAreChecked) {
    void *address = nullptr;
    const auto device = [&] {
        return api::zeMemAllocDevice(context_, &deviceDesc_, 100, 0, devices_[0], &address);
    };
    const auto host = [&] { return api::zeMemAllocHost(context_, &hostDesc_, 100, 0, &address); };
    deviceDesc_.flags = 8;
    EXPECT_EQ(device(), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    deviceDesc_.flags = 0;
    deviceDesc_.ordinal = 1;
    EXPECT_EQ(device(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    hostDesc_.flags = 0x20;
    EXPECT_EQ(host(), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    hostDesc_.flags = 0;
    auto external =
        make<ze_external_memory_export_desc_t>(ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC);
    external.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
    hostDesc_.pNext = &external;
    EXPECT_EQ(host(), ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    EXPECT_EQ(address, nullptr);
}

TEST_F(MemoryTest, SizesAndAlignmentsAreChecked) {
    void *address = nullptr;
    EXPECT_EQ(api::zeMemAllocHost(context_, &hostDesc_, 0, 0, &address),
              ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(api::zeMemAllocHost(context_, &hostDesc_, 100, 3, &address),
              ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    EXPECT_EQ(
        api::zeMemAllocDevice(context_, &deviceDesc_, 2 * memoryBytes, 0, devices_[0], &address),
        ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(address, nullptr);
}

TEST_F(MemoryTest, NullPointersAreInvalid) {
    void *address = nullptr;
    ze_memory_allocation_properties_t properties = {};
    for (const ze_result_t result :
         {api::zeMemAllocDevice(context_, nullptr, 1, 0, devices_[0], &address),
          api::zeMemAllocDevice(context_, &deviceDesc_, 1, 0, devices_[0], nullptr),
          api::zeMemAllocHost(context_, nullptr, 1, 0, &address),
          api::zeMemAllocShared(context_, &deviceDesc_, nullptr, 1, 0, nullptr, &address),
          api::zeMemAllocShared(context_, nullptr, &hostDesc_, 1, 0, nullptr, &address),
          api::zeMemFree(context_, nullptr),
          api::zeMemFreeExt(context_, nullptr, this),
          api::zeMemGetAllocProperties(context_, nullptr, &properties, nullptr),
          api::zeMemGetAllocProperties(context_, this, nullptr, nullptr),
          api::zeMemGetAddressRange(context_, nullptr, nullptr, nullptr)}) {
        EXPECT_EQ(result, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }
}

TEST_F(MemoryTest, DevicesOutsideTheContextAreRefused) {
    void *address = nullptr;
    EXPECT_EQ(api::zeMemAllocDevice(context_, &deviceDesc_, 1, 0, devices_[1], &address),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(api::zeMemAllocDevice(context_, &deviceDesc_, 1, 0, nullptr, &address),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(MemoryTest, FreePoliciesAreCheckedAndFree) {
    void *address = allocateDevice(100);
    auto desc = make<ze_memory_free_ext_desc_t>(ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC);
    desc.freePolicy = 4;
    EXPECT_EQ(api::zeMemFreeExt(context_, &desc, address), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    desc.freePolicy = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
    EXPECT_EQ(api::zeMemFreeExt(context_, &desc, address), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeMemFree(context_, address), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

} // namespace
} // namespace causeway::api
