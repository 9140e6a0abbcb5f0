#include "source/copy/failure_latch.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace causeway::copy {
namespace {

TEST(FailureLatchTest, ANewLatchHasNoFailure) {
    const FailureLatch latch;
    EXPECT_TRUE(latch.check());
    EXPECT_FALSE(latch.flag());
}

TEST(FailureLatchTest, TheFirstErrorStays) {
    FailureLatch latch;
    latch.set({Status::DeviceLost, "the first"});
    latch.set({Status::Unknown, "the second"});
    EXPECT_TRUE(latch.flag());
    const auto checked = latch.check();
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().status, Status::DeviceLost);
    EXPECT_EQ(checked.error().message, "the first");
}

/// Whoever sees the flag finds an error, and everybody the same one.
TEST(FailureLatchTest, OfManyThreadsOneSetsIt) {
    for (int round = 0; round < 50; ++round) {
        FailureLatch latch;
        std::vector<std::string> seen(4);
        std::vector<std::thread> threads;
        threads.reserve(seen.size());
        for (std::string &message : seen) {
            threads.emplace_back([&latch, &message, name = std::to_string(threads.size())] {
                latch.set({Status::DeviceLost, name});
                message = latch.flag() ? latch.check().error().message : "";
            });
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
        EXPECT_EQ(seen, std::vector<std::string>(4, latch.check().error().message));
    }
}

} // namespace
} // namespace causeway::copy
