#include "level_zero/core/handle_registry.h"

#include "unit_tests/fakes/failing_allocations.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
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

TEST_F(HandleRegistryTest, FindAllGivesThoseThatAreWanted) {
    for (int i = 0; i < 10; ++i) {
        static_cast<void>(registry_.add(std::make_shared<int>(i)));
    }
    int sum = 0;
    const auto odd = registry_.findAll([](int value) { return value % 2 == 1; });
    for (const auto &object : odd) {
        sum += *object;
    }
    EXPECT_EQ(odd.size(), 5U);
    EXPECT_EQ(sum, 1 + 3 + 5 + 7 + 9);
    EXPECT_EQ(registry_.size(), 10U);
    EXPECT_TRUE(registry_.findAll([](int value) { return value > 9; }).empty());
}

TEST_F(HandleRegistryTest, ForEachCallsWithEach) {
    for (int i = 0; i < 10; ++i) {
        static_cast<void>(registry_.add(std::make_shared<int>(i)));
    }
    registry_.forEach([](int &value) { value *= 2; });
    int sum = 0;
    registry_.forEach([&](int value) { sum += value; });
    EXPECT_EQ(sum, 90);
}

TEST_F(HandleRegistryTest, RemoveAllEndsThoseThatAreWantedAndNoOther) {
    Handle *even = registry_.add(std::make_shared<int>(2));
    auto object = std::make_shared<int>(3);
    const std::weak_ptr<int> watch = object;
    Handle *odd = registry_.add(std::move(object));
    registry_.removeAll([](int value) { return value % 2 == 1; });
    EXPECT_TRUE(watch.expired());
    EXPECT_EQ(registry_.find(odd), nullptr);
    EXPECT_EQ(registry_.remove(odd), nullptr);
    EXPECT_NE(registry_.find(even), nullptr);
    registry_.removeAll([](int) { return false; });
    EXPECT_EQ(registry_.size(), 1U);
}

TEST_F(HandleRegistryTest, RemoveAllNeedsNoMemory_NoMemory) {
    for (int i = 0; i < 100; ++i) {
        static_cast<void>(registry_.add(std::make_shared<int>(i)));
    }
    fakes::failAllocationsFrom(1);
    registry_.removeAll([](int value) { return value % 2 == 1; });
    fakes::healAllocations();
    EXPECT_EQ(registry_.size(), 50U);
}

/// An object that calls back when it ends, as a command queue whose work holds the last of another.
struct Caller {
    std::function<void()> atEnd;

    ~Caller() { atEnd(); }

    explicit Caller(std::function<void()> call) : atEnd(std::move(call)) {}

    Caller(const Caller &) = delete;
    Caller &operator=(const Caller &) = delete;
    Caller(Caller &&) = delete;
    Caller &operator=(Caller &&) = delete;
};

TEST(HandleRegistryOfCallersTest, RemoveAllLetsObjectsGoWithoutItsLock) {
    HandleMemory memory{ze_handle_t{}};
    HandleRegistry<Caller> registry{memory};
    size_t left = 99;
    static_cast<void>(registry.add(std::make_shared<Caller>([&] { left = registry.size(); })));
    registry.removeAll([](const Caller &) { return true; });
    EXPECT_EQ(left, 0U);
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
