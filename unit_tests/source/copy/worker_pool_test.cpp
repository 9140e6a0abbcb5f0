#include "source/copy/worker_pool.h"

#include "shared/os/linux_os.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"

#include <cerrno>
#include <latch>
#include <thread>
#include <vector>

namespace causeway::copy {
namespace {

class WorkerPoolTest : public fakes::ResourceCheckedTest {
  protected:
    /// Runs `units` units and checks that each ran once.
    static void expectRunsAll(WorkerPool &pool, uint64_t units) {
        std::vector<int> counts(units, 0);
        pool.run(units, [&](uint64_t unit) { ++counts[unit]; });
        EXPECT_EQ(counts, std::vector<int>(units, 1));
    }

    fakes::FaultyOs os_{linuxOs()};
};

TEST_F(WorkerPoolTest, StartsNoThreadBeforeThereIsWorkToShare) {
    WorkerPool pool(os_, 3);
    expectRunsAll(pool, 0);
    expectRunsAll(pool, 1);
    EXPECT_EQ(os_.calls(), 0U);
}

TEST_F(WorkerPoolTest, StartsAsManyThreadsAsAreOfUseAndNoMoreThanItMay) {
    WorkerPool pool(os_, 3);
    expectRunsAll(pool, 2);
    EXPECT_EQ(pool.workers(), 1U);
    expectRunsAll(pool, 1000);
    expectRunsAll(pool, 1000);
    EXPECT_EQ(pool.workers(), 3U);
    EXPECT_EQ(os_.calls(fakes::OsCall::StartThread), 3U);
}

TEST_F(WorkerPoolTest, WorksOnSeveralThreadsAtOnce) {
    WorkerPool pool(os_, 2);
    std::latch together(3);
    pool.run(3, [&](uint64_t) { together.arrive_and_wait(); }); // would hang on fewer
}

TEST_F(WorkerPoolTest, TheCallerDoesAllWhereNoThreadCanBeHad) {
    WorkerPool pool(os_, 3);
    os_.failKind(fakes::OsCall::StartThread, EAGAIN);
    expectRunsAll(pool, 100);
    EXPECT_EQ(pool.workers(), 0U);
    os_.heal();
    expectRunsAll(pool, 100);
    EXPECT_EQ(pool.workers(), 3U);
}

TEST_F(WorkerPoolTest, WithoutWorkersTheCallerDoesAll) {
    WorkerPool pool(os_, 0);
    expectRunsAll(pool, 100);
    EXPECT_EQ(os_.calls(), 0U);
}

TEST_F(WorkerPoolTest, ManyCallersShareTheWorkers) {
    WorkerPool pool(os_, 2);
    std::vector<std::thread> callers;
    callers.reserve(4);
    for (int i = 0; i < 4; ++i) {
        callers.emplace_back([&] {
            for (uint64_t units = 0; units < 50; ++units) {
                expectRunsAll(pool, units);
            }
        });
    }
    for (std::thread &caller : callers) {
        caller.join();
    }
    EXPECT_EQ(pool.workers(), 2U);
}

} // namespace
} // namespace causeway::copy
