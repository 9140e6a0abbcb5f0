#include "level_zero/api/external_memory.h"

#include "unit_tests/level_zero/driver_fixture.h"

namespace causeway::api {
namespace {

ze_external_memory_export_fd_t exportFd(uint32_t flags) {
    auto query = make<ze_external_memory_export_fd_t>(ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD);
    query.flags = flags;
    query.fd = -7;
    return query;
}

Status statusOf(void *pNext) {
    auto found = findDescriptorQuery(pNext);
    EXPECT_FALSE(found);
    return found ? Status::Unknown : found.error().status;
}

TEST(DescriptorQueryTest, IsFoundAnywhereInTheChain) {
    EXPECT_EQ(*findDescriptorQuery(nullptr), nullptr);
    auto query = exportFd(ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD);
    auto outer = make<ze_base_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT);
    outer.pNext = &query;
    EXPECT_EQ(*findDescriptorQuery(&outer), &query);
    query.flags = 0;
    EXPECT_EQ(*findDescriptorQuery(&outer), &query);
}

TEST(DescriptorQueryTest, OfAnotherTypeIsUnsupported) {
    for (uint32_t bit = 1; bit < 8; ++bit) {
        auto query = exportFd(1U << bit);
        EXPECT_EQ(statusOf(&query), Status::UnsupportedEnumeration) << bit;
        query.flags |= ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;
        EXPECT_EQ(statusOf(&query), Status::UnsupportedEnumeration) << bit;
        EXPECT_EQ(query.fd, -7);
    }
    auto query = exportFd(1U << 8);
    EXPECT_EQ(statusOf(&query), Status::InvalidEnumeration);
    auto win32 = make<ze_base_properties_t>(ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_WIN32);
    EXPECT_EQ(statusOf(&win32), Status::UnsupportedEnumeration);
}

TEST(DescriptorQueryTest, TwiceIsInvalid) {
    auto second = exportFd(0);
    auto first = exportFd(0);
    first.pNext = &second;
    EXPECT_EQ(statusOf(&first), Status::InvalidArgument);
}

ze_external_memory_import_fd_t importFd(int fd, uint32_t flags = 0) {
    auto import = make<ze_external_memory_import_fd_t>(ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD);
    import.flags = flags;
    import.fd = fd;
    return import;
}

TEST(AllocationChainTest, TellsFileAndImport) {
    EXPECT_FALSE(readExternalMemory(nullptr)->imported);
    EXPECT_EQ(readExternalMemory(nullptr)->file, kmd::FileNeed::Any);
    auto import = importFd(5, ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD);
    auto exported =
        make<ze_external_memory_export_desc_t>(ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC);
    exported.pNext = &import;
    EXPECT_EQ(readExternalMemory(&exported)->imported, 5);
    EXPECT_EQ(readExternalMemory(&exported)->file, kmd::FileNeed::OfItsOwn);
    EXPECT_EQ(readExternalMemory(&import)->file, kmd::FileNeed::Any);
    import.fd = -1;
    EXPECT_EQ(readExternalMemory(&import)->imported, -1);
}

TEST(AllocationChainTest, RefusesWhatThereIsNot) {
    const auto statusOf = [](const void *pNext) {
        const auto read = readExternalMemory(pNext);
        return read ? std::nullopt : std::optional(read.error().status);
    };
    auto import = importFd(5, ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF);
    EXPECT_EQ(statusOf(&import), Status::UnsupportedEnumeration);
    import.flags = 1U << 8;
    EXPECT_EQ(statusOf(&import), Status::InvalidEnumeration);
    import = importFd(5);
    auto second = importFd(6);
    second.pNext = &import;
    EXPECT_EQ(statusOf(&second), Status::InvalidArgument);
    for (const auto stype : {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                             ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32,
                             ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_WIN32,
                             ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC}) {
        auto other = make<ze_base_desc_t>(stype);
        EXPECT_EQ(statusOf(&other), Status::UnsupportedEnumeration) << stype;
    }
}

class ExternalMemoryTest : public DriverTest {
  protected:
    void *allocate(size_t size) {
        auto desc = make<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
        void *address = nullptr;
        EXPECT_EQ(api::zeMemAllocDevice(context_, &desc, size, 0, devices_[0], &address),
                  ZE_RESULT_SUCCESS);
        return address;
    }

    ze_result_t query(const void *address, ze_external_memory_export_fd_t &fd) {
        properties_.pNext = &fd;
        return api::zeMemGetAllocProperties(context_, address, &properties_, nullptr);
    }

    ze_memory_allocation_properties_t properties_ =
        make<ze_memory_allocation_properties_t>(ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
};

TEST_F(ExternalMemoryTest, AllocationsHandlesAndDescriptorsLeadToEachOther) {
    void *address = allocate(100);
    auto queried = exportFd(ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD);
    ASSERT_EQ(query(address, queried), ZE_RESULT_SUCCESS);
    EXPECT_EQ(properties_.type, ZE_MEMORY_TYPE_DEVICE);
    ASSERT_GE(queried.fd, 0);
    EXPECT_EQ(queried.flags, uint32_t{ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD});
    ze_ipc_mem_handle_t handle = {};
    ASSERT_EQ(api::zeMemGetIpcHandleFromFileDescriptorExp(
                  context_, static_cast<uint64_t>(queried.fd), &handle),
              ZE_RESULT_SUCCESS);
    uint64_t fd = 0;
    ASSERT_EQ(api::zeMemGetFileDescriptorFromIpcHandleExp(context_, handle, &fd),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(fd, static_cast<uint64_t>(queried.fd));
    EXPECT_EQ(api::zeMemFree(context_, address), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeMemGetFileDescriptorFromIpcHandleExp(context_, handle, &fd),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(ExternalMemoryTest, AQueryThatFailsChangesNothing) {
    void *address = allocate(100);
    auto dmaBuf = exportFd(ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF);
    EXPECT_EQ(query(address, dmaBuf), ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    auto opaque = exportFd(ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD);
    EXPECT_EQ(query(this, opaque), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(lastSentence(), "");
    EXPECT_EQ(dmaBuf.fd, -7);
    EXPECT_EQ(opaque.fd, -7);
    EXPECT_EQ(properties_.id, 0U);
    EXPECT_EQ(properties_.type, 0);
    EXPECT_EQ(api::zeMemFree(context_, address), ZE_RESULT_SUCCESS);
}

TEST_F(ExternalMemoryTest, TheCallsCheckTheirArguments) {
    ze_ipc_mem_handle_t handle = {};
    for (const uint64_t none : {uint64_t{1} << 31, uint64_t{1} << 32, ~uint64_t{0}}) {
        EXPECT_EQ(api::zeMemGetIpcHandleFromFileDescriptorExp(context_, none, &handle),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    EXPECT_EQ(api::zeMemGetIpcHandleFromFileDescriptorExp(context_, 0, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(api::zeMemGetFileDescriptorFromIpcHandleExp(context_, handle, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    uint64_t fd = 77;
    EXPECT_EQ(api::zeMemGetFileDescriptorFromIpcHandleExp(context_, handle, &fd),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(fd, 77U);
}

} // namespace
} // namespace causeway::api
