#include "source/copy/queue.h"

#include "unit_tests/fakes/failing_allocations.h"
#include "unit_tests/fakes/forked_child.h"
#include "unit_tests/source/copy/queue_fixture.h"

#include <cerrno>
#include <functional>
#include <new>
#include <thread>
#include <utility>

namespace causeway::copy {
namespace {

class QueueTest : public QueueFixture {};

TEST_F(QueueTest, StartsItsThreadWithTheFirstBatch) {
    Queue queue(os_, mover_, latch_);
    EXPECT_TRUE(must(queue.synchronize(0)));
    EXPECT_EQ(os_.calls(fakes::OsCall::StartThread), 0U);
    must(submit(queue, {}));
    must(submit(queue, {}));
    EXPECT_TRUE(must(queue.synchronize(forEver)));
    EXPECT_EQ(os_.calls(fakes::OsCall::StartThread), 1U);
}

TEST_F(QueueTest, RunsBatchesAndCommandsInOrder) {
    Queue queue(os_, mover_, latch_);
    std::array<uint64_t, 101> cells = {42};
    for (size_t i = 0; i + 2 < cells.size(); i += 2) {
        must(submit(queue, {copyOf(cells[i], cells[i + 1]), copyOf(cells[i + 1], cells[i + 2])}));
    }
    EXPECT_TRUE(must(queue.synchronize(forEver)));
    EXPECT_EQ(cells.back(), 42U);
}

TEST_F(QueueTest, ABatchCanBeSubmittedManyTimesAndToManyQueues) {
    std::array<uint64_t, 3> cells = {1, 0, 0};
    Queue first(os_, mover_, latch_);
    Queue second(os_, mover_, latch_);
    const auto batch = batchOf({waitFor(0), copyOf(cells[0], cells[1])});
    const auto fence = makeFence();
    must(first.submit({batch}));
    must(first.submit({batch}));
    events_[0].signal(os_);
    EXPECT_TRUE(must(first.synchronize(forEver)));
    must(second.submit({batch}, fence));
    EXPECT_TRUE(must(fence->wait(forEver)));
    EXPECT_EQ(cells[1], 1U);
}

TEST_F(QueueTest, EventsOrderTheWorkOfTwoQueues) {
    std::array<uint64_t, 5> cells = {42};
    Queue first(os_, mover_, latch_);
    Queue second(os_, mover_, latch_);
    must(submit(first,
                {waitFor(0),
                 copyOf(cells[1], cells[2]),
                 signalOf(1),
                 waitFor(2),
                 copyOf(cells[3], cells[4])}));
    must(submit(second,
                {copyOf(cells[0], cells[1]),
                 signalOf(0),
                 waitFor(1),
                 copyOf(cells[2], cells[3]),
                 signalOf(2)}));
    EXPECT_TRUE(must(first.synchronize(forEver)));
    EXPECT_TRUE(must(second.synchronize(forEver)));
    EXPECT_EQ(cells[4], 42U);
}

TEST_F(QueueTest, AWaitBlocksOnlyItsOwnQueue) {
    Queue blocked(os_, mover_, latch_);
    Queue other(os_, mover_, latch_);
    must(submit(blocked, {waitFor(0), signalOf(1)}));
    must(submit(other, {signalOf(2)}));
    EXPECT_TRUE(must(other.synchronize(forEver)));
    EXPECT_FALSE(must(blocked.synchronize(0)));
    EXPECT_FALSE(must(blocked.synchronize(1'000'000)));
    EXPECT_FALSE(events_[1].isSignalled());
    events_[0].signal(os_);
    EXPECT_TRUE(must(blocked.synchronize(forEver)));
    EXPECT_TRUE(events_[1].isSignalled());
}

TEST_F(QueueTest, SynchronizeConcernsWhatWasSubmittedBefore) {
    Queue queue(os_, mover_, latch_);
    must(submit(queue, {signalOf(1)}));
    EXPECT_TRUE(must(queue.synchronize(forEver)));
    must(submit(queue, {waitFor(0)}));
    EXPECT_FALSE(must(queue.synchronize(0)));
    events_[0].signal(os_);
    EXPECT_TRUE(must(queue.synchronize(forEver)));
    EXPECT_TRUE(must(queue.synchronize(0)));
}

TEST_F(QueueTest, ItsThreadIsWokenFromAWait) {
    Queue queue(os_, mover_, latch_);
    must(submit(queue, {waitFor(0), signalOf(1)}));
    watching_.waitForSleeper();
    events_[0].signal(os_);
    EXPECT_TRUE(waitsFor(1));
}

TEST_F(QueueTest, WhatABatchKeepsAliveIsLetGoBeforeItCountsAsDone) {
    Queue queue(os_, mover_, latch_);
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = owner;
    must(submit(queue, {waitFor(0), Signal{.event = &events_[1], .owner = std::move(owner)}}));
    EXPECT_FALSE(watched.expired());
    events_[0].signal(os_);
    EXPECT_TRUE(must(queue.synchronize(forEver)));
    EXPECT_TRUE(watched.expired());
}

TEST_F(QueueTest, EndsPromptlyWithAWaitThatNobodySignals) {
    const auto waiting = makeFence();
    const auto behind = makeFence();
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = owner;
    {
        Queue queue(os_, mover_, latch_);
        must(submit(queue, {waitFor(0), signalOf(1)}, waiting));
        must(submit(queue, {Signal{.event = &events_[2], .owner = std::move(owner)}}, behind));
        watching_.waitForSleeper();
    }
    EXPECT_FALSE(events_[1].isSignalled());
    EXPECT_FALSE(events_[2].isSignalled());
    EXPECT_TRUE(failsWith(waiting->wait(forEver), Status::Unknown, "destroyed"));
    EXPECT_TRUE(failsWith(behind->wait(forEver), Status::Unknown, "destroyed"));
    EXPECT_TRUE(watched.expired());
}

TEST_F(QueueTest, AStoppedQueueEndsByItselfAndTakesNothing) {
    Queue queue(os_, mover_, latch_);
    const auto waiting = makeFence();
    const auto behind = makeFence();
    const auto refused = makeFence();
    must(submit(queue, {waitFor(0), signalOf(1)}, waiting));
    must(submit(queue, {signalOf(2)}, behind));
    watching_.waitForSleeper();
    queue.stop();
    EXPECT_TRUE(failsWith(submit(queue, {signalOf(3)}, refused), Status::Unknown, "destroyed"));
    EXPECT_TRUE(failsWith(queue.synchronize(forEver), Status::Unknown, "destroyed"));
    EXPECT_TRUE(failsWith(waiting->query(), Status::Unknown, "destroyed"));
    EXPECT_TRUE(failsWith(behind->query(), Status::Unknown, "destroyed"));
    EXPECT_FALSE(must(refused->query()));
    for (size_t event = 1; event <= 3; ++event) {
        EXPECT_FALSE(events_[event].isSignalled()) << event;
    }
}

TEST_F(QueueTest, EndsWhereItsThreadHasNotLookedYet) {
    for (int i = 0; i < 20; ++i) {
        Queue queue(os_, mover_, latch_);
        must(submit(queue, {waitFor(0)}));
    }
}

TEST_F(QueueTest, AThreadThatCannotStartFailsTheSubmitAndNothingElse) {
    Queue queue(os_, mover_, latch_);
    os_.failKindAt(fakes::OsCall::StartThread, 1, EAGAIN);
    const auto fence = makeFence();
    EXPECT_TRUE(failsWith(submit(queue, {signalOf(0)}, fence), Status::OutOfHostMemory, "thread"));
    EXPECT_FALSE(must(fence->query()));
    EXPECT_TRUE(must(queue.synchronize(0)));
    must(submit(queue, {signalOf(1)}, fence));
    EXPECT_TRUE(must(fence->wait(forEver)));
    EXPECT_FALSE(events_[0].isSignalled());
    EXPECT_TRUE(events_[1].isSignalled());
}

TEST_F(QueueTest, BatchesOfOneSubmitRunInOrderAndShareAFence) {
    Queue queue(os_, mover_, latch_);
    std::array<uint64_t, 3> cells = {42, 0, 0};
    const auto fence = makeFence();
    must(queue.submit(
        {batchOf({waitFor(0), copyOf(cells[0], cells[1])}), batchOf({copyOf(cells[1], cells[2])})},
        fence));
    EXPECT_FALSE(must(fence->query()));
    events_[0].signal(os_);
    EXPECT_TRUE(must(fence->wait(forEver)));
    EXPECT_EQ(cells[2], 42U);
}

TEST_F(QueueTest, AFailureEndsTheOtherQueuesToo) {
    Queue failing(os_, mover_, latch_);
    Queue waiting(os_, mover_, latch_);
    Queue idle(os_, mover_, latch_);
    const auto fence = makeFence();
    must(submit(waiting, {waitFor(0), signalOf(1)}, fence));
    watching_.waitForSleeper();
    must(submit(failing, {wrappingCopy(), signalOf(0)}));
    EXPECT_TRUE(failsWith(waiting.synchronize(forEver), Status::InvalidSize));
    EXPECT_TRUE(failsWith(fence->wait(forEver), Status::InvalidSize));
    EXPECT_TRUE(failsWith(idle.synchronize(0), Status::InvalidSize));
    EXPECT_TRUE(failsWith(submit(idle, {signalOf(2)}), Status::InvalidSize));
    EXPECT_FALSE(events_[1].isSignalled());
}

TEST_F(QueueTest, NothingIsSignalledAfterACommandThatFails) {
    Queue queue(os_, mover_, latch_);
    const auto before = makeFence();
    const auto failing = makeFence();
    const auto behind = makeFence();
    must(submit(queue, {waitFor(0)}, before));
    must(submit(queue, {wrappingCopy(), signalOf(1)}, failing));
    must(submit(queue, {signalOf(2)}, behind));
    events_[0].signal(os_);
    EXPECT_TRUE(must(before->wait(forEver)));
    EXPECT_TRUE(failsWith(failing->wait(forEver), Status::InvalidSize));
    EXPECT_TRUE(failsWith(behind->wait(forEver), Status::InvalidSize));
    EXPECT_TRUE(failsWith(queue.synchronize(forEver), Status::InvalidSize));
    EXPECT_TRUE(failsWith(submit(queue, {signalOf(3)}), Status::InvalidSize));
    for (size_t event = 1; event <= 3; ++event) {
        EXPECT_FALSE(events_[event].isSignalled()) << event;
    }
}

TEST_F(QueueTest, AFailureWakesWhoSynchronizes) {
    Queue queue(os_, mover_, latch_);
    must(submit(queue, {waitFor(0), wrappingCopy()}));
    std::thread releaser([&] {
        watching_.waitForSleeper();
        events_[0].signal(os_);
    });
    EXPECT_TRUE(failsWith(queue.synchronize(forEver), Status::InvalidSize));
    releaser.join();
}

/// Of an error that may lack its sentence.
Status statusOf(const Result<bool> &failed) {
    EXPECT_FALSE(failed);
    return failed ? Status::Unknown : failed.error().status;
}

/// Calls back on the queue's thread, right before the command that names it.
class CallingMemory final : public MemoryUse {
  public:
    explicit CallingMemory(std::function<void()> call) : call_(std::move(call)) {}

    [[nodiscard]] Result<void> check() const override {
        call_();
        return {};
    }

  private:
    std::function<void()> call_;
};

TEST_F(QueueTest, ACommandWithoutMemoryFailsAndTheProcessGoesOn_NoMemory) {
    Queue queue(os_, mover_, latch_);
    const auto fence = makeFence();
    const auto noMemory = std::make_shared<CallingMemory>([] {
        fakes::failAllocationsFrom(1);
        throw std::bad_alloc();
    });
    must(submit(queue, {WriteTimestamp{.memory = noMemory}, signalOf(1)}, fence));
    EXPECT_EQ(statusOf(fence->wait(forEver)), Status::OutOfHostMemory);
    EXPECT_EQ(statusOf(queue.synchronize(forEver)), Status::OutOfHostMemory);
    EXPECT_FALSE(events_[1].isSignalled());
}

TEST_F(QueueTest, FencesFailWithoutASentenceWhereThereIsNoMemoryForIt_NoMemory) {
    Queue queue(os_, mover_, latch_);
    const auto fence = makeFence();
    uint64_t time = 0;
    const auto noMemory = std::make_shared<CallingMemory>([&] {
        latch_.set({Status::DeviceLost, "what another queue met, in a sentence of some length"});
        fakes::failAllocationsFrom(1);
    });
    must(submit(queue,
                {WriteTimestamp{.address = reinterpret_cast<uint64_t>(&time), .memory = noMemory},
                 signalOf(1)},
                fence));
    EXPECT_EQ(statusOf(fence->wait(forEver)), Status::DeviceLost);
    EXPECT_TRUE(failsWith(queue.synchronize(forEver), Status::DeviceLost, "another queue"));
    EXPECT_FALSE(events_[1].isSignalled());
}

TEST_F(QueueTest, AQueueEndsWhereThereIsNoMemory_NoMemory) {
    const auto fence = makeFence();
    {
        auto queue = std::make_unique<Queue>(os_, mover_, latch_);
        must(submit(*queue, {waitFor(0)}));
        must(submit(*queue, {signalOf(1)}, fence));
        watching_.waitForSleeper();
        fakes::failAllocationsFrom(1);
        queue.reset();
        fakes::healAllocations();
    }
    EXPECT_TRUE(failsWith(fence->wait(forEver), Status::Unknown));
}

TEST_F(QueueTest, AWaitThatFailsIsAFailureOfItsCommand) {
    Queue queue(os_, mover_, latch_);
    os_.failKind(fakes::OsCall::FutexWait, ENOSYS);
    must(submit(queue, {waitFor(0), signalOf(1)}));
    EXPECT_TRUE(failsWith(queue.synchronize(forEver), Status::UnsupportedFeature, "futex"));
    EXPECT_FALSE(events_[1].isSignalled());
}

TEST_F(QueueTest, AnotherProcessSignalsWhatItWaitsFor_Forks) {
    fakes::ForkedChild child([&](const fakes::ForkedChild::Side &side) {
        side.waitForNext();
        events_[0].signal(os_);
        const auto answered = events_[1].wait(os_, Deadline::never());
        return answered && *answered ? 0 : 1;
    });
    Queue queue(os_, mover_, latch_);
    must(submit(queue, {waitFor(0), signalOf(1)}));
    child.next();
    EXPECT_TRUE(must(queue.synchronize(forEver)));
    EXPECT_EQ(child.wait(), 0);
}

} // namespace
} // namespace causeway::copy
