#include "level_zero/core/driver_slot.h"

#include "level_zero/ddi/dispatch.h"
#include "shared/os/linux_os.h"
#include "source/kmd/soft/soft_backend.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace causeway::core {
namespace {

int builds = 0;
bool failing = false;

Result<std::unique_ptr<Driver>> build() {
    static kmd::soft::SoftBackend backend(linuxOs(), {.memoryBytes = 1 << 20});
    static ipc::IpcService ipc(linuxOs(), backend, {});
    static copy::DataMover mover(linuxOs());
    ++builds;
    if (failing) {
        return fail(Status::OutOfHostMemory, "no memory for a driver");
    }
    return std::make_unique<Driver>(
        ddi::dispatch(),
        Services{.os = linuxOs(), .backend = backend, .ipc = ipc, .mover = mover},
        std::span<const uint32_t>());
}

class DriverSlotTest : public testing::Test {
  protected:
    void SetUp() override {
        builds = 0;
        failing = false;
    }

    DriverSlot slot_;
};

TEST_F(DriverSlotTest, WithoutBuilderThereIsNoDriver) {
    auto driver = slot_.initialize();
    ASSERT_FALSE(driver);
    EXPECT_EQ(driver.error().status, Status::Uninitialized);
    EXPECT_EQ(slot_.get(), nullptr);
}

TEST_F(DriverSlotTest, ManyThreadsBuildOneDriver) {
    slot_.setBuilder(&build);
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] { EXPECT_TRUE(slot_.initialize()); });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(builds, 1);
    EXPECT_EQ(*slot_.initialize(), slot_.get());
}

TEST_F(DriverSlotTest, AFailedBuildIsTriedAgain) {
    slot_.setBuilder(&build);
    failing = true;
    auto driver = slot_.initialize();
    ASSERT_FALSE(driver);
    EXPECT_EQ(driver.error().status, Status::OutOfHostMemory);
    failing = false;
    EXPECT_TRUE(slot_.initialize());
    EXPECT_EQ(builds, 2);
}

} // namespace
} // namespace causeway::core
