#include "source/copy/event_state.h"

#include "shared/os/linux_os.h"
#include "unit_tests/fakes/forked_child.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/copy/test_events.h"
#include "unit_tests/source/memory/result_checks.h"

#include <ctime>
#include <thread>
#include <vector>

namespace causeway::copy {
namespace {

class EventStateTest : public fakes::ResourceCheckedTest {
  protected:
    bool waitsForEver(const EventState &event) { return must(event.wait(os_, Deadline::never())); }

    bool looks(const EventState &event) { return must(event.wait(os_, Deadline::after(os_, 0))); }

    SleepWatchingOs os_{linuxOs()};
    TestEvents events_;
};

TEST_F(EventStateTest, ZeroedMemoryIsNotSignalled) {
    EXPECT_FALSE(events_[0].isSignalled());
    EXPECT_FALSE(looks(events_[0]));
    EXPECT_EQ(events_[0].timestamps(), EventTimestamps{});
}

TEST_F(EventStateTest, SignalAndResetConcernOneEvent) {
    events_[1].signal(os_);
    EXPECT_FALSE(events_[0].isSignalled());
    EXPECT_TRUE(events_[1].isSignalled());
    EXPECT_FALSE(events_[2].isSignalled());
    EXPECT_TRUE(looks(events_[1]));
    EXPECT_TRUE(waitsForEver(events_[1]));
    events_[1].reset();
    EXPECT_FALSE(events_[1].isSignalled());
}

TEST_F(EventStateTest, TimestampsAreThereOnceItIsSignalledAndGoneAfterReset) {
    events_[0].signalWithTimestamps(os_, 5, 9);
    EXPECT_TRUE(events_[0].isSignalled());
    const EventTimestamps times = {
        .globalStart = 5, .globalEnd = 9, .contextStart = 5, .contextEnd = 9};
    EXPECT_EQ(events_[0].timestamps(), times);
    EXPECT_EQ(events_[1].timestamps(), EventTimestamps{}) << "beyond its 64 bytes";
    events_[0].signal(os_);
    EXPECT_EQ(events_[0].timestamps(), times);
    events_[0].reset();
    EXPECT_EQ(events_[0].timestamps(), EventTimestamps{});
}

TEST_F(EventStateTest, AnyOtherValueOfAPeerIsSignalled) {
    for (const uint32_t value : {2U, 0xdeadbeefU, 0x80000000U}) {
        events_.rawState(0) = value;
        EXPECT_TRUE(events_[0].isSignalled()) << value;
        EXPECT_TRUE(looks(events_[0])) << value;
        events_[0].reset();
        EXPECT_FALSE(events_[0].isSignalled()) << value;
    }
}

TEST_F(EventStateTest, AWordThatWasSetWithoutAWakeIsFound) {
    std::thread peer([&] {
        os_.waitForSleeper();
        events_.rawState(0) = 1; // and then it was killed
    });
    EXPECT_TRUE(waitsForEver(events_[0]));
    peer.join();
}

TEST_F(EventStateTest, AllWaitersAreWoken) {
    std::vector<std::thread> waiters;
    waiters.reserve(4);
    std::atomic<int> woken = 0;
    for (int i = 0; i < 4; ++i) {
        waiters.emplace_back([&] { woken += waitsForEver(events_[0]) ? 1 : 0; });
    }
    os_.waitForSleeper();
    events_[0].signalWithTimestamps(os_, 1, 2);
    for (std::thread &waiter : waiters) {
        waiter.join();
    }
    EXPECT_EQ(woken, 4);
}

TEST_F(EventStateTest, NowIsTheRawMonotonicClock) {
    const auto nowOf = [] {
        timespec time = {};
        ::clock_gettime(CLOCK_MONOTONIC_RAW, &time);
        return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
               static_cast<uint64_t>(time.tv_nsec);
    };
    const uint64_t before = nowOf();
    const uint64_t now = timestampNow(os_);
    EXPECT_LE(before, now);
    EXPECT_LE(now, nowOf());
}

TEST_F(EventStateTest, AnotherProcessWaits_Forks) {
    fakes::ForkedChild child([&](const fakes::ForkedChild::Side &side) {
        side.ready();
        const auto signalled = events_[3].wait(os_, Deadline::never());
        return signalled && *signalled && events_[3].timestamps().globalEnd == 22 ? 0 : 1;
    });
    child.waitUntilReady();
    events_[3].signalWithTimestamps(os_, 11, 22);
    EXPECT_EQ(child.wait(), 0);
}

TEST_F(EventStateTest, AnotherProcessSignals_Forks) {
    fakes::ForkedChild child([&](const fakes::ForkedChild::Side &side) {
        side.waitForNext();
        events_[3].signalWithTimestamps(os_, 11, 22);
        return 0;
    });
    std::thread releaser([&] {
        os_.waitForSleeper();
        child.next();
    });
    EXPECT_TRUE(waitsForEver(events_[3]));
    EXPECT_EQ(events_[3].timestamps().globalStart, 11U);
    releaser.join();
    EXPECT_EQ(child.wait(), 0);
}

} // namespace
} // namespace causeway::copy
