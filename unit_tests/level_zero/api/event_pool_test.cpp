#include "unit_tests/fakes/failing_allocations.h"
#include "unit_tests/level_zero/command_fixture.h"

#include <algorithm>
#include <iterator>

namespace causeway::api {
namespace {

class EventPoolTest : public CommandFixture {
  protected:
    ze_result_t create() { return create(0, nullptr); }

    ze_result_t create(uint32_t count, ze_device_handle_t *devices) {
        return api::zeEventPoolCreate(context_, &desc_, count, devices, &created_);
    }

    static ze_event_pool_desc_t goodDescriptor() {
        auto desc = make<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
        desc.count = 2;
        return desc;
    }

    ze_event_pool_desc_t desc_ = goodDescriptor();
    ze_event_pool_handle_t created_ = nullptr;
};

constexpr auto createName = "zeEventPoolCreate";
constexpr auto invalid = ZE_RESULT_ERROR_INVALID_ARGUMENT;
constexpr auto nullPointer = ZE_RESULT_ERROR_INVALID_NULL_POINTER;

TEST_F(EventPoolTest, CreateNeedsItsArguments) {
    expectRefused(
        createName, api::zeEventPoolCreate(context_, nullptr, 0, nullptr, &created_), nullPointer);
    expectRefused(
        createName, api::zeEventPoolCreate(context_, &desc_, 0, nullptr, nullptr), nullPointer);
    std::array<ze_device_handle_t, 2> devices = {devices_[0], nullptr};
    expectRefused(createName, create(1, nullptr), ZE_RESULT_ERROR_INVALID_SIZE);
    expectRefused(createName, create(2, devices.data()), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    devices[1] = devices_[1];
    expectRefused(createName, create(2, devices.data()), invalid);
    EXPECT_EQ(created_, nullptr);
    EXPECT_EQ(create(1, devices.data()), ZE_RESULT_SUCCESS);
}

TEST_F(EventPoolTest, TheDescriptorIsChecked) {
    desc_.flags = 0x10;
    expectRefused(createName, create(), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    desc_ = goodDescriptor();
    desc_.count = 0;
    expectRefused(createName, create(), ZE_RESULT_ERROR_INVALID_SIZE);
    desc_ = goodDescriptor();
    auto chained = make<ze_base_desc_t>(ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC);
    desc_.pNext = &chained;
    expectRefused(createName, create(), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    chained = make<ze_base_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
    chained.pNext = &chained;
    expectRefused(createName, create(), invalid);
    EXPECT_EQ(created_, nullptr);
    chained.pNext = nullptr;
    EXPECT_EQ(create(), ZE_RESULT_SUCCESS) << "structures that are not known are ignored";
}

TEST_F(EventPoolTest, MoreEventsThanThereIsMemoryAreRefused) {
    desc_.count = UINT32_MAX;
    if (linuxOs().totalMemory() > uint64_t{UINT32_MAX} * sizeof(copy::EventState)) {
        GTEST_SKIP() << "this machine has the memory";
    }
    EXPECT_NE(create(), ZE_RESULT_SUCCESS);
    EXPECT_TRUE(lastSentence().starts_with("zeEventPoolCreate:")) << lastSentence();
    EXPECT_EQ(created_, nullptr);
}

TEST_F(EventPoolTest, APoolTellsWhatItIs) {
    desc_.flags = 0xf;
    ASSERT_EQ(create(), ZE_RESULT_SUCCESS);
    ze_context_handle_t context = nullptr;
    ze_event_pool_flags_t flags = 0;
    EXPECT_EQ(api::zeEventPoolGetContextHandle(created_, &context), ZE_RESULT_SUCCESS);
    EXPECT_EQ(context, context_);
    EXPECT_EQ(api::zeEventPoolGetFlags(created_, &flags), ZE_RESULT_SUCCESS);
    EXPECT_EQ(flags, desc_.flags);
    EXPECT_EQ(api::zeEventPoolGetContextHandle(created_, nullptr), nullPointer);
    EXPECT_EQ(api::zeEventPoolGetFlags(created_, nullptr), nullPointer);
}

TEST_F(EventPoolTest, OnlyPoolsThatAreMadeForItAreExported) {
    constexpr auto name = "zeEventPoolGetIpcHandle";
    ze_ipc_event_pool_handle_t handle = {};
    handle.data[5] = 'x';
    expectRefused(name, api::zeEventPoolGetIpcHandle(pool_, &handle), invalid);
    EXPECT_EQ(handle.data[5], 'x');
    auto *const shared = makePool(ZE_EVENT_POOL_FLAG_IPC);
    expectRefused(name, api::zeEventPoolGetIpcHandle(shared, nullptr), nullPointer);
    EXPECT_EQ(api::zeEventPoolGetIpcHandle(shared, &handle), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeEventPoolPutIpcHandle(context_, handle), ZE_RESULT_SUCCESS);
}

TEST_F(EventPoolTest, AHandleOpensAsThePoolThatItIs) {
    constexpr auto name = "zeEventPoolOpenIpcHandle";
    auto *const shared = makePool(ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    ze_ipc_event_pool_handle_t handle = {};
    expectRefused(name, api::zeEventPoolOpenIpcHandle(context_, handle, &created_), invalid);
    ASSERT_EQ(api::zeEventPoolGetIpcHandle(shared, &handle), ZE_RESULT_SUCCESS);
    expectRefused(name, api::zeEventPoolOpenIpcHandle(context_, handle, nullptr), nullPointer);
    EXPECT_EQ(created_, nullptr);
    ASSERT_EQ(api::zeEventPoolOpenIpcHandle(otherContext_, handle, &created_), ZE_RESULT_SUCCESS);
    ze_context_handle_t context = nullptr;
    ze_event_pool_flags_t flags = 0;
    EXPECT_EQ(api::zeEventPoolGetContextHandle(created_, &context), ZE_RESULT_SUCCESS);
    EXPECT_EQ(context, otherContext_);
    EXPECT_EQ(api::zeEventPoolGetFlags(created_, &flags), ZE_RESULT_SUCCESS);
    EXPECT_EQ(flags, uint32_t{ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP});
    ASSERT_EQ(api::zeEventHostSignal(makeEvent(created_, 1)), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeEventQueryStatus(makeEvent(shared, 1)), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeEventPoolCloseIpcHandle(created_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeEventPoolCloseIpcHandle(created_), invalid);
}

TEST_F(EventPoolTest, APoolThatIsNoPoolIsNotOpened) {
    const auto desc = make<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
    void *memory = nullptr;
    ASSERT_EQ(api::zeMemAllocHost(context_, &desc, 4096, 0, &memory), ZE_RESULT_SUCCESS);
    ze_ipc_mem_handle_t bytesOfMemory = {};
    ASSERT_EQ(api::zeMemGetIpcHandle(context_, memory, &bytesOfMemory), ZE_RESULT_SUCCESS);
    ze_ipc_event_pool_handle_t handle = {};
    std::copy(std::begin(bytesOfMemory.data), std::end(bytesOfMemory.data), handle.data);
    expectRefused("zeEventPoolOpenIpcHandle",
                  api::zeEventPoolOpenIpcHandle(context_, handle, &created_),
                  invalid);
    EXPECT_EQ(created_, nullptr);
}

TEST_F(EventPoolTest, ACreateThatFailsGivesItsMemoryBack_NoMemory) {
    const auto mappings = fakes::ResourceSnapshot::take().mappings;
    desc_.count = 10'000; // more than a page of any kind
    int failures = 0;
    const auto result =
        fakes::sweepAllocations([&] { return create(); },
                                [&](ze_result_t failed) {
                                    ++failures;
                                    ASSERT_NE(failed, ZE_RESULT_SUCCESS);
                                    ASSERT_EQ(created_, nullptr);
                                    ASSERT_EQ(fakes::ResourceSnapshot::take().mappings, mappings);
                                });
    ASSERT_EQ(result, ZE_RESULT_SUCCESS);
    EXPECT_GT(failures, 1);
    EXPECT_NE(fakes::ResourceSnapshot::take().mappings, mappings);
}

TEST_F(EventPoolTest, AnOpenThatFailsGivesItsMemoryBack_NoMemory) {
    ze_ipc_event_pool_handle_t handle = {};
    ASSERT_EQ(api::zeEventPoolGetIpcHandle(makePool(ZE_EVENT_POOL_FLAG_IPC), &handle),
              ZE_RESULT_SUCCESS);
    const auto mappings = fakes::ResourceSnapshot::take().mappings;
    int failures = 0;
    const auto result = fakes::sweepAllocations(
        [&] { return api::zeEventPoolOpenIpcHandle(otherContext_, handle, &created_); },
        [&](ze_result_t failed) {
            ++failures;
            ASSERT_NE(failed, ZE_RESULT_SUCCESS);
            ASSERT_EQ(created_, nullptr);
            ASSERT_EQ(fakes::ResourceSnapshot::take().mappings, mappings);
        });
    ASSERT_EQ(result, ZE_RESULT_SUCCESS);
    EXPECT_GT(failures, 1);
    EXPECT_NE(fakes::ResourceSnapshot::take().mappings, mappings);
}

TEST_F(EventPoolTest, CloseIsForOpenedPoolsAndChangesNoOther) {
    expectRefused("zeEventPoolCloseIpcHandle", api::zeEventPoolCloseIpcHandle(pool_), invalid);
    EXPECT_EQ(api::zeEventPoolDestroy(pool_), ZE_RESULT_SUCCESS);
    expectRefused("zeEventPoolDestroy", api::zeEventPoolDestroy(pool_), invalid);
}

} // namespace
} // namespace causeway::api
