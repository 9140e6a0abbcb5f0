#include "unit_tests/black_box/command_fixture.h"

#include <algorithm>
#include <array>

namespace causeway::black_box {

namespace {

using CommandOrderTest = CommandTest;

TEST_F(CommandOrderTest, CommandsRunInTheOrderOfTheList) {
    for (size_t i = 0; i + 1 < wordCount; ++i) {
        copyWord(list_, i + 1, i);
    }
    closeAndExecute(queue_, list_);
    finish();
    EXPECT_EQ(std::count(words_, words_ + wordCount, 100U), std::ptrdiff_t{wordCount});
}

TEST_F(CommandOrderTest, ListsRunInTheOrderOfTheCallAndOfTheCalls) {
    std::vector<ze_command_list_handle_t> lists;
    for (size_t i = 0; i + 1 < wordCount; ++i) {
        lists.push_back(createList(context()));
        copyWord(lists.back(), i + 1, i);
        require(zeCommandListClose(lists.back()), "zeCommandListClose");
    }
    const auto half = static_cast<uint32_t>(lists.size() / 2);
    const auto rest = static_cast<uint32_t>(lists.size()) - half;
    require(zeCommandQueueExecuteCommandLists(queue_, half, lists.data(), nullptr), "execute");
    require(zeCommandQueueExecuteCommandLists(queue_, rest, &lists[half], nullptr), "execute");
    finish();
    EXPECT_EQ(words_[wordCount - 1], 100U);
}

/// Commands of two queues, each after the other's event.
TEST_F(CommandOrderTest, EventsOrderTwoQueues) {
    auto *const otherQueue = createQueue(context());
    auto *const otherList = createList(context());
    auto *const start = event(0);
    auto *before = start;
    for (uint32_t i = 0; i + 1 < wordCount; ++i) {
        auto *const after = event(i + 1);
        copyWord(i % 2 == 0 ? list_ : otherList, i + 1, i, after, {before});
        before = after;
    }
    closeAndExecute(queue_, list_);
    closeAndExecute(otherQueue, otherList);
    EXPECT_EQ(zeEventQueryStatus(before), ZE_RESULT_NOT_READY);
    signal(start);
    EXPECT_EQ(zeEventHostSynchronize(before, longTimeout()), ZE_RESULT_SUCCESS);
    EXPECT_EQ(words_[wordCount - 1], 100U);
    finish();
    finish(otherQueue);
}

TEST_F(CommandOrderTest, EventsOrderImmediateListsAndAQueue) {
    const std::array immediates = {createImmediate(context()), createImmediate(context())};
    const std::array events = {event(0), event(1), event(2), event(3)};
    // Word 0 to 1 on an immediate list, to 2 on the other, to 3 on the queue.
    copyWord(list_, 3, 2, events[3], {events[2]});
    closeAndExecute(queue_, list_);
    copyWord(immediates[1], 2, 1, events[2], {events[1]});
    copyWord(immediates[0], 1, 0, events[1], {events[0]});
    EXPECT_EQ(zeEventQueryStatus(events[3]), ZE_RESULT_NOT_READY);
    signal(events[0]);
    EXPECT_EQ(zeEventHostSynchronize(events[3], longTimeout()), ZE_RESULT_SUCCESS);
    EXPECT_EQ(words_[3], 100U);
    finish(immediates[0]);
    finish(immediates[1]);
    finish();
}

TEST_F(CommandOrderTest, ACommandWaitsForEachEventOfItsList) {
    std::vector<ze_event_handle_t> starts = {event(0), event(1), event(2)};
    auto *const done = event(3);
    auto *const immediate = createImmediate(context());
    copyWord(immediate, 1, 0, done, starts);
    for (const size_t next : std::initializer_list<size_t>{2, 0, 1}) {
        EXPECT_EQ(commandListHostSynchronize(immediate, 1'000'000), ZE_RESULT_NOT_READY);
        EXPECT_EQ(zeEventQueryStatus(done), ZE_RESULT_NOT_READY);
        signal(starts[next]);
    }
    EXPECT_EQ(zeEventHostSynchronize(done, longTimeout()), ZE_RESULT_SUCCESS);
    EXPECT_EQ(words_[1], 100U);
}

TEST_F(CommandOrderTest, BarriersWaitAndSignal) {
    std::array starts = {event(0), event(1), event(2)};
    const std::array passed = {event(3), event(4)};
    require(zeCommandListAppendBarrier(list_, passed[0], 1, starts.data()), "barrier");
    copyWord(list_, 1, 0);
    const size_t size = sizeof(uint64_t);
    const void *range = words_;
    require(
        zeCommandListAppendMemoryRangesBarrier(list_, 1, &size, &range, passed[1], 1, &starts[1]),
        "zeCommandListAppendMemoryRangesBarrier");
    require(zeCommandListAppendWaitOnEvents(list_, 1, &starts[2]), "wait");
    copyWord(list_, 2, 1);
    closeAndExecute(queue_, list_);
    for (size_t i = 0; i < passed.size(); ++i) {
        EXPECT_EQ(zeEventHostSynchronize(passed.at(i), 1'000'000), ZE_RESULT_NOT_READY) << i;
        signal(starts.at(i));
        EXPECT_EQ(zeEventHostSynchronize(passed.at(i), longTimeout()), ZE_RESULT_SUCCESS) << i;
    }
    EXPECT_EQ(words_[1], 100U);
    EXPECT_EQ(zeCommandQueueSynchronize(queue_, 1'000'000), ZE_RESULT_NOT_READY);
    EXPECT_EQ(words_[2], 102U);
    signal(starts[2]);
    finish();
    EXPECT_EQ(words_[2], 100U);
}

TEST_F(CommandOrderTest, EventsAreResetInTheirTurn) {
    auto *start = event(0);
    auto *const done = event(1);
    require(zeCommandListAppendWaitOnEvents(list_, 1, &start), "wait");
    require(zeCommandListAppendEventReset(list_, start), "reset");
    require(zeCommandListAppendSignalEvent(list_, done), "signal");
    require(zeCommandListClose(list_), "zeCommandListClose");
    for (int round = 0; round < 3; ++round) {
        execute(queue_, list_);
        EXPECT_EQ(zeCommandQueueSynchronize(queue_, 0), ZE_RESULT_NOT_READY);
        signal(start);
        EXPECT_EQ(zeEventHostSynchronize(done, longTimeout()), ZE_RESULT_SUCCESS);
        EXPECT_EQ(zeEventQueryStatus(start), ZE_RESULT_NOT_READY);
        finish();
        require(zeEventHostReset(done), "zeEventHostReset");
    }
}

/// Each way to wait while `start` is not signalled, and afterwards.
TEST_F(CommandOrderTest, EveryWaitEndsWithItsTimeoutOrTheWork) {
    auto *const start = event(0);
    const std::array done = {event(1), event(2)};
    auto *const fence = createFence(queue_);
    auto *const immediate = createImmediate(context());
    copyWord(list_, 1, 0, done[0], {start});
    closeAndExecute(queue_, list_, fence);
    copyWord(immediate, 2, 0, done[1], {start});
    const auto all = [&](uint64_t timeout) {
        return std::vector{zeCommandQueueSynchronize(queue_, timeout),
                           zeFenceHostSynchronize(fence, timeout),
                           commandListHostSynchronize(immediate, timeout),
                           zeEventHostSynchronize(done[0], timeout),
                           zeEventHostSynchronize(done[1], timeout),
                           zeFenceQueryStatus(fence),
                           zeEventQueryStatus(done[0])};
    };
    const std::vector<ze_result_t> notReady(7, ZE_RESULT_NOT_READY);
    EXPECT_EQ(all(0), notReady);
    EXPECT_EQ(all(1'000'000), notReady);
    EXPECT_EQ(words_[1], 101U);
    EXPECT_EQ(words_[2], 102U);
    signal(start);
    const std::vector<ze_result_t> success(7, ZE_RESULT_SUCCESS);
    EXPECT_EQ(all(longTimeout()), success);
    EXPECT_EQ(all(UINT64_MAX), success);
    EXPECT_EQ(words_[1], 100U);
    EXPECT_EQ(words_[2], 100U);
    EXPECT_EQ(zeFenceReset(fence), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
}

TEST_F(CommandOrderTest, AClosedListRunsAsOftenAsItIsExecuted) {
    // Every run moves all words one place down.
    require(zeCommandListAppendMemoryCopy(
                list_, words_, words_ + 1, (wordCount - 1) * sizeof(uint64_t), nullptr, 0, nullptr),
            "zeCommandListAppendMemoryCopy");
    closeAndExecute(queue_, list_);
    finish();
    EXPECT_EQ(words_[0], 101U);
    std::array twice = {list_, list_};
    require(zeCommandQueueExecuteCommandLists(queue_, 2, twice.data(), nullptr), "execute");
    finish();
    EXPECT_EQ(words_[0], 103U);
}

TEST_F(CommandOrderTest, CloseAndResetOfARegularList) {
    EXPECT_EQ(zeCommandListReset(list_), ZE_RESULT_SUCCESS) << "a fresh one";
    copyWord(list_, 1, 0);
    EXPECT_EQ(zeCommandListClose(list_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandListClose(list_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandListAppendBarrier(list_, nullptr, 0, nullptr),
              ZE_RESULT_ERROR_INVALID_ARGUMENT)
        << "a closed one";
    EXPECT_EQ(zeCommandListReset(list_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandQueueExecuteCommandLists(queue_, 1, &list_, nullptr),
              ZE_RESULT_ERROR_INVALID_ARGUMENT)
        << "an open one";
    copyWord(list_, 2, 0);
    EXPECT_EQ(zeCommandListReset(list_), ZE_RESULT_SUCCESS) << "an open one";
    copyWord(list_, 3, 0);
    closeAndExecute(queue_, list_);
    finish();
    EXPECT_EQ(words_[1], 101U);
    EXPECT_EQ(words_[2], 102U);
    EXPECT_EQ(words_[3], 100U);
}

TEST_F(CommandOrderTest, CloseAndResetOfAnImmediateListChangeNothing) {
    auto *immediate = createImmediate(context());
    for (size_t i = 1; i < 3; ++i) {
        copyWord(immediate, i, 0);
        EXPECT_EQ(zeCommandListClose(immediate), ZE_RESULT_SUCCESS);
        EXPECT_EQ(zeCommandListReset(immediate), ZE_RESULT_SUCCESS);
    }
    finish(immediate);
    EXPECT_EQ(words_[1], 100U);
    EXPECT_EQ(words_[2], 100U);
    EXPECT_EQ(zeCommandQueueExecuteCommandLists(queue_, 1, &immediate, nullptr),
              ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
}

TEST_F(CommandOrderTest, AnImmediateListRunsRegularOnes) {
    auto *const immediate = createImmediate(context());
    copyWord(list_, 1, 0);
    EXPECT_EQ(immediateAppendList(immediate, list_), ZE_RESULT_ERROR_INVALID_ARGUMENT)
        << "not closed";
    require(zeCommandListClose(list_), "zeCommandListClose");
    words_[0] = 7;
    EXPECT_EQ(immediateAppendList(immediate, list_), ZE_RESULT_SUCCESS);
    copyWord(immediate, 2, 1);
    finish(immediate);
    EXPECT_EQ(words_[2], 7U);
    EXPECT_EQ(immediateAppendList(list_, list_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(immediateAppendList(immediate, immediate), ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
}

uint64_t deviceTime() {
    uint64_t host = 0;
    uint64_t device = 0;
    require(zeDeviceGetGlobalTimestamps(firstDevice(), &host, &device),
            "zeDeviceGetGlobalTimestamps");
    return device;
}

TEST_F(CommandOrderTest, TimesOfCopiesFollowEachOtherBetweenTwoLooksAtTheClock) {
    std::array<ze_event_handle_t, 5> events = {};
    std::array<ze_kernel_timestamp_result_t, 5> stored = {};
    uint64_t written = 0;
    for (uint32_t i = 0; i < events.size(); ++i) {
        events.at(i) = event(i);
        copyWord(list_, i + 1, i, events.at(i));
    }
    require(zeCommandListAppendWriteGlobalTimestamp(list_, &written, nullptr, 0, nullptr),
            "zeCommandListAppendWriteGlobalTimestamp");
    require(zeCommandListAppendQueryKernelTimestamps(list_,
                                                     static_cast<uint32_t>(events.size()),
                                                     events.data(),
                                                     stored.data(),
                                                     nullptr,
                                                     nullptr,
                                                     0,
                                                     nullptr),
            "zeCommandListAppendQueryKernelTimestamps");
    uint64_t last = deviceTime();
    closeAndExecute(queue_, list_);
    finish();
    const uint64_t after = deviceTime();
    for (size_t i = 0; i < events.size(); ++i) {
        ze_kernel_timestamp_result_t times = {};
        require(zeEventQueryKernelTimestamp(events.at(i), &times), "zeEventQueryKernelTimestamp");
        EXPECT_LE(last, times.global.kernelStart) << i;
        EXPECT_LE(times.global.kernelStart, times.global.kernelEnd) << i;
        EXPECT_LE(times.context.kernelStart, times.context.kernelEnd) << i;
        EXPECT_EQ(stored.at(i).global.kernelStart, times.global.kernelStart) << i;
        EXPECT_EQ(stored.at(i).global.kernelEnd, times.global.kernelEnd) << i;
        last = times.global.kernelEnd;
    }
    EXPECT_LE(last, written);
    EXPECT_LE(written, after);
}

} // namespace
} // namespace causeway::black_box
