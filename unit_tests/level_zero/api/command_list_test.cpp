#include "unit_tests/fakes/failing_allocations.h"
#include "unit_tests/level_zero/command_fixture.h"

#include <functional>

namespace causeway::api {
namespace {

class CommandListTest : public CommandFixture {
  protected:
    ze_result_t create(ze_device_handle_t device, const ze_command_list_desc_t *desc) {
        return api::zeCommandListCreate(context_, device, desc, &created_);
    }

    ze_result_t createImmediate(ze_device_handle_t device, const ze_command_queue_desc_t *desc) {
        return api::zeCommandListCreateImmediate(context_, device, desc, &created_);
    }

    ze_result_t appendList(ze_command_list_handle_t appended) {
        return api::zeCommandListImmediateAppendCommandListsExp(
            immediate_, 1, &appended, nullptr, 0, nullptr);
    }

    ze_command_list_desc_t desc_ =
        make<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
    ze_command_queue_desc_t queueDesc_ =
        make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
    ze_command_list_handle_t created_ = nullptr;
};

TEST_F(CommandListTest, CreateChecksItsArguments) {
    constexpr auto name = "zeCommandListCreate";
    expectRefused(name, create(nullptr, &desc_), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    expectRefused(name, create(devices_[1], &desc_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(name, create(devices_[0], nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    expectRefused(name,
                  api::zeCommandListCreate(context_, devices_[0], &desc_, nullptr),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    desc_.commandQueueGroupOrdinal = 1;
    expectRefused(name, create(devices_[0], &desc_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    desc_.commandQueueGroupOrdinal = 0;
    desc_.flags = 0x40;
    expectRefused(name, create(devices_[0], &desc_), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_EQ(created_, nullptr);
    desc_.flags = 0x3f;
    EXPECT_EQ(create(devices_[0], &desc_), ZE_RESULT_SUCCESS);
}

TEST_F(CommandListTest, CreateImmediateChecksItsArguments) {
    constexpr auto name = "zeCommandListCreateImmediate";
    expectRefused(name, createImmediate(nullptr, &queueDesc_), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    expectRefused(
        name, createImmediate(devices_[1], &queueDesc_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(
        name, createImmediate(devices_[0], nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    expectRefused(name,
                  api::zeCommandListCreateImmediate(context_, devices_[0], &queueDesc_, nullptr),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    queueDesc_.flags = 8;
    expectRefused(
        name, createImmediate(devices_[0], &queueDesc_), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_EQ(created_, nullptr);
}

TEST_F(CommandListTest, AListTellsWhatItIs) {
    ze_device_handle_t device = nullptr;
    ze_context_handle_t context = nullptr;
    uint32_t ordinal = 7;
    ze_bool_t isImmediate = 7;
    desc_.flags = ZE_COMMAND_LIST_FLAG_IN_ORDER;
    ASSERT_EQ(create(devices_[0], &desc_), ZE_RESULT_SUCCESS);
    ze_command_list_flags_t flags = 0;
    EXPECT_EQ(api::zeCommandListGetDeviceHandle(created_, &device), ZE_RESULT_SUCCESS);
    EXPECT_EQ(device, devices_[0]);
    EXPECT_EQ(api::zeCommandListGetContextHandle(created_, &context), ZE_RESULT_SUCCESS);
    EXPECT_EQ(context, context_);
    EXPECT_EQ(api::zeCommandListGetOrdinal(created_, &ordinal), ZE_RESULT_SUCCESS);
    EXPECT_EQ(ordinal, 0U);
    EXPECT_EQ(api::zeCommandListGetFlags(created_, &flags), ZE_RESULT_SUCCESS);
    EXPECT_EQ(flags, desc_.flags);
    EXPECT_EQ(api::zeCommandListIsImmediate(created_, &isImmediate), ZE_RESULT_SUCCESS);
    EXPECT_EQ(isImmediate, 0);
    EXPECT_EQ(api::zeCommandListIsImmediate(immediate_, &isImmediate), ZE_RESULT_SUCCESS);
    EXPECT_EQ(isImmediate, 1);
}

TEST_F(CommandListTest, AnImmediateListTellsAboutItsQueue) {
    queueDesc_.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    queueDesc_.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    queueDesc_.priority = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH;
    ASSERT_EQ(createImmediate(devices_[0], &queueDesc_), ZE_RESULT_SUCCESS);
    uint32_t index = 7;
    ze_command_queue_flags_t flags = 0;
    auto mode = ZE_COMMAND_QUEUE_MODE_DEFAULT;
    auto priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
    EXPECT_EQ(api::zeCommandListImmediateGetIndex(created_, &index), ZE_RESULT_SUCCESS);
    EXPECT_EQ(index, 0U);
    EXPECT_EQ(api::zeCommandListImmediateGetFlags(created_, &flags), ZE_RESULT_SUCCESS);
    EXPECT_EQ(flags, queueDesc_.flags);
    EXPECT_EQ(api::zeCommandListImmediateGetMode(created_, &mode), ZE_RESULT_SUCCESS);
    EXPECT_EQ(mode, queueDesc_.mode);
    EXPECT_EQ(api::zeCommandListImmediateGetPriority(created_, &priority), ZE_RESULT_SUCCESS);
    EXPECT_EQ(priority, queueDesc_.priority);

    index = 7;
    for (const ze_result_t result : {api::zeCommandListImmediateGetIndex(list_, &index),
                                     api::zeCommandListImmediateGetFlags(list_, &flags),
                                     api::zeCommandListImmediateGetMode(list_, &mode),
                                     api::zeCommandListImmediateGetPriority(list_, &priority),
                                     api::zeCommandListHostSynchronize(list_, 0)}) {
        EXPECT_EQ(result, ZE_RESULT_ERROR_INVALID_ARGUMENT) << "a regular list";
    }
    EXPECT_EQ(index, 7U);
    EXPECT_EQ(mode, queueDesc_.mode);
}

TEST_F(CommandListTest, GettersNeedAnOutput) {
    for (const ze_result_t result : {api::zeCommandListGetDeviceHandle(list_, nullptr),
                                     api::zeCommandListGetContextHandle(list_, nullptr),
                                     api::zeCommandListGetOrdinal(list_, nullptr),
                                     api::zeCommandListIsImmediate(list_, nullptr),
                                     api::zeCommandListGetFlags(list_, nullptr),
                                     api::zeCommandListImmediateGetIndex(immediate_, nullptr),
                                     api::zeCommandListImmediateGetFlags(immediate_, nullptr),
                                     api::zeCommandListImmediateGetMode(immediate_, nullptr),
                                     api::zeCommandListImmediateGetPriority(immediate_, nullptr)}) {
        EXPECT_EQ(result, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }
}

/// Every append, with good arguments.
TEST_F(CommandListTest, AClosedListTakesNothing) {
    auto *const times = makePool(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    auto *timed = makeEvent(times, 0);
    const ze_copy_region_t region = {0, 0, 0, 4, 1, 1};
    const size_t size = bytes;
    const void *range = src_;
    std::array<ze_kernel_timestamp_result_t, 1> results = {};
    uint64_t time = 0;
    const auto appendAll = [&] {
        auto *const list = list_;
        return std::vector{
            api::zeCommandListAppendMemoryCopy(list, dst_, src_, 4, event_, 0, nullptr),
            api::zeCommandListAppendMemoryCopyWithParameters(
                list, dst_, src_, 4, nullptr, event_, 0, nullptr),
            api::zeCommandListAppendMemoryCopyFromContext(
                list, dst_, context_, src_, 4, event_, 0, nullptr),
            api::zeCommandListAppendMemoryCopyRegion(
                list, dst_, &region, 4, 0, src_, &region, 4, 0, event_, 0, nullptr),
            api::zeCommandListAppendMemoryFill(list, dst_, src_, 1, 4, event_, 0, nullptr),
            api::zeCommandListAppendMemoryFillWithParameters(
                list, dst_, src_, 1, 4, nullptr, event_, 0, nullptr),
            api::zeCommandListAppendBarrier(list, event_, 0, nullptr),
            api::zeCommandListAppendMemoryRangesBarrier(list, 1, &size, &range, event_, 0, nullptr),
            api::zeCommandListAppendSignalEvent(list, event_),
            api::zeCommandListAppendWaitOnEvents(list, 1, &timed),
            api::zeCommandListAppendEventReset(list, timed),
            api::zeCommandListAppendWriteGlobalTimestamp(list, &time, event_, 0, nullptr),
            api::zeCommandListAppendQueryKernelTimestamps(
                list, 1, &timed, results.data(), nullptr, event_, 0, nullptr)};
    };
    for (const ze_result_t result : appendAll()) {
        EXPECT_EQ(result, ZE_RESULT_SUCCESS);
    }
    ASSERT_EQ(api::zeCommandListReset(list_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandListClose(list_), ZE_RESULT_SUCCESS);
    size_t place = 0;
    for (const ze_result_t result : appendAll()) {
        EXPECT_EQ(result, ZE_RESULT_ERROR_INVALID_ARGUMENT) << place++;
    }
    EXPECT_TRUE(lastSentence().starts_with("zeCommandListAppendQueryKernelTimestamps:"));
    expectRecordedNothing(list_);
    EXPECT_EQ(time, 0U);
}

TEST_F(CommandListTest, AListThatCannotBeClosedKeepsItsCommandsAndStaysOpen_NoMemory) {
    appendGoodCopy(list_);
    fakes::failAllocationsFrom(1);
    const ze_result_t closed = api::zeCommandListClose(list_);
    fakes::healAllocations();
    ASSERT_EQ(closed, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    EXPECT_EQ(api::zeCommandListAppendMemoryCopy(list_, dst_ + 1, src_ + 1, 1, nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandListClose(list_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandQueueExecuteCommandLists(queue_, 1, &list_, nullptr),
              ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandQueueSynchronize(queue_, forEver), ZE_RESULT_SUCCESS);
    EXPECT_EQ(dst_[0], 1);
    EXPECT_EQ(dst_[1], 2);
}

TEST_F(CommandListTest, ListsAppendedToAnImmediateOneAreChecked) {
    constexpr auto name = "zeCommandListImmediateAppendCommandListsExp";
    auto *const closed = makeList(context_);
    appendGoodCopy(closed);
    ASSERT_EQ(api::zeCommandListClose(closed), ZE_RESULT_SUCCESS);
    auto *const foreign = makeList(otherContext_);
    ASSERT_EQ(api::zeCommandListClose(foreign), ZE_RESULT_SUCCESS);

    expectRefused(name, appendList(nullptr), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    expectRefused(name, appendList(list_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(name, appendList(foreign), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(name, appendList(destroyedList()), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(name, appendList(immediate_), ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    const auto append = [&](ze_command_list_handle_t onto,
                            ze_command_list_handle_t *lists,
                            ze_event_handle_t signal,
                            uint32_t waits) {
        return api::zeCommandListImmediateAppendCommandListsExp(
            onto, 1, lists, signal, waits, nullptr);
    };
    auto *good = closed;
    expectRefused(
        name, append(immediate_, nullptr, nullptr, 0), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    expectRefused(name, append(list_, &good, nullptr, 0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(name, append(immediate_, &good, event_, 1), ZE_RESULT_ERROR_INVALID_SIZE);
    expectRefused(name,
                  append(immediate_, &good, destroyedEvent(), 0),
                  ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    // A good one before a bad one does not run either.
    std::array lists = {closed, list_};
    expectRefused(name,
                  api::zeCommandListImmediateAppendCommandListsExp(
                      immediate_, 2, lists.data(), event_, 0, nullptr),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ASSERT_EQ(api::zeCommandListHostSynchronize(immediate_, forEver), ZE_RESULT_SUCCESS);
    expectUntouched();
    EXPECT_EQ(appendList(closed), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandListHostSynchronize(immediate_, forEver), ZE_RESULT_SUCCESS);
    EXPECT_EQ(dst_[0], 1);
}

TEST_F(CommandListTest, TimesOfAppendedListsEncloseAllThatTheyDid) {
    auto *const timed = makeEvent(makePool(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP), 0);
    std::array<uint64_t, 2> during = {};
    for (uint64_t &time : during) {
        // Signals an event of its own, whose times are another matter.
        ASSERT_EQ(api::zeCommandListAppendWriteGlobalTimestamp(list_, &time, event_, 0, nullptr),
                  ZE_RESULT_SUCCESS);
    }
    ASSERT_EQ(api::zeCommandListClose(list_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(
        api::zeCommandListImmediateAppendCommandListsExp(immediate_, 1, &list_, timed, 0, nullptr),
        ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeEventHostSynchronize(timed, forEver), ZE_RESULT_SUCCESS);
    ze_kernel_timestamp_result_t times = {};
    ASSERT_EQ(api::zeEventQueryKernelTimestamp(timed, &times), ZE_RESULT_SUCCESS);
    EXPECT_LE(times.global.kernelStart, during[0]);
    EXPECT_LT(times.global.kernelStart, times.global.kernelEnd);
    EXPECT_GE(times.global.kernelEnd, during[1]);
}

TEST_F(CommandListTest, NoParameterIsKnownYet) {
    const auto unknown = make<ze_base_desc_t>(ZE_STRUCTURE_TYPE_FORCE_UINT32);
    auto *closed = makeList(context_);
    ASSERT_EQ(api::zeCommandListClose(closed), ZE_RESULT_SUCCESS);
    expectRefused("zeCommandListImmediateAppendCommandListsWithParameters",
                  api::zeCommandListImmediateAppendCommandListsWithParameters(
                      immediate_, 1, &closed, &unknown, nullptr, 0, nullptr),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_EQ(api::zeCommandListImmediateAppendCommandListsWithParameters(
                  immediate_, 1, &closed, nullptr, nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
}

} // namespace
} // namespace causeway::api
