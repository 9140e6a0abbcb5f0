#include "unit_tests/level_zero/command_fixture.h"

namespace causeway::api {
namespace {

class CommandSyncTest : public CommandFixture {
  protected:
    void SetUp() override {
        CommandFixture::SetUp();
        timed_ = makeEvent(makePool(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP), 0);
    }

    /// Nothing of a test's failed calls was recorded.
    void TearDown() override {
        expectRecordedNothing(list_);
        CommandFixture::TearDown();
    }

    ze_result_t query(ze_event_handle_t *events, void *dst, const size_t *offsets = nullptr) {
        return api::zeCommandListAppendQueryKernelTimestamps(
            list_, 1, events, dst, offsets, event_, 0, nullptr);
    }

    ze_result_t writeTime(uint64_t *dst, ze_event_handle_t signal, uint32_t waitCount = 0) {
        return api::zeCommandListAppendWriteGlobalTimestamp(list_, dst, signal, waitCount, nullptr);
    }

    ze_event_handle_t timed_ = nullptr;
};

constexpr auto nullHandle = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
constexpr auto nullPointer = ZE_RESULT_ERROR_INVALID_NULL_POINTER;
constexpr auto invalid = ZE_RESULT_ERROR_INVALID_ARGUMENT;
constexpr auto badSize = ZE_RESULT_ERROR_INVALID_SIZE;
constexpr auto badEvent = ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;

TEST_F(CommandSyncTest, BarriersCheckTheirEvents) {
    constexpr auto name = "zeCommandListAppendBarrier";
    auto *dead = destroyedEvent();
    expectRefused(name, api::zeCommandListAppendBarrier(list_, event_, 1, nullptr), badSize);
    expectRefused(name, api::zeCommandListAppendBarrier(list_, dead, 0, nullptr), badEvent);
    expectRefused(name, api::zeCommandListAppendBarrier(list_, event_, 1, &dead), badEvent);
}

TEST_F(CommandSyncTest, BarriersOfRangesCheckTheirArguments) {
    constexpr auto name = "zeCommandListAppendMemoryRangesBarrier";
    const size_t size = bytes;
    const void *range = src_;
    const auto append = [&](const size_t *sizes, const void **ranges, uint32_t waits) {
        return api::zeCommandListAppendMemoryRangesBarrier(
            list_, 1, sizes, ranges, event_, waits, nullptr);
    };
    expectRefused(name, append(nullptr, &range, 0), nullPointer);
    expectRefused(name, append(&size, nullptr, 0), nullPointer);
    expectRefused(name, append(&size, &range, 1), badSize);
}

TEST_F(CommandSyncTest, SignalAndResetNeedALiveEvent) {
    auto *const dead = destroyedEvent();
    constexpr auto signal = "zeCommandListAppendSignalEvent";
    constexpr auto reset = "zeCommandListAppendEventReset";
    expectRefused(signal, api::zeCommandListAppendSignalEvent(list_, nullptr), nullHandle);
    expectRefused(signal, api::zeCommandListAppendSignalEvent(list_, dead), badEvent);
    expectRefused(reset, api::zeCommandListAppendEventReset(list_, nullptr), nullHandle);
    expectRefused(reset, api::zeCommandListAppendEventReset(list_, dead), badEvent);
}

TEST_F(CommandSyncTest, WaitsNeedLiveEvents) {
    constexpr auto name = "zeCommandListAppendWaitOnEvents";
    std::array events = {event_, destroyedEvent()};
    expectRefused(name, api::zeCommandListAppendWaitOnEvents(list_, 0, nullptr), nullPointer);
    expectRefused(name, api::zeCommandListAppendWaitOnEvents(list_, 1, nullptr), nullPointer);
    expectRefused(name, api::zeCommandListAppendWaitOnEvents(list_, 2, events.data()), badEvent);
}

TEST_F(CommandSyncTest, TheTimeGoesWhereItMayBeWritten) {
    constexpr auto name = "zeCommandListAppendWriteGlobalTimestamp";
    uint64_t time = 0;
    auto *const reserved = static_cast<uint64_t *>(reserve(page));
    auto *const beyond = reinterpret_cast<uint64_t *>(dst_ + bytes - 4);
    expectRefused(name, writeTime(nullptr, event_), nullPointer);
    expectRefused(name, writeTime(reserved, event_), invalid);
    expectRefused(name, writeTime(beyond, event_), invalid);
    expectRefused(name, writeTime(&time, destroyedEvent()), badEvent);
    expectRefused(name, writeTime(&time, event_, 1), badSize);
    EXPECT_EQ(time, 0U);
}

TEST_F(CommandSyncTest, TimestampsAreOfEventsThatHaveThemAndGoWhereTheyFit) {
    constexpr auto name = "zeCommandListAppendQueryKernelTimestamps";
    auto *untimed = event_;
    auto *dead = destroyedEvent();
    expectRefused(name, query(nullptr, dst_), nullPointer);
    expectRefused(name, query(&timed_, nullptr), nullPointer);
    expectRefused(name, query(&untimed, dst_), badEvent);
    expectRefused(name, query(&dead, dst_), badEvent);
    size_t offset = bytes - sizeof(ze_kernel_timestamp_result_t) + 1;
    expectRefused(name, query(&timed_, dst_, &offset), invalid);
    offset = SIZE_MAX;
    expectRefused(name, query(&timed_, dst_, &offset), invalid);
}

TEST_F(CommandSyncTest, HintsAreAboutMemoryOfTheContext) {
    constexpr auto prefetch = "zeCommandListAppendMemoryPrefetch";
    EXPECT_EQ(api::zeCommandListAppendMemoryPrefetch(list_, src_, bytes), ZE_RESULT_SUCCESS);
    expectRefused(prefetch, api::zeCommandListAppendMemoryPrefetch(list_, nullptr, 1), nullPointer);
    expectRefused(prefetch, api::zeCommandListAppendMemoryPrefetch(list_, this, 1), invalid);
    expectRefused(
        prefetch, api::zeCommandListAppendMemoryPrefetch(list_, src_, bytes + 1), invalid);
    constexpr auto advise = "zeCommandListAppendMemAdvise";
    const auto advice = [&](ze_device_handle_t device, const void *ptr, uint32_t value) {
        return api::zeCommandListAppendMemAdvise(
            list_, device, ptr, 1, static_cast<ze_memory_advice_t>(value));
    };
    constexpr uint32_t good = ZE_MEMORY_ADVICE_SET_READ_MOSTLY;
    constexpr uint32_t last = ZE_MEMORY_ADVICE_CLEAR_SYSTEM_MEMORY_PREFERRED_LOCATION;
    EXPECT_EQ(advice(devices_[0], src_, last), ZE_RESULT_SUCCESS);
    expectRefused(advise, advice(nullptr, src_, good), nullHandle);
    expectRefused(advise, advice(devices_[1], src_, good), invalid);
    expectRefused(advise, advice(devices_[0], nullptr, good), nullPointer);
    expectRefused(advise, advice(devices_[0], this, good), invalid);
    expectRefused(advise, advice(devices_[0], src_, last + 1), ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

} // namespace
} // namespace causeway::api
