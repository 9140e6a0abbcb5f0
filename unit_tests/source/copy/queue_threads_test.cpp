#include "unit_tests/source/copy/queue_fixture.h"

#include <thread>

namespace causeway::copy {
namespace {

class QueueThreadsTest : public QueueFixture {
  protected:
    static constexpr size_t threadCount = 4;
    static constexpr size_t batchCount = 100;

    /// Calls body(0) to body(threadCount - 1) on a thread each.
    template <typename Body>
    static void onThreads(const Body &body) {
        std::vector<std::thread> threads;
        threads.reserve(threadCount);
        for (size_t i = 0; i < threadCount; ++i) {
            threads.emplace_back([&body, i] { body(i); });
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
    }

    using Cells = std::array<uint64_t, batchCount + 1>;

    /// Each batch hands the value of one cell on to the next.
    void submitChain(Queue &queue, Cells &cells) {
        for (size_t i = 0; i < batchCount; ++i) {
            must(submit(queue, {copyOf(cells[i], cells[i + 1])}));
        }
    }

    /// One batch copies the value, and its fence tells so.
    void expectHandsOn(Queue &queue, const std::shared_ptr<Fence> &fence, uint64_t value) {
        uint64_t copied = 0;
        must(submit(queue, {copyOf(value, copied)}, fence));
        EXPECT_TRUE(must(fence->wait(forEver)));
        EXPECT_EQ(copied, value);
        EXPECT_TRUE(must(fence->query()));
        fence->reset();
    }

    std::array<Cells, threadCount> cells_ = {};
};

TEST_F(QueueThreadsTest, ManyThreadsSubmitToOneQueue) {
    Queue queue(os_, mover_, latch_);
    onThreads([&](size_t i) {
        cells_[i][0] = i + 1;
        submitChain(queue, cells_[i]);
        EXPECT_TRUE(must(queue.synchronize(forEver)));
        EXPECT_EQ(cells_[i].back(), i + 1);
    });
    EXPECT_EQ(os_.calls(fakes::OsCall::StartThread), 1U);
}

TEST_F(QueueThreadsTest, ManyThreadsWaitForTheirFences) {
    Queue queue(os_, mover_, latch_);
    onThreads([&](size_t) {
        const auto fence = makeFence();
        for (uint64_t value = 1; value <= batchCount; ++value) {
            expectHandsOn(queue, fence, value);
        }
    });
}

TEST_F(QueueThreadsTest, QueuesHandAValueRoundWithEvents) {
    constexpr size_t rounds = 50;
    std::array<uint64_t, threadCount> cells = {42, 0, 0, 0};
    std::vector<std::unique_ptr<Queue>> queues;
    queues.reserve(threadCount);
    for (size_t i = 0; i < threadCount; ++i) {
        queues.push_back(std::make_unique<Queue>(os_, mover_, latch_));
    }
    events_[0].signal(os_);
    for (size_t round = 0; round < rounds; ++round) {
        onThreads([&](size_t i) {
            const size_t next = (i + 1) % threadCount;
            must(submit(*queues[i],
                        {waitFor(i),
                         Reset{.event = &events_[i]},
                         copyOf(cells[i], cells[next]),
                         signalOf(next)}));
        });
    }
    for (const auto &queue : queues) {
        EXPECT_TRUE(must(queue->synchronize(forEver)));
    }
    EXPECT_EQ(cells, (std::array<uint64_t, threadCount>{42, 42, 42, 42}));
}

TEST_F(QueueThreadsTest, QueuesShareTheWorkersOfOneMover) {
    DataMover mover(os_, {.threads = 3, .splitFromBytes = 1, .chunkBytes = 4096});
    onThreads([&](size_t i) {
        std::vector<uint8_t> src(100'000, static_cast<uint8_t>(i + 1));
        std::vector<uint8_t> dst(src.size());
        Queue queue(os_, mover, latch_);
        must(submit(queue,
                    {CopyRegion{.dst = {.address = reinterpret_cast<uint64_t>(dst.data())},
                                .src = {.address = reinterpret_cast<uint64_t>(src.data())},
                                .widthBytes = src.size()}}));
        EXPECT_TRUE(must(queue.synchronize(forEver)));
        EXPECT_TRUE(src == dst);
    });
}

} // namespace
} // namespace causeway::copy
