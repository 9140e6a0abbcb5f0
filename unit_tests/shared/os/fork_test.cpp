#include "shared/os/fork.h"

#include "unit_tests/fakes/forked_child.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace causeway {
namespace {

using fakes::ForkedChild;

constexpr unsigned secondsOfAChild = 20; // one that hangs is killed

int exitOfChild(const std::function<bool()> &body) {
    ForkedChild child([&](const ForkedChild::Side &) {
        ::alarm(secondsOfAChild);
        return body() ? 0 : 1;
    });
    return child.wait();
}

TEST(ForkTest, AGenerationIsOneOfItsProcess_Forks) {
    const uint64_t here = processGeneration();
    EXPECT_NE(here, 0U);
    EXPECT_EQ(processGeneration(), here);
    EXPECT_EQ(exitOfChild([here] {
                  const uint64_t there = processGeneration();
                  return there != here && there != 0 && processGeneration() == there &&
                         isForkedChild() &&
                         exitOfChild([=] {
                             return processGeneration() != here && processGeneration() != there;
                         }) == 0;
              }),
              0);
    EXPECT_EQ(processGeneration(), here);
}

TEST(ForkTest, AllThreadsAreOfOneGeneration) {
    std::array<uint64_t, 4> seen = {};
    std::vector<std::jthread> threads;
    for (uint64_t &generation : seen) {
        threads.emplace_back([&generation] { generation = processGeneration(); });
    }
    threads.clear();
    for (const uint64_t generation : seen) {
        EXPECT_EQ(generation, processGeneration());
    }
}

/// clone(2) without fork handlers, as some runtimes use it.
TEST(ForkTest, AChildWithoutForkHandlersIsKnownToo_Forks) {
    const uint64_t here = processGeneration();
    const pid_t pid = ::_Fork();
    if (pid == 0) {
        ::_exit(processGeneration() != here ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
}

struct Locked {
    std::mutex mutex;
    int value = 0;
};

constinit PerProcess<Locked> locked;

TEST(PerProcessTest, IsTheSameInAProcess) {
    locked.get().value = 7;
    EXPECT_EQ(&locked.get(), &locked.get());
    std::thread([] { EXPECT_EQ(locked.get().value, 7); }).join();
}

TEST(PerProcessTest, AChildWaitsForNoLockOfItsParent_Forks) {
    locked.get().value = 7;
    const std::scoped_lock held(locked.get().mutex);
    EXPECT_EQ(exitOfChild([] {
                  const std::scoped_lock mine(locked.get().mutex);
                  return locked.get().value == 0;
              }),
              0);
}

class CountingWatcher final : public ForkWatcher {
  public:
    void beforeFork() noexcept override { ++before; }

    void afterForkInParent() noexcept override { ++inParent; }

    void afterForkInChild() noexcept override { ++inChild; }

    int before = 0;
    int inParent = 0;
    int inChild = 0;
};

TEST(ForkWatchTest, EachSideIsTold_Forks) {
    CountingWatcher watcher;
    {
        const ForkWatch watch(watcher);
        EXPECT_EQ(exitOfChild([&] { return watcher.before == 1 && watcher.inChild == 1; }), 0);
    }
    EXPECT_EQ(exitOfChild([] { return true; }), 0) << "nobody watches any more";
    EXPECT_EQ(watcher.before, 1);
    EXPECT_EQ(watcher.inParent, 1);
    EXPECT_EQ(watcher.inChild, 0);
}

TEST(ForkWatchTest, AChildStartsWithoutTheWatchersOfItsParent_Forks) {
    CountingWatcher parents;
    const ForkWatch watch(parents);
    EXPECT_EQ(exitOfChild([&] {
                  CountingWatcher own;
                  const ForkWatch ownWatch(own);
                  return exitOfChild([&] { return own.inChild == 1; }) == 0 && own.inParent == 1 &&
                         parents.before == 1;
              }),
              0);
}

} // namespace
} // namespace causeway
