#pragma once

#include "unit_tests/level_zero/driver_fixture.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace causeway::api {

/// One object of each kind that has to do with commands, in the fixture's context, and a second
/// context. Two buffers of device memory to copy between: dst_ holds zeroes, src_ 1, 2, 3...
class CommandFixture : public DriverTest {
  protected:
    static constexpr size_t bytes = 256;
    static constexpr uint64_t forEver = UINT64_MAX;

    void SetUp() override {
        DriverTest::SetUp();
        otherContext_ = makeContext();
        list_ = makeList(context_);
        queue_ = makeQueue(context_);
        immediate_ = makeImmediate(context_);
        pool_ = makePool(0);
        event_ = makeEvent(pool_, 0);
        dst_ = allocate();
        src_ = allocate();
        for (size_t i = 0; i < bytes; ++i) {
            src_[i] = static_cast<uint8_t>(i + 1);
        }
    }

    void TearDown() override {
        EXPECT_EQ(api::zeContextDestroy(otherContext_), ZE_RESULT_SUCCESS);
        DriverTest::TearDown();
    }

    ze_command_list_handle_t makeList(ze_context_handle_t context) {
        const auto desc = make<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
        ze_command_list_handle_t list = nullptr;
        EXPECT_EQ(api::zeCommandListCreate(context, devices_[0], &desc, &list), ZE_RESULT_SUCCESS);
        return list;
    }

    ze_command_list_handle_t makeImmediate(ze_context_handle_t context) {
        const auto desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
        ze_command_list_handle_t list = nullptr;
        EXPECT_EQ(api::zeCommandListCreateImmediate(context, devices_[0], &desc, &list),
                  ZE_RESULT_SUCCESS);
        return list;
    }

    ze_command_queue_handle_t makeQueue(ze_context_handle_t context) {
        const auto desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
        ze_command_queue_handle_t queue = nullptr;
        EXPECT_EQ(api::zeCommandQueueCreate(context, devices_[0], &desc, &queue),
                  ZE_RESULT_SUCCESS);
        return queue;
    }

    static ze_fence_handle_t makeFence(ze_command_queue_handle_t queue) {
        const auto desc = make<ze_fence_desc_t>(ZE_STRUCTURE_TYPE_FENCE_DESC);
        ze_fence_handle_t fence = nullptr;
        EXPECT_EQ(api::zeFenceCreate(queue, &desc, &fence), ZE_RESULT_SUCCESS);
        return fence;
    }

    ze_event_pool_handle_t makePool(ze_event_pool_flags_t flags) {
        auto desc = make<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
        desc.flags = flags;
        desc.count = 4;
        ze_event_pool_handle_t pool = nullptr;
        EXPECT_EQ(api::zeEventPoolCreate(context_, &desc, 0, nullptr, &pool), ZE_RESULT_SUCCESS);
        return pool;
    }

    static ze_event_handle_t makeEvent(ze_event_pool_handle_t pool, uint32_t index) {
        auto desc = make<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
        desc.index = index;
        ze_event_handle_t event = nullptr;
        EXPECT_EQ(api::zeEventCreate(pool, &desc, &event), ZE_RESULT_SUCCESS);
        return event;
    }

    ze_event_handle_t destroyedEvent() {
        auto *const event = makeEvent(pool_, 3);
        EXPECT_EQ(api::zeEventDestroy(event), ZE_RESULT_SUCCESS);
        return event;
    }

    ze_command_list_handle_t destroyedList() {
        auto *const list = makeList(context_);
        EXPECT_EQ(api::zeCommandListDestroy(list), ZE_RESULT_SUCCESS);
        return list;
    }

    uint8_t *allocate() {
        const auto desc = make<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
        void *memory = nullptr;
        EXPECT_EQ(api::zeMemAllocDevice(context_, &desc, bytes, 0, devices_[0], &memory),
                  ZE_RESULT_SUCCESS);
        return static_cast<uint8_t *>(memory);
    }

    /// dst_[0] becomes src_[0], which is 1.
    void appendGoodCopy(ze_command_list_handle_t list) {
        EXPECT_EQ(api::zeCommandListAppendMemoryCopy(list, dst_, src_, 1, nullptr, 0, nullptr),
                  ZE_RESULT_SUCCESS);
    }

    /// A call failed as it must, and left a sentence that begins with its name.
    void expectRefused(std::string_view function, ze_result_t result, ze_result_t expected) {
        EXPECT_EQ(result, expected) << function;
        EXPECT_TRUE(lastSentence().starts_with(std::string(function) + ":")) << lastSentence();
    }

    /// Failed calls alone were made on `list`: it runs, and does nothing.
    void expectRecordedNothing(ze_command_list_handle_t list) {
        ASSERT_EQ(api::zeCommandListClose(list), ZE_RESULT_SUCCESS);
        ASSERT_EQ(api::zeCommandQueueExecuteCommandLists(queue_, 1, &list, nullptr),
                  ZE_RESULT_SUCCESS);
        ASSERT_EQ(api::zeCommandQueueSynchronize(queue_, forEver), ZE_RESULT_SUCCESS);
        expectUntouched();
    }

    void expectUntouched() {
        for (size_t i = 0; i < bytes; ++i) {
            EXPECT_EQ(dst_[i], 0) << i;
            EXPECT_EQ(src_[i], static_cast<uint8_t>(i + 1)) << i;
        }
        EXPECT_EQ(api::zeEventQueryStatus(event_), ZE_RESULT_NOT_READY);
    }

    ze_context_handle_t otherContext_ = nullptr;
    ze_command_list_handle_t list_ = nullptr;
    ze_command_list_handle_t immediate_ = nullptr;
    ze_command_queue_handle_t queue_ = nullptr;
    ze_event_pool_handle_t pool_ = nullptr;
    ze_event_handle_t event_ = nullptr;
    uint8_t *dst_ = nullptr;
    uint8_t *src_ = nullptr;
};

} // namespace causeway::api
