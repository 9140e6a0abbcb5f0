#include "source/copy/batch_runner.h"

#include "shared/os/linux_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/copy/test_events.h"
#include "unit_tests/source/memory/result_checks.h"

#include <array>
#include <cstring>

namespace causeway::copy {
namespace {

/// A clock that moves on by 1 ns each time somebody looks.
class TickingOs final : public fakes::ForwardingOs {
  public:
    using ForwardingOs::ForwardingOs;

    uint64_t ticks = 1000;

    std::chrono::nanoseconds rawTime() override { return std::chrono::nanoseconds(++ticks); }
};

class BatchRunnerTest : public fakes::ResourceCheckedTest {
  protected:
    Result<bool> run(std::vector<Command> commands) {
        const std::array batches = {BatchRef(std::make_shared<CommandBatch>(std::move(commands)))};
        return runBatches(os_, mover_, batches, StopFlags(stop_));
    }

    static uint64_t addressOf(const void *place) { return reinterpret_cast<uint64_t>(place); }

    static Fill fillOf(std::span<uint8_t> bytes, uint8_t value) {
        const std::array pattern = {std::byte{value}};
        return {.address = addressOf(bytes.data()),
                .sizeBytes = bytes.size(),
                .pattern = must(FillPattern::make(pattern))};
    }

    TickingOs os_{linuxOs()};
    DataMover mover_{os_, {.threads = 1}};
    TestEvents events_;
    std::atomic<bool> stop_{false};
    std::array<uint8_t, 16> bytes_ = {};
};

TEST_F(BatchRunnerTest, AnEmptyBatchIsDone) {
    EXPECT_TRUE(must(run({})));
}

TEST_F(BatchRunnerTest, EachCommandDoesItsWork) {
    events_[1].signal(os_);
    events_[2].signal(os_);
    const CopyRegion copy = {.dst = {.address = addressOf(&bytes_[8])},
                             .src = {.address = addressOf(bytes_.data())},
                             .widthBytes = 4};
    EXPECT_TRUE(must(run({fillOf(std::span(bytes_).first(8), 7),
                          copy,
                          Wait{.event = &events_[1]},
                          Reset{.event = &events_[2]},
                          Signal{.event = &events_[0]}})));
    EXPECT_EQ(bytes_, (std::array<uint8_t, 16>{7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 0, 0, 0}));
    EXPECT_TRUE(events_[0].isSignalled());
    EXPECT_EQ(events_[0].timestamps(), EventTimestamps{});
    EXPECT_TRUE(events_[1].isSignalled());
    EXPECT_FALSE(events_[2].isSignalled());
}

TEST_F(BatchRunnerTest, ATimestampMayLieAtAnyAddress) {
    EXPECT_TRUE(must(run({WriteTimestamp{.address = addressOf(&bytes_[3])}})));
    uint64_t written = 0;
    std::memcpy(&written, &bytes_[3], sizeof(written));
    EXPECT_GT(written, 1000U);
    EXPECT_LE(written, os_.ticks);
    EXPECT_EQ(bytes_[2], 0);
    EXPECT_EQ(bytes_[11], 0);
}

TEST_F(BatchRunnerTest, TimesOfAnEventAreStoredAtAnyAddress) {
    std::array<uint8_t, 34> target = {};
    EXPECT_TRUE(
        must(run({Signal{.event = &events_[0], .times = SignalTimes::Now},
                  StoreTimestamps{.event = &events_[0], .address = addressOf(&target[1])}})));
    EventTimestamps stored;
    std::memcpy(&stored, &target[1], sizeof(stored));
    EXPECT_EQ(stored, events_[0].timestamps());
    EXPECT_GT(stored.globalStart, 1000U);
    EXPECT_EQ(target[0], 0);
    EXPECT_EQ(target[33], 0);
}

/// Memory that is gone when the command runs.
class GoneMemory final : public MemoryUse {
  public:
    [[nodiscard]] Result<void> check() const override {
        return fail(Status::DeviceLost, "unmapped");
    }
};

TEST_F(BatchRunnerTest, MemoryThatIsGoneIsNotTouched) {
    const auto gone = std::make_shared<GoneMemory>();
    Fill filling = fillOf(bytes_, 1);
    filling.memory = gone;
    EXPECT_TRUE(failsWith(run({filling}), Status::DeviceLost));
    const uint64_t address = addressOf(bytes_.data());
    EXPECT_TRUE(
        failsWith(run({WriteTimestamp{.address = address, .memory = gone}}), Status::DeviceLost));
    EXPECT_TRUE(
        failsWith(run({StoreTimestamps{.event = &events_[0], .address = address, .memory = gone}}),
                  Status::DeviceLost));
    bytes_[8] = 7;
    for (const bool isSource : {false, true}) {
        const CopyRegion copy = {
            .dst = {.address = address, .memory = isSource ? nullptr : gone},
            .src = {.address = addressOf(&bytes_[8]), .memory = isSource ? gone : nullptr},
            .widthBytes = 1};
        EXPECT_TRUE(failsWith(run({copy}), Status::DeviceLost));
    }
    EXPECT_EQ(bytes_[0], 0);
}

TEST_F(BatchRunnerTest, TimesAreFromTheMarkToTheSignal) {
    std::array<uint64_t, 2> during = {};
    EXPECT_TRUE(must(run({Mark{},
                          WriteTimestamp{.address = addressOf(during.data())},
                          WriteTimestamp{.address = addressOf(&during[1])},
                          Signal{.event = &events_[0], .times = SignalTimes::SinceMark},
                          Signal{.event = &events_[1], .times = SignalTimes::Now}})));
    const EventTimestamps both = events_[0].timestamps();
    EXPECT_EQ(both.globalStart, during[0] - 1);
    EXPECT_EQ(both.globalEnd, during[1] + 1);
    const EventTimestamps now = events_[1].timestamps();
    EXPECT_EQ(now.globalStart, both.globalEnd + 1);
    EXPECT_EQ(now.globalStart, now.globalEnd);
}

TEST_F(BatchRunnerTest, MarksOfListsHoldAcrossBatchesAndTheMarksInThem) {
    const auto batchOf = [](std::vector<Command> commands) {
        return BatchRef(std::make_shared<CommandBatch>(std::move(commands)));
    };
    const uint64_t start = os_.ticks + 1;
    const std::array batches = {
        batchOf({Mark{.enclosed = Enclosed::Lists}}),
        batchOf({Mark{}, Signal{.event = &events_[0], .times = SignalTimes::SinceMark}}),
        batchOf({Mark{}}),
        batchOf({Signal{
            .event = &events_[1], .times = SignalTimes::SinceMark, .enclosed = Enclosed::Lists}})};
    EXPECT_TRUE(must(runBatches(os_, mover_, batches, StopFlags(stop_))));
    EXPECT_EQ(events_[0].timestamps().globalStart, start + 1);
    EXPECT_EQ(events_[0].timestamps().globalEnd, start + 2);
    EXPECT_EQ(events_[1].timestamps().globalStart, start);
    EXPECT_EQ(events_[1].timestamps().globalEnd, start + 4);
}

TEST_F(BatchRunnerTest, NothingRunsAfterACommandThatFails) {
    Fill wrapping = fillOf(bytes_, 1);
    wrapping.sizeBytes = UINT64_MAX;
    EXPECT_TRUE(
        failsWith(run({Signal{.event = &events_[0]}, wrapping, Signal{.event = &events_[1]}}),
                  Status::InvalidSize));
    EXPECT_TRUE(events_[0].isSignalled());
    EXPECT_FALSE(events_[1].isSignalled());
}

TEST_F(BatchRunnerTest, NothingRunsAfterAStop) {
    stop_ = true;
    EXPECT_FALSE(must(run({Signal{.event = &events_[0]}})));
    EXPECT_FALSE(events_[0].isSignalled());
}

} // namespace
} // namespace causeway::copy
