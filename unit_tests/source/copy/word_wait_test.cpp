#include "source/copy/word_wait.h"

#include "shared/os/linux_os.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/copy/test_events.h"
#include "unit_tests/source/memory/result_checks.h"

#include <cerrno>
#include <functional>
#include <thread>
#include <vector>

namespace causeway::copy {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

/// A clock that only moves when somebody sleeps, and sleeps that end as the test says.
class ScriptedOs final : public fakes::ForwardingOs {
  public:
    using ForwardingOs::ForwardingOs;

    std::function<OsResult<void>(nanoseconds timeout)> sleep;
    steady_clock::time_point clock{std::chrono::hours(1)};
    std::vector<nanoseconds> timeouts;

    steady_clock::time_point now() override { return clock; }

    OsResult<void> futexWait(const std::atomic<uint32_t> &,
                             uint32_t,
                             nanoseconds timeout) override {
        timeouts.push_back(timeout);
        return sleep(timeout);
    }
};

class WordWaitTest : public fakes::ResourceCheckedTest {
  protected:
    /// A sleep that takes `length`, or less if it may not take so long, and then is interrupted.
    auto interruptedAfter(nanoseconds length) {
        return [this, length](nanoseconds timeout) -> OsResult<void> {
            os_.clock += std::min(length, timeout);
            return std::unexpected(Errno{EINTR});
        };
    }

    ScriptedOs os_{linuxOs()};
    std::atomic<uint32_t> word_{0};
};

TEST_F(WordWaitTest, ASetWordNeedsNoSleep) {
    for (const uint32_t value : {1U, 2U, 0x80000000U, 0xffffffffU}) {
        word_ = value;
        EXPECT_EQ(must(waitUntilSet(os_, word_, Deadline::after(os_, 0))), true) << value;
        EXPECT_EQ(must(waitUntilSet(os_, word_, Deadline::never())), true) << value;
    }
    EXPECT_TRUE(os_.timeouts.empty());
}

TEST_F(WordWaitTest, TimeoutZeroOnlyLooks) {
    EXPECT_EQ(must(waitUntilSet(os_, word_, Deadline::after(os_, 0))), false);
    EXPECT_TRUE(os_.timeouts.empty());
}

TEST_F(WordWaitTest, InterruptionsDoNotMoveTheDeadline) {
    os_.sleep = interruptedAfter(milliseconds(10));

    EXPECT_EQ(must(waitUntilSet(os_, word_, Deadline::after(os_, 35'000'000))), false);

    EXPECT_EQ(os_.timeouts,
              (std::vector<nanoseconds>{
                  milliseconds(35), milliseconds(25), milliseconds(15), milliseconds(5)}));
}

TEST_F(WordWaitTest, NoSleepIsLongerThanATenthOfASecond) {
    os_.sleep = interruptedAfter(std::chrono::hours(1));

    EXPECT_EQ(must(waitUntilSet(os_, word_, Deadline::after(os_, 250'000'000))), false);

    EXPECT_EQ(os_.timeouts,
              (std::vector<nanoseconds>{milliseconds(100), milliseconds(100), milliseconds(50)}));
}

TEST_F(WordWaitTest, WhateverEndsASleepTheWordDecides) {
    for (const int error : {0, EAGAIN, EINTR, ETIMEDOUT}) {
        word_ = 0;
        int sleeps = 0;
        os_.sleep = [&](nanoseconds) -> OsResult<void> {
            word_ = ++sleeps == 3 ? 1 : 0;
            if (error != 0) {
                return std::unexpected(Errno{error});
            }
            return {};
        };
        EXPECT_EQ(must(waitUntilSet(os_, word_, Deadline::never())), true) << error;
        EXPECT_EQ(sleeps, 3) << error;
    }
}

TEST_F(WordWaitTest, AFutexThatFailsIsAnErrorAndNotALoop) {
    os_.sleep = [](nanoseconds) -> OsResult<void> { return std::unexpected(Errno{ENOSYS}); };

    EXPECT_FALSE(waitUntilSet(os_, word_, Deadline::never()));
    EXPECT_EQ(os_.timeouts.size(), 1U);
}

TEST_F(WordWaitTest, AStopFlagEndsTheWait) {
    std::atomic<bool> stop{true};
    EXPECT_EQ(must(waitUntilSet(os_, word_, Deadline::never(), StopFlags(stop))), false);

    stop = false;
    os_.sleep = [&](nanoseconds) -> OsResult<void> {
        stop = true;
        return std::unexpected(Errno{ETIMEDOUT});
    };
    EXPECT_EQ(must(waitUntilSet(os_, word_, Deadline::never(), StopFlags(stop))), false);
}

TEST_F(WordWaitTest, DeadlinesBeyondTheClockNeverPass) {
    const auto range = steady_clock::time_point::max() - os_.clock;
    const auto rangeNs = static_cast<uint64_t>(nanoseconds(range).count());
    EXPECT_FALSE(Deadline::after(os_, forEver).when());
    EXPECT_FALSE(Deadline::after(os_, rangeNs).when());
    EXPECT_EQ(Deadline::after(os_, rangeNs - 1).when(),
              steady_clock::time_point::max() - nanoseconds(1));
    EXPECT_EQ(Deadline::after(os_, 7).when(), os_.clock + nanoseconds(7));
    EXPECT_FALSE(Deadline::never().hasPassed(os_));
    EXPECT_TRUE(Deadline::after(os_, 0).hasPassed(os_));
}

TEST_F(WordWaitTest, ASleeperIsWoken) {
    SleepWatchingOs os(linuxOs());
    int before = 0;
    std::thread setter([&] {
        os.waitForSleeper();
        before = 7;
        setAndWake(os, word_, 1);
    });
    EXPECT_EQ(must(waitUntilSet(os, word_, Deadline::never())), true);
    EXPECT_EQ(before, 7);
    setter.join();
}

TEST_F(WordWaitTest, AWakeThatFailsDelaysButDoesNotLose) {
    SleepWatchingOs watching(linuxOs());
    fakes::FaultyOs os(watching);
    os.failKind(fakes::OsCall::FutexWake, EFAULT);
    std::thread setter([&] {
        watching.waitForSleeper();
        setAndWake(os, word_, 1);
    });
    EXPECT_EQ(must(waitUntilSet(os, word_, Deadline::never())), true);
    setter.join();
}

TEST_F(WordWaitTest, AShortTimeoutPasses) {
    Os &os = linuxOs();
    EXPECT_EQ(must(waitUntilSet(os, word_, Deadline::after(os, 1'000'000))), false);
}

} // namespace
} // namespace causeway::copy
