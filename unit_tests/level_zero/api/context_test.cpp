#include "unit_tests/fakes/failing_allocations.h"
#include "unit_tests/level_zero/command_fixture.h"

namespace causeway::api {
namespace {

class ContextTest : public DriverTest {
  protected:
    ze_context_desc_t desc_ = make<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
};

TEST_F(ContextTest, APlainContextSeesAllDevices) {
    ze_context_handle_t context = nullptr;
    ASSERT_EQ(api::zeContextCreate(driver_, &desc_, &context), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeContextGetStatus(context), ZE_RESULT_SUCCESS);
    for (const ze_device_handle_t device : devices_) {
        size_t pageBytes = 0;
        EXPECT_EQ(api::zeVirtualMemQueryPageSize(context, device, 0, &pageBytes),
                  ZE_RESULT_SUCCESS);
    }
    EXPECT_EQ(api::zeContextDestroy(context), ZE_RESULT_SUCCESS);
}

TEST_F(ContextTest, AContextSeesOnlyTheDevicesItWasCreatedFor) {
    size_t pageBytes = 0;
    EXPECT_EQ(api::zeVirtualMemQueryPageSize(context_, devices_[0], 1, &pageBytes),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeVirtualMemQueryPageSize(context_, devices_[1], 1, &pageBytes),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(ContextTest, AnEmptyListMeansAllDevices) {
    ze_context_handle_t context = nullptr;
    ASSERT_EQ(api::zeContextCreateEx(driver_, &desc_, 0, nullptr, &context), ZE_RESULT_SUCCESS);
    size_t pageBytes = 0;
    EXPECT_EQ(api::zeVirtualMemQueryPageSize(context, devices_[1], 1, &pageBytes),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeContextDestroy(context), ZE_RESULT_SUCCESS);
}

TEST_F(ContextTest, BadArgumentsGetTheirDocumentedResults) {
    ze_context_handle_t context = nullptr;
    auto badFlags = make<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
    badFlags.flags = 2;
    EXPECT_EQ(api::zeContextCreate(driver_, nullptr, &context),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(api::zeContextCreate(driver_, &desc_, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(api::zeContextCreate(driver_, &badFlags, &context),
              ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_EQ(api::zeContextCreateEx(driver_, &desc_, 1, nullptr, &context),
              ZE_RESULT_ERROR_INVALID_SIZE);
    std::array<ze_device_handle_t, 2> devices = {devices_[0], nullptr};
    EXPECT_EQ(api::zeContextCreateEx(driver_, &desc_, 2, devices.data(), &context),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_EQ(context, nullptr);
}

TEST_F(ContextTest, ResidencyIsOfMemoryThatTheContextKnows) {
    auto *address = static_cast<char *>(reserve(2 * page));
    ASSERT_EQ(
        api::zeVirtualMemMap(
            context_, address, page, makePhysical(page), 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
        ZE_RESULT_SUCCESS);
    const auto device = devices_[0];
    int local = 0;
    for (const auto call : {api::zeContextMakeMemoryResident, api::zeContextEvictMemory}) {
        EXPECT_EQ(call(context_, device, address + 7, 10), ZE_RESULT_SUCCESS);
        EXPECT_EQ(call(context_, device, address, page), ZE_RESULT_SUCCESS);
        EXPECT_EQ(call(context_, device, address, page + 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(call(context_, device, address, SIZE_MAX), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(call(context_, device, address, 0), ZE_RESULT_ERROR_INVALID_SIZE);
        EXPECT_EQ(call(context_, device, address + page, page), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(call(context_, device, &local, 4), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(call(context_, device, nullptr, 4), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        EXPECT_EQ(call(context_, nullptr, address, 4), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
        EXPECT_EQ(call(nullptr, device, address, 4), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
        EXPECT_EQ(call(context_, devices_[1], address, 4), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    EXPECT_EQ(api::zeContextSystemBarrier(context_, device), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeContextSystemBarrier(context_, nullptr), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(ContextTest, AContextCanBeDestroyedOnce) {
    const auto context = makeContext();
    EXPECT_EQ(api::zeContextDestroy(context), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeContextDestroy(context), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(api::zeContextGetStatus(context), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(ContextTest, WhatWasMadeInAContextGoesWithIt) {
    void *address = reserve(4 * page);
    const auto object = makePhysical(page);
    ASSERT_EQ(api::zeVirtualMemMap(
                  context_, address, page, object, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
              ZE_RESULT_SUCCESS);
    auto desc = make<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
    void *allocation = nullptr;
    ASSERT_EQ(api::zeMemAllocHost(context_, &desc, 100, 0, &allocation), ZE_RESULT_SUCCESS);
    // The fixture destroys the context and proves that nothing is left.
}

/// With one object of each kind in it.
class FullContextTest : public CommandFixture {
  protected:
    void mapOverTwoReservations() {
        char *const first = reserveTwo(page);
        ASSERT_EQ(api::zeVirtualMemMap(context_,
                                       first,
                                       2 * page,
                                       makePhysical(2 * page),
                                       0,
                                       ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
                  ZE_RESULT_SUCCESS);
    }
};

TEST_F(FullContextTest, AContextEndsWhereThereIsNoMemory_NoMemory) {
    makeFence(queue_);
    appendGoodCopy(list_);
    appendGoodCopy(immediate_);
    mapOverTwoReservations();
    const core::Objects &objects = core::driverSlot().get()->objects();
    fakes::failAllocationsFrom(1);
    const ze_result_t result = api::zeContextDestroy(context_);
    fakes::healAllocations();
    EXPECT_EQ(result, ZE_RESULT_SUCCESS);
    context_ = nullptr; // the fixture proves that its memory is back
    EXPECT_EQ(objects.lists.size() + objects.queues.size() + objects.fences.size(), 0U);
    EXPECT_EQ(objects.events.size() + objects.pools.size(), 0U);
}

/// Held as calls on other threads hold them: none is waited for before all are told to stop.
TEST_F(FullContextTest, AllQueuesOfAContextThatEndsAreStopped) {
    auto queues = core::driverSlot().get()->objects().queuesOf(
        *core::driverSlot().get()->findContext(context_).value());
    ASSERT_EQ(queues.size(), 2U);
    ASSERT_EQ(api::zeCommandListAppendWaitOnEvents(immediate_, 1, &event_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandListAppendWaitOnEvents(list_, 1, &event_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandListClose(list_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandQueueExecuteCommandLists(queue_, 1, &list_, nullptr),
              ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeContextDestroy(context_), ZE_RESULT_SUCCESS);
    context_ = nullptr;
    constexpr uint64_t bound = 20'000'000'000;
    for (const auto &queue : queues) {
        const auto ended = queue->synchronize(bound);
        ASSERT_FALSE(ended);
        EXPECT_EQ(ended.error().status, Status::Unknown) << "else nobody has stopped it";
    }
}

TEST_F(ContextTest, WithoutVisibleDevicesThereIsNoContext) {
    auto hidden =
        std::make_unique<core::Driver>(ddi::dispatch(), services(), std::span<const uint32_t>());
    const auto driver = std::bit_cast<ze_driver_handle_t>(hidden.get());
    auto usual = core::driverSlot().exchange(std::move(hidden));
    ze_context_handle_t context = nullptr;
    EXPECT_EQ(api::zeContextCreate(driver, &desc_, &context), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    core::driverSlot().exchange(std::move(usual));
    EXPECT_NE(lastSentence().find("ZE_AFFINITY_MASK"), std::string::npos);
}

} // namespace
} // namespace causeway::api
