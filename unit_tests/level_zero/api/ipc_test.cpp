#include "unit_tests/level_zero/driver_fixture.h"

#include <level_zero/ze_ipc_phys_mem_handle_range.h>

#include <cstring>

namespace causeway::api {
namespace {

class IpcTest : public DriverTest {
  protected:
    void SetUp() override {
        DriverTest::SetUp();
        address_ = static_cast<char *>(reserve(2 * page));
        for (uint64_t i = 0; i < 2; ++i) {
            ASSERT_EQ(api::zeVirtualMemMap(context_,
                                           address_ + i * page,
                                           page,
                                           makePhysical(page),
                                           0,
                                           ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
                      ZE_RESULT_SUCCESS);
        }
    }

    ze_result_t exportRange(const void *address, size_t size) {
        range_.size = size;
        return api::zeMemGetIpcHandleWithProperties(context_, address, &range_, &handle_);
    }

    ze_result_t open(ze_ipc_memory_flags_t flags = 0) {
        return api::zeMemOpenIpcHandle(context_, devices_[0], handle_, flags, &opened_);
    }

    char *address_ = nullptr;
    ze_ipc_phys_mem_handle_range_ext_desc_t range_ = make<ze_ipc_phys_mem_handle_range_ext_desc_t>(
        ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC);
    ze_ipc_mem_handle_t handle_ = {};
    void *opened_ = nullptr;
};

TEST_F(IpcTest, ARangeOfTwoObjectsComesBackAsOne) {
    std::memcpy(address_ + page - 4, "one range", sizeof("one range"));
    ASSERT_EQ(exportRange(address_ + 100, 2 * page - 100), ZE_RESULT_SUCCESS);
    ASSERT_EQ(open(), ZE_RESULT_SUCCESS);
    EXPECT_STREQ(static_cast<char *>(opened_) + page - 104, "one range");
    void *base = nullptr;
    size_t size = 0;
    EXPECT_EQ(api::zeMemGetAddressRange(context_, static_cast<char *>(opened_) + 5, &base, &size),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(base, opened_);
    EXPECT_EQ(size, 2 * page - 100);
    EXPECT_EQ(api::zeMemCloseIpcHandle(context_, opened_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeMemCloseIpcHandle(context_, opened_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(IpcTest, TheSpecificationsErrorTable) {
    EXPECT_EQ(exportRange(nullptr, page), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(exportRange(address_, 0), ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_EQ(exportRange(address_, 3 * page), ZE_RESULT_ERROR_ADDRESS_NOT_FOUND);
    auto desc = make<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
    void *host = nullptr;
    ASSERT_EQ(api::zeMemAllocHost(context_, &desc, page, 0, &host), ZE_RESULT_SUCCESS);
    EXPECT_EQ(exportRange(host, page), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(api::zeMemGetIpcHandleWithProperties(context_, address_, &range_, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(IpcTest, WithoutTheRangeDescriptorItIsTheObjectThere) {
    std::memcpy(address_ + page, "second", sizeof("second"));
    ASSERT_EQ(api::zeMemGetIpcHandle(context_, address_ + page + 9, &handle_), ZE_RESULT_SUCCESS);
    const ze_ipc_mem_handle_t first = handle_;
    ASSERT_EQ(api::zeMemGetIpcHandleWithProperties(context_, address_ + page, nullptr, &handle_),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(std::memcmp(&first, &handle_, sizeof(first)), 0);
    ASSERT_EQ(open(), ZE_RESULT_SUCCESS);
    EXPECT_STREQ(static_cast<char *>(opened_), "second");
    EXPECT_EQ(api::zeMemCloseIpcHandle(context_, opened_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeMemGetIpcHandle(context_, nullptr, &handle_),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(api::zeMemGetIpcHandle(context_, address_, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(IpcTest, WhereNotOneWholeObjectIsTheSentenceNamesTheRangeDescriptor) {
    char *const part = static_cast<char *>(reserve(page));
    ASSERT_EQ(
        api::zeVirtualMemMap(
            context_, part, page, makePhysical(2 * page), 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
        ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeMemGetIpcHandle(context_, part, &handle_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(lastSentence().find("ze_ipc_phys_mem_handle_range_ext_desc_t"), std::string::npos);
}

TEST_F(IpcTest, OpeningChecksItsArguments) {
    ASSERT_EQ(exportRange(address_, page), ZE_RESULT_SUCCESS);
    EXPECT_EQ(open(4), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_EQ(api::zeMemOpenIpcHandle(context_, nullptr, handle_, 0, &opened_),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_EQ(api::zeMemOpenIpcHandle(context_, devices_[1], handle_, 0, &opened_),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(api::zeMemOpenIpcHandle(context_, devices_[0], handle_, 0, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    for (const uint32_t flags :
         {uint32_t{ZE_IPC_MEMORY_FLAG_BIAS_CACHED}, uint32_t{ZE_IPC_MEMORY_FLAG_BIAS_UNCACHED}}) {
        EXPECT_EQ(open(flags), ZE_RESULT_SUCCESS);
    }
}

TEST_F(IpcTest, AHandlePutBackOpensNoMore) {
    ASSERT_EQ(exportRange(address_, page), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeMemPutIpcHandle(context_, handle_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeMemPutIpcHandle(context_, handle_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(open(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(IpcTest, AnExportGoesWithItsContext) {
    ASSERT_EQ(exportRange(address_, page), ZE_RESULT_SUCCESS);
    const auto importer = makeContext();
    ASSERT_EQ(api::zeContextDestroy(context_), ZE_RESULT_SUCCESS);
    context_ = importer;
    EXPECT_EQ(ipc_.liveExports(), 0U);
    EXPECT_EQ(open(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(IpcTest, ClosingWantsAnImport) {
    EXPECT_EQ(api::zeMemCloseIpcHandle(context_, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(api::zeMemCloseIpcHandle(context_, address_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

} // namespace
} // namespace causeway::api
