#include "level_zero/core/handle_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace causeway::core {
namespace {

class HandleMemoryTest : public testing::Test {
  protected:
    ze_dditable_driver_t core_ = {};
    HandleMemory memory_{ze_handle_t{&core_, nullptr, nullptr, nullptr}};
};

TEST_F(HandleMemoryTest, AHandleBeginsWithTheDispatchPointers) {
    EXPECT_EQ(memory_.acquire()->dispatch.pCore, &core_);
}

TEST_F(HandleMemoryTest, AReleasedHandleStaysReadable) {
    Handle *handle = memory_.acquire();
    memory_.release(handle);
    EXPECT_EQ(handle->dispatch.pCore, &core_);
}

TEST_F(HandleMemoryTest, AReleasedHandleIsNotGivenOutAgainSoon) {
    Handle *stale = memory_.acquire();
    memory_.release(stale);
    for (int i = 0; i < 50; ++i) {
        Handle *handle = memory_.acquire();
        EXPECT_NE(handle, stale);
        memory_.release(handle);
    }
}

TEST_F(HandleMemoryTest, CreatingAndDestroyingForEverDoesNotGrow) {
    std::set<Handle *> seen;
    for (int i = 0; i < 10'000; ++i) {
        Handle *handle = memory_.acquire();
        seen.insert(handle);
        memory_.release(handle);
    }
    EXPECT_LT(seen.size(), 100U);
}

} // namespace
} // namespace causeway::core
