#include "unit_tests/fakes/failing_allocations.h"
#include "unit_tests/level_zero/command_fixture.h"

#include <memory>

namespace causeway::api {
namespace {

class EventTest : public CommandFixture {
  protected:
    ze_result_t create() { return api::zeEventCreate(pool_, &desc_, &created_); }

    ze_event_handle_t timedEvent() {
        return makeEvent(makePool(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP), 0);
    }

    ze_event_desc_t desc_ = make<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
    ze_event_handle_t created_ = nullptr;
};

constexpr auto invalid = ZE_RESULT_ERROR_INVALID_ARGUMENT;
constexpr auto nullPointer = ZE_RESULT_ERROR_INVALID_NULL_POINTER;

TEST_F(EventTest, CreateChecksItsArguments) {
    constexpr auto name = "zeEventCreate";
    expectRefused(name, api::zeEventCreate(pool_, nullptr, &created_), nullPointer);
    expectRefused(name, api::zeEventCreate(pool_, &desc_, nullptr), nullPointer);
    desc_.index = 4;
    expectRefused(name, create(), invalid);
    desc_.index = 1;
    desc_.signal = 8;
    expectRefused(name, create(), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    desc_.signal = 0;
    desc_.wait = 8;
    expectRefused(name, create(), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_EQ(created_, nullptr);
    desc_.signal = 7;
    desc_.wait = 7;
    EXPECT_EQ(create(), ZE_RESULT_SUCCESS);
}

TEST_F(EventTest, AnEventTellsWhatItIs) {
    desc_.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    desc_.wait = ZE_EVENT_SCOPE_FLAG_DEVICE;
    ASSERT_EQ(create(), ZE_RESULT_SUCCESS);
    ze_event_pool_handle_t pool = nullptr;
    ze_event_scope_flags_t signal = 0;
    ze_event_scope_flags_t wait = 0;
    EXPECT_EQ(api::zeEventGetEventPool(created_, &pool), ZE_RESULT_SUCCESS);
    EXPECT_EQ(pool, pool_);
    EXPECT_EQ(api::zeEventGetSignalScope(created_, &signal), ZE_RESULT_SUCCESS);
    EXPECT_EQ(signal, desc_.signal);
    EXPECT_EQ(api::zeEventGetWaitScope(created_, &wait), ZE_RESULT_SUCCESS);
    EXPECT_EQ(wait, desc_.wait);
    for (const ze_result_t result : {api::zeEventGetEventPool(created_, nullptr),
                                     api::zeEventGetSignalScope(created_, nullptr),
                                     api::zeEventGetWaitScope(created_, nullptr)}) {
        EXPECT_EQ(result, nullPointer);
    }
}

TEST_F(EventTest, TheHostSignalsAndResets) {
    EXPECT_EQ(api::zeEventQueryStatus(event_), ZE_RESULT_NOT_READY);
    EXPECT_EQ(api::zeEventHostSynchronize(event_, 0), ZE_RESULT_NOT_READY);
    EXPECT_EQ(api::zeEventHostSynchronize(event_, 1000), ZE_RESULT_NOT_READY);
    EXPECT_EQ(api::zeEventHostSignal(event_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeEventHostSignal(event_), ZE_RESULT_SUCCESS) << "once more";
    EXPECT_EQ(api::zeEventQueryStatus(event_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeEventHostSynchronize(event_, forEver), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeEventHostReset(event_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeEventQueryStatus(event_), ZE_RESULT_NOT_READY);
}

TEST_F(EventTest, AnIndexThatIsUsedAnewBeginsAnew) {
    ASSERT_EQ(api::zeEventHostSignal(event_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeEventDestroy(event_), ZE_RESULT_SUCCESS);
    expectRefused("zeEventQueryStatus", api::zeEventQueryStatus(event_), invalid);
    EXPECT_EQ(api::zeEventQueryStatus(makeEvent(pool_, 0)), ZE_RESULT_NOT_READY);
}

/// The events of one pool, as this process has them and as a peer does.
class SharedEventTest : public EventTest {
  protected:
    void SetUp() override {
        EventTest::SetUp();
        shared_ = makePool(ZE_EVENT_POOL_FLAG_IPC);
        ze_ipc_event_pool_handle_t handle = {};
        ASSERT_EQ(api::zeEventPoolGetIpcHandle(shared_, &handle), ZE_RESULT_SUCCESS);
        ASSERT_EQ(api::zeEventPoolOpenIpcHandle(otherContext_, handle, &peers_), ZE_RESULT_SUCCESS);
    }

    /// Creates event 0 of the shared pool after many failures, each of which `check()` follows.
    template <typename Check>
    void createAfterFailures(const Check &check) {
        int failures = 0;
        const ze_result_t result =
            fakes::sweepAllocations([&] { return api::zeEventCreate(shared_, &desc_, &created_); },
                                    [&](ze_result_t failed) {
                                        ++failures;
                                        ASSERT_EQ(failed, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
                                        EXPECT_EQ(created_, nullptr);
                                        check();
                                    });
        ASSERT_EQ(result, ZE_RESULT_SUCCESS);
        EXPECT_GT(failures, 1);
    }

    ze_event_pool_handle_t shared_ = nullptr;
    ze_event_pool_handle_t peers_ = nullptr;
};

TEST_F(SharedEventTest, ACreateThatFailsDoesNotCountAsUse_NoMemory) {
    auto *const peers = makeEvent(peers_, 0);
    createAfterFailures([&] { ASSERT_EQ(api::zeEventHostSignal(peers), ZE_RESULT_SUCCESS); });
    EXPECT_EQ(api::zeEventQueryStatus(created_), ZE_RESULT_SUCCESS) << "a peer has signalled";
}

TEST_F(SharedEventTest, ACreateThatFailsLeavesTheEventAsItWas_NoMemory) {
    auto *const first = makeEvent(shared_, 0);
    auto *const peers = makeEvent(peers_, 0);
    ASSERT_EQ(api::zeEventHostSignal(first), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeEventDestroy(first), ZE_RESULT_SUCCESS);
    createAfterFailures([&] { EXPECT_EQ(api::zeEventQueryStatus(peers), ZE_RESULT_SUCCESS); });
    EXPECT_EQ(api::zeEventQueryStatus(created_), ZE_RESULT_NOT_READY);
}

TEST_F(EventTest, TimesAreAskedOfEventsThatHaveThem) {
    constexpr auto name = "zeEventQueryKernelTimestamp";
    ze_kernel_timestamp_result_t times = {};
    expectRefused(name, api::zeEventQueryKernelTimestamp(event_, &times), invalid);
    auto *const timed = timedEvent();
    expectRefused(name, api::zeEventQueryKernelTimestamp(timed, nullptr), nullPointer);
    EXPECT_EQ(api::zeEventQueryKernelTimestamp(timed, &times), ZE_RESULT_NOT_READY);
    EXPECT_EQ(times.global.kernelEnd, 0U);
    ASSERT_EQ(api::zeEventHostSignal(timed), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeEventQueryKernelTimestamp(timed, &times), ZE_RESULT_SUCCESS);
    EXPECT_NE(times.global.kernelEnd, 0U);
}

TEST_F(EventTest, TheExperimentalQueryCountsAndWritesOneResult) {
    constexpr auto name = "zeEventQueryTimestampsExp";
    auto *const timed = timedEvent();
    uint32_t count = 7;
    std::array<ze_kernel_timestamp_result_t, 2> times = {};
    const auto query = [&](ze_device_handle_t device, uint32_t *counted) {
        return api::zeEventQueryTimestampsExp(timed, device, counted, times.data());
    };
    expectRefused(name, query(nullptr, &count), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    expectRefused(name, query(devices_[1], &count), invalid);
    expectRefused(name, query(devices_[0], nullptr), nullPointer);
    EXPECT_EQ(query(devices_[0], &count), ZE_RESULT_NOT_READY);
    EXPECT_EQ(count, 7U);
    ASSERT_EQ(api::zeEventHostSignal(timed), ZE_RESULT_SUCCESS);
    count = 0;
    EXPECT_EQ(query(devices_[0], &count), ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(times[0].global.kernelEnd, 0U);
    count = 2;
    EXPECT_EQ(query(devices_[0], &count), ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, 1U);
    EXPECT_NE(times[0].global.kernelEnd, 0U);
    EXPECT_EQ(times[1].global.kernelEnd, 0U);
}

TEST_F(EventTest, TheExtendedQueryWritesSynchronizedTimesOfMappedEvents) {
    constexpr auto name = "zeEventQueryKernelTimestampsExt";
    ze_kernel_timestamp_result_t times = {};
    ze_synchronized_timestamp_result_ext_t synchronized = {};
    auto results = make<ze_event_query_kernel_timestamps_results_ext_properties_t>(
        ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES);
    results.pKernelTimestampsBuffer = &times;
    results.pSynchronizedTimestampsBuffer = &synchronized;
    uint32_t count = 1;
    const auto query = [&](ze_event_handle_t event, ze_device_handle_t device, uint32_t *counted) {
        return api::zeEventQueryKernelTimestampsExt(event, device, counted, &results);
    };
    auto *const mapped = makeEvent(makePool(ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP), 0);
    auto *const timed = timedEvent();
    expectRefused(name, query(mapped, nullptr, &count), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    expectRefused(name, query(mapped, devices_[1], &count), invalid);
    expectRefused(name, query(mapped, devices_[0], nullptr), nullPointer);
    expectRefused(name, query(event_, devices_[0], &count), invalid);
    EXPECT_EQ(query(mapped, devices_[0], &count), ZE_RESULT_NOT_READY);
    ASSERT_EQ(api::zeEventHostSignal(timed), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeEventHostSignal(mapped), ZE_RESULT_SUCCESS);
    EXPECT_EQ(query(timed, devices_[0], &count), ZE_RESULT_SUCCESS);
    EXPECT_NE(times.global.kernelEnd, 0U);
    EXPECT_EQ(synchronized.global.kernelEnd, 0U);
    EXPECT_EQ(query(mapped, devices_[0], &count), ZE_RESULT_SUCCESS);
    EXPECT_EQ(synchronized.global.kernelEnd, times.global.kernelEnd);
    EXPECT_NE(synchronized.global.kernelEnd, 0U);
}

} // namespace
} // namespace causeway::api
