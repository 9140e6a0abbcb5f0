#include "level_zero/core/handle_registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace causeway::core {
namespace {

class HandleRegistryTest : public testing::Test {
  protected:
    HandleMemory memory_{ze_handle_t{}};
    HandleRegistry<int> registry_{memory_};
};

TEST_F(HandleRegistryTest, FindsWhatIsLive) {
    Handle *handle = registry_.add(std::make_shared<int>(7));
    const auto found = registry_.find(handle);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, 7);
}

TEST_F(HandleRegistryTest, NullAndForeignAddressesAreNotLive) {
    int foreign = 0;
    EXPECT_EQ(registry_.find(nullptr), nullptr);
    EXPECT_EQ(registry_.find(&foreign), nullptr);
    EXPECT_EQ(registry_.remove(&foreign), nullptr);
}

TEST_F(HandleRegistryTest, ARemovedHandleIsGoneAndCannotBeRemovedTwice) {
    Handle *handle = registry_.add(std::make_shared<int>(7));
    EXPECT_NE(registry_.remove(handle), nullptr);
    EXPECT_EQ(registry_.find(handle), nullptr);
    EXPECT_EQ(registry_.remove(handle), nullptr);
}

TEST_F(HandleRegistryTest, AnObjectInUseOutlivesItsHandle) {
    auto object = std::make_shared<int>(7);
    const std::weak_ptr<int> watch = object;
    Handle *handle = registry_.add(std::move(object));
    auto inUse = registry_.find(handle);
    EXPECT_NE(registry_.remove(handle), nullptr);
    EXPECT_FALSE(watch.expired());
    inUse.reset();
    EXPECT_TRUE(watch.expired());
}

TEST_F(HandleRegistryTest, OneOfManyThreadsRemovesAHandle) {
    for (int round = 0; round < 100; ++round) {
        Handle *handle = registry_.add(std::make_shared<int>(round));
        std::atomic<int> removed = 0;
        std::vector<std::thread> threads;
        threads.reserve(4);
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] { removed += registry_.remove(handle) ? 1 : 0; });
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
        EXPECT_EQ(removed, 1);
    }
}

} // namespace
} // namespace causeway::core
