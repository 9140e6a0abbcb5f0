#include "unit_tests/level_zero/command_fixture.h"

namespace causeway::api {
namespace {

class CommandQueueTest : public CommandFixture {
  protected:
    ze_result_t create() { return create(devices_[0], &desc_); }

    ze_result_t create(ze_device_handle_t device, const ze_command_queue_desc_t *desc) {
        return api::zeCommandQueueCreate(context_, device, desc, &created_);
    }

    ze_result_t execute(ze_command_list_handle_t list, ze_fence_handle_t fence = nullptr) {
        return api::zeCommandQueueExecuteCommandLists(queue_, 1, &list, fence);
    }

    ze_command_queue_desc_t desc_ =
        make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
    ze_command_queue_handle_t created_ = nullptr;
};

constexpr auto createName = "zeCommandQueueCreate";
constexpr auto executeName = "zeCommandQueueExecuteCommandLists";

TEST_F(CommandQueueTest, CreateNeedsItsArguments) {
    expectRefused(createName, create(nullptr, &desc_), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    expectRefused(createName, create(devices_[1], &desc_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(createName, create(devices_[0], nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    expectRefused(createName,
                  api::zeCommandQueueCreate(context_, devices_[0], &desc_, nullptr),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(created_, nullptr);
}

TEST_F(CommandQueueTest, TheDescriptorIsChecked) {
    const auto good = desc_;
    // NOLINTBEGIN(clang-analyzer-optin.core.EnumCastOutOfRange): what is to be refused
    desc_.flags = 8;
    expectRefused(createName, create(), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    desc_ = good;
    desc_.mode = static_cast<ze_command_queue_mode_t>(3);
    expectRefused(createName, create(), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    desc_ = good;
    desc_.priority = static_cast<ze_command_queue_priority_t>(3);
    expectRefused(createName, create(), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    // NOLINTEND(clang-analyzer-optin.core.EnumCastOutOfRange)
    desc_ = good;
    desc_.ordinal = 1;
    expectRefused(createName, create(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    desc_ = good;
    desc_.index = 1;
    expectRefused(createName, create(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(created_, nullptr);
}

TEST_F(CommandQueueTest, AQueueTellsWhatItIs) {
    desc_.flags = 7;
    desc_.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    desc_.priority = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW;
    ASSERT_EQ(create(), ZE_RESULT_SUCCESS);
    uint32_t ordinal = 7;
    uint32_t index = 7;
    ze_command_queue_flags_t flags = 0;
    auto mode = ZE_COMMAND_QUEUE_MODE_DEFAULT;
    auto priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
    EXPECT_EQ(api::zeCommandQueueGetOrdinal(created_, &ordinal), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeCommandQueueGetIndex(created_, &index), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeCommandQueueGetFlags(created_, &flags), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeCommandQueueGetMode(created_, &mode), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeCommandQueueGetPriority(created_, &priority), ZE_RESULT_SUCCESS);
    EXPECT_EQ(ordinal, 0U);
    EXPECT_EQ(index, 0U);
    EXPECT_EQ(flags, desc_.flags);
    EXPECT_EQ(mode, desc_.mode);
    EXPECT_EQ(priority, desc_.priority);
    for (const ze_result_t result : {api::zeCommandQueueGetOrdinal(created_, nullptr),
                                     api::zeCommandQueueGetIndex(created_, nullptr),
                                     api::zeCommandQueueGetFlags(created_, nullptr),
                                     api::zeCommandQueueGetMode(created_, nullptr),
                                     api::zeCommandQueueGetPriority(created_, nullptr)}) {
        EXPECT_EQ(result, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }
}

TEST_F(CommandQueueTest, WhatIsExecutedIsChecked) {
    auto *closed = makeList(context_);
    appendGoodCopy(closed);
    ASSERT_EQ(api::zeCommandListClose(closed), ZE_RESULT_SUCCESS);
    auto *const foreign = makeList(otherContext_);
    ASSERT_EQ(api::zeCommandListClose(foreign), ZE_RESULT_SUCCESS);

    expectRefused(executeName,
                  api::zeCommandQueueExecuteCommandLists(queue_, 1, nullptr, nullptr),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    expectRefused(executeName,
                  api::zeCommandQueueExecuteCommandLists(queue_, 0, &closed, nullptr),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    expectRefused(executeName, execute(nullptr), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    expectRefused(executeName, execute(list_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(executeName, execute(foreign), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(executeName, execute(destroyedList()), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(executeName, execute(immediate_), ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);

    // A good list before a bad one does not run, and the fence stays as it was.
    auto *const fence = makeFence(queue_);
    std::array lists = {closed, list_};
    expectRefused(executeName,
                  api::zeCommandQueueExecuteCommandLists(queue_, 2, lists.data(), fence),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ASSERT_EQ(api::zeCommandQueueSynchronize(queue_, forEver), ZE_RESULT_SUCCESS);
    expectUntouched();
    EXPECT_EQ(api::zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    EXPECT_EQ(execute(closed, fence), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeFenceHostSynchronize(fence, forEver), ZE_RESULT_SUCCESS);
    EXPECT_EQ(dst_[0], 1);
}

TEST_F(CommandQueueTest, TheFenceIsALiveOneOfTheQueue) {
    auto *const closed = makeList(context_);
    appendGoodCopy(closed);
    ASSERT_EQ(api::zeCommandListClose(closed), ZE_RESULT_SUCCESS);
    auto *const foreign = makeFence(makeQueue(context_));
    auto *const destroyed = makeFence(queue_);
    ASSERT_EQ(api::zeFenceDestroy(destroyed), ZE_RESULT_SUCCESS);
    for (auto *const fence : {foreign, destroyed}) {
        expectRefused(
            executeName, execute(closed, fence), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    }
    ASSERT_EQ(api::zeCommandQueueSynchronize(queue_, forEver), ZE_RESULT_SUCCESS);
    expectUntouched();
    EXPECT_EQ(api::zeFenceQueryStatus(foreign), ZE_RESULT_NOT_READY);
}

TEST_F(CommandQueueTest, ListsOfAnotherDeviceAreRefused) {
    const auto desc = make<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
    ze_context_handle_t both = nullptr;
    ASSERT_EQ(api::zeContextCreate(driver_, &desc, &both), ZE_RESULT_SUCCESS);
    const auto listDesc = make<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
    ze_command_list_handle_t list = nullptr;
    ASSERT_EQ(api::zeCommandListCreate(both, devices_[1], &listDesc, &list), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandListClose(list), ZE_RESULT_SUCCESS);
    expectRefused(executeName,
                  api::zeCommandQueueExecuteCommandLists(makeQueue(both), 1, &list, nullptr),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(api::zeContextDestroy(both), ZE_RESULT_SUCCESS);
}

} // namespace
} // namespace causeway::api
