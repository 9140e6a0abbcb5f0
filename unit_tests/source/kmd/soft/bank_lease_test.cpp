#include "unit_tests/fakes/forked_child.h"
#include "unit_tests/fakes/sanitizers.h"
#include "unit_tests/source/kmd/soft/soft_test.h"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

namespace causeway::kmd::soft {
namespace {

using fakes::ForkedChild;

/// Leases held by other processes.
class BankLeaseTest : public SoftBankTest {
  protected:
    void SetUp() override {
        if (fakes::underThreadSanitizer) {
            GTEST_SKIP() << "ThreadSanitizer does not follow forks";
        }
        memory_ = create(page);
        bank_ = memory_->backing();
        offset_ = memory_->backingOffset();
        const uint64_t va = *space_->reserve(0, page, page);
        const Binding binding = {.va = va, .memory = memory_.get(), .sizeBytes = page};
        ASSERT_TRUE(space_->bind({&binding, 1}));
        fill(va, page, 0x5A);
        ASSERT_TRUE(space_->release(va, page));
        lease_ = std::make_unique<TravelFd>(std::move(*exportOne(*memory_)));
    }

    /// The importer's part: a view, and no descriptor.
    [[nodiscard]] uint64_t mapAndDrop() {
        void *view = ::mmap(nullptr,
                            page,
                            PROT_READ | PROT_WRITE,
                            MAP_SHARED,
                            lease_->get(),
                            static_cast<off_t>(offset_));
        lease_.reset();
        return reinterpret_cast<uint64_t>(view);
    }

    /// The exporter sent the descriptor, and its memory dies.
    void dropHere() {
        lease_.reset();
        memory_.reset();
    }

    /// A new object gets the slot, and scribbles over it.
    [[nodiscard]] bool slotIsReused() {
        backend_->reclaim();
        const auto next = create(page);
        const uint64_t va = *space_->reserve(0, page, page);
        const Binding binding = {.va = va, .memory = next.get(), .sizeBytes = page};
        EXPECT_TRUE(space_->bind({&binding, 1}));
        EXPECT_TRUE(holds(va, page, 0));
        fill(va, page, 0x99);
        EXPECT_TRUE(space_->release(va, page));
        return next->backing() == bank_ && next->backingOffset() == offset_;
    }

    std::shared_ptr<Memory> memory_;
    std::shared_ptr<Backing> bank_;
    uint64_t offset_ = 0;
    std::unique_ptr<TravelFd> lease_;
};

TEST_F(BankLeaseTest, SlotIsNotReusedWhileAnImporterMapsIt) {
    ForkedChild importer([&](const ForkedChild::Side &side) {
        const uint64_t view = mapAndDrop();
        side.ready();
        side.waitForNext();
        return holds(view, page, 0x5A) ? 0 : 1;
    });
    importer.waitUntilReady();
    dropHere();
    EXPECT_FALSE(slotIsReused());
    EXPECT_EQ(usedBytes(), page);
    importer.next();
    EXPECT_EQ(importer.wait(), 0) << "the importer's bytes changed";
    EXPECT_TRUE(slotIsReused());
}

TEST_F(BankLeaseTest, SlotIsNotReusedWhileAChildOfTheImporterMapsIt) {
    ForkedChild importer([&](const ForkedChild::Side &side) {
        const uint64_t view = mapAndDrop();
        if (::fork() == 0) {
            side.ready();
            side.waitForNext();
            const bool kept = holds(view, page, 0x5A);
            if (kept) {
                side.ready();
            }
            ::_exit(0);
        }
        return 0;
    });
    EXPECT_EQ(importer.wait(), 0);
    importer.waitUntilReady();
    dropHere();
    EXPECT_FALSE(slotIsReused());
    importer.letGo();
    importer.waitUntilReady(); // its bytes were still there
    // Nobody can wait for a child's child: it ends soon.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (usedBytes() != 0 && std::chrono::steady_clock::now() < deadline) {
        backend_->reclaim();
        std::this_thread::yield();
    }
    EXPECT_TRUE(slotIsReused());
}

TEST_F(BankLeaseTest, SlotOfAKilledImporterIsReused) {
    ForkedChild importer([&](const ForkedChild::Side &side) {
        static_cast<void>(mapAndDrop());
        side.ready();
        side.waitForNext();
        return 0;
    });
    importer.waitUntilReady();
    dropHere();
    EXPECT_FALSE(slotIsReused());
    importer.kill();
    EXPECT_EQ(importer.wait(), -SIGKILL);
    EXPECT_TRUE(slotIsReused());
}

TEST_F(BankLeaseTest, ImporterThatHoldsOnlyTheDescriptorHoldsTheSlot) {
    ForkedChild importer([&](const ForkedChild::Side &side) {
        side.ready();
        side.waitForNext();
        return 0;
    });
    importer.waitUntilReady();
    dropHere();
    EXPECT_FALSE(slotIsReused());
    importer.next();
    EXPECT_EQ(importer.wait(), 0);
    EXPECT_TRUE(slotIsReused());
}

} // namespace
} // namespace causeway::kmd::soft
