#include "unit_tests/source/memory/memory_fixture.h"

#include <atomic>
#include <thread>

namespace causeway::memory {
namespace {

constexpr int rounds = 100;

class MemoryManagerThreadsTest : public MemoryFixture {
  protected:
    /// What an application does all day, in addresses of its own.
    void workAlone() {
        const uint64_t va = must(manager_->reserve(0, 4 * devicePage));
        const auto memory = object(4);
        map(va, 4, memory);
        must(manager_->setAccess(va + devicePage, devicePage, Access::ReadOnly));
        EXPECT_EQ(must(manager_->snapshot(va, 4 * devicePage)).pieces.size(), 3U);
        must(manager_->unmap(va + 2 * devicePage, devicePage));
        EXPECT_EQ(manager_->pointerInfo(va).kind, PointerKind::Device);
        must(manager_->freeReservation(va, 4 * devicePage));
        must(manager_->free(allocate(AllocationKind::Host, osPage)));
        must(manager_->closeImport(importRange({Access::ReadWrite, Access::ReadOnly})));
    }
};

TEST_F(MemoryManagerThreadsTest, WorkSideBySide) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([this] {
            for (int round = 0; round < rounds; ++round) {
                workAlone();
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(backend_.fake().liveMemory(), 0U);
    EXPECT_EQ(backend_.space().reservationCount(), 0U);
}

TEST_F(MemoryManagerThreadsTest, ASnapshotSeesAMappingWholeOrNotAtAll) {
    const uint64_t va = reserve(3);
    const auto memory = object(3);
    std::atomic<bool> done = false;
    std::thread changer([&] {
        for (int round = 0; round < rounds; ++round) {
            map(va, 3, memory);
            must(manager_->unmap(va, 3 * devicePage));
        }
        done = true;
    });
    while (!done) {
        const auto snapshot = manager_->snapshot(va, 3 * devicePage);
        if (snapshot) {
            EXPECT_EQ(snapshot->pieces.size(), 1U);
        } else {
            EXPECT_TRUE(failsWith(
                snapshot, Status::AddressNotFound, fmt::format("{} bytes", 3 * devicePage)));
        }
    }
    changer.join();
}

} // namespace
} // namespace causeway::memory
