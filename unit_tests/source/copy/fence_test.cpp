#include "source/copy/fence.h"

#include "shared/os/linux_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/copy/test_events.h"
#include "unit_tests/source/memory/result_checks.h"

#include <thread>

namespace causeway::copy {
namespace {

class FenceTest : public fakes::ResourceCheckedTest {
  protected:
    SleepWatchingOs os_{linuxOs()};
    Fence fence_{os_};
};

TEST_F(FenceTest, IsMadeUnsignalled) {
    EXPECT_FALSE(must(fence_.query()));
    EXPECT_FALSE(must(fence_.wait(0)));
    EXPECT_FALSE(must(fence_.wait(1'000'000)));
}

TEST_F(FenceTest, IsSignalledUntilReset) {
    fence_.signal();
    EXPECT_TRUE(must(fence_.query()));
    EXPECT_TRUE(must(fence_.wait(forEver)));
    fence_.reset();
    EXPECT_FALSE(must(fence_.query()));
}

TEST_F(FenceTest, TellsItsErrorUntilReset) {
    fence_.fail(Error{Status::DeviceLost, "it burns"});
    EXPECT_TRUE(failsWith(fence_.query(), Status::DeviceLost, "it burns"));
    EXPECT_TRUE(failsWith(fence_.wait(forEver), Status::DeviceLost, "it burns"));
    fence_.reset();
    EXPECT_FALSE(must(fence_.query()));
    fence_.signal();
    EXPECT_TRUE(must(fence_.query()));
}

TEST_F(FenceTest, WakesWhoWaits) {
    std::thread signaller([&] {
        os_.waitForSleeper();
        fence_.signal();
    });
    EXPECT_TRUE(must(fence_.wait(forEver)));
    signaller.join();
}

TEST_F(FenceTest, AnErrorWakesWhoWaits) {
    std::thread failing([&] {
        os_.waitForSleeper();
        fence_.fail(Error{Status::DeviceLost, "it burns"});
    });
    EXPECT_TRUE(failsWith(fence_.wait(forEver), Status::DeviceLost));
    failing.join();
}

} // namespace
} // namespace causeway::copy
