#include "unit_tests/level_zero/driver_fixture.h"

#include <cstring>

namespace causeway::api {
namespace {

constexpr auto readWrite = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
constexpr auto readOnly = ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY;
constexpr auto none = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
constexpr auto noAccess = static_cast<ze_memory_access_attribute_t>(3);

class VirtualMemoryTest : public DriverTest {
  protected:
    void SetUp() override {
        DriverTest::SetUp();
        address_ = reserve(4 * page);
        object_ = makePhysical(2 * page);
    }

    ze_memory_access_attribute_t accessAt(void *address) {
        auto access = noAccess;
        size_t bytes = 0;
        EXPECT_EQ(api::zeVirtualMemGetAccessAttribute(context_, address, page, &access, &bytes),
                  ZE_RESULT_SUCCESS);
        EXPECT_GE(bytes, page);
        return access;
    }

    void *address_ = nullptr;
    ze_physical_mem_handle_t object_ = nullptr;
};

TEST_F(VirtualMemoryTest, PageSizeQueriesNeverFail) {
    size_t small = 0;
    size_t large = 0;
    EXPECT_EQ(api::zeVirtualMemQueryPageSize(context_, devices_[0], 0, &small), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeVirtualMemQueryPageSize(context_, devices_[0], SIZE_MAX, &large),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(small, 64U << 10);
    EXPECT_EQ(large, 2U << 20);
    EXPECT_EQ(api::zeVirtualMemQueryPageSize(context_, devices_[0], 0, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(VirtualMemoryTest, AMappingHoldsData) {
    ASSERT_EQ(api::zeVirtualMemMap(context_, address_, 2 * page, object_, 0, readWrite),
              ZE_RESULT_SUCCESS);
    std::memset(address_, 0x5a, 2 * page);
    ASSERT_EQ(api::zeVirtualMemUnmap(context_, address_, 2 * page), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeVirtualMemMap(context_, address_, page, object_, page, readOnly),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(*static_cast<const unsigned char *>(address_), 0x5a);
    EXPECT_EQ(api::zeVirtualMemFree(context_, address_, 4 * page), ZE_RESULT_SUCCESS);
}

TEST_F(VirtualMemoryTest, AccessIsWhatWasSet) {
    EXPECT_EQ(accessAt(address_), none);
    ASSERT_EQ(api::zeVirtualMemMap(context_, address_, page, object_, 0, readOnly),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(accessAt(address_), readOnly);
    for (const auto access : {readWrite, none, readOnly}) {
        EXPECT_EQ(api::zeVirtualMemSetAccessAttribute(context_, address_, page, access),
                  ZE_RESULT_SUCCESS);
        EXPECT_EQ(accessAt(address_), access);
    }
}

TEST_F(VirtualMemoryTest, BadEnumerationsAreInvalid) {
    EXPECT_EQ(api::zeVirtualMemMap(context_, address_, page, object_, 0, noAccess),
              ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_EQ(api::zeVirtualMemSetAccessAttribute(context_, address_, page, noAccess),
              ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

TEST_F(VirtualMemoryTest, NullPointersAreInvalid) {
    auto access = none;
    size_t size = 0;
    for (const ze_result_t result :
         {api::zeVirtualMemReserve(context_, nullptr, page, nullptr),
          api::zeVirtualMemFree(context_, nullptr, page),
          api::zeVirtualMemMap(context_, nullptr, page, object_, 0, readWrite),
          api::zeVirtualMemUnmap(context_, nullptr, page),
          api::zeVirtualMemSetAccessAttribute(context_, nullptr, page, readWrite),
          api::zeVirtualMemGetAccessAttribute(context_, nullptr, page, &access, &size),
          api::zeVirtualMemGetAccessAttribute(context_, address_, page, nullptr, &size),
          api::zeVirtualMemGetAccessAttribute(context_, address_, page, &access, nullptr)}) {
        EXPECT_EQ(result, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }
}

TEST_F(VirtualMemoryTest, ZeroSizesAreUnsupported) {
    auto access = none;
    size_t size = 0;
    void *address = nullptr;
    for (const ze_result_t result :
         {api::zeVirtualMemReserve(context_, nullptr, 0, &address),
          api::zeVirtualMemFree(context_, address_, 0),
          api::zeVirtualMemMap(context_, address_, 0, object_, 0, readWrite),
          api::zeVirtualMemUnmap(context_, address_, 0),
          api::zeVirtualMemSetAccessAttribute(context_, address_, 0, readWrite),
          api::zeVirtualMemGetAccessAttribute(context_, address_, 0, &access, &size)}) {
        EXPECT_EQ(result, ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    }
}

TEST_F(VirtualMemoryTest, PhysicalMemoryOfAnotherContextIsNotMapped) {
    const auto other = makeContext();
    const auto foreign = makePhysical(page, other);
    EXPECT_EQ(api::zeVirtualMemMap(context_, address_, page, foreign, 0, readWrite),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(api::zeVirtualMemMap(context_, address_, page, nullptr, 0, readWrite),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_EQ(api::zeContextDestroy(other), ZE_RESULT_SUCCESS);
}

} // namespace
} // namespace causeway::api
