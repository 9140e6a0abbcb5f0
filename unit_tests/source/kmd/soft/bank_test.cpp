#include "source/kmd/soft/bank.h"

#include "unit_tests/source/kmd/soft/soft_test.h"

#include <array>
#include <cerrno>
#include <optional>
#include <thread>
#include <vector>

namespace causeway::kmd::soft {
namespace {

using fakes::OsCall;

TEST(MergeExtentsTest, JoinsWhatTouchesInAnyOrder) {
    const std::vector<Extent> extents = {{40, 10}, {0, 10}, {10, 5}, {60, 10}, {50, 10}, {42, 2}};
    const std::vector<Extent> wanted = {{0, 15}, {40, 30}};
    EXPECT_EQ(mergeExtents(extents), wanted);
    EXPECT_TRUE(mergeExtents({}).empty());
}

TEST(CoverExtentsTest, TheSmallestGapsAreCovered) {
    const std::vector<Extent> extents = {{90, 10}, {0, 10}, {12, 8}, {50, 5}, {56, 4}, {30, 1}};
    EXPECT_EQ(coverExtents(extents, 6), mergeExtents(extents));
    EXPECT_EQ(coverExtents(extents, 5),
              (std::vector<Extent>{{0, 10}, {12, 8}, {30, 1}, {50, 10}, {90, 10}}));
    EXPECT_EQ(coverExtents(extents, 4),
              (std::vector<Extent>{{0, 20}, {30, 1}, {50, 10}, {90, 10}}));
    EXPECT_EQ(coverExtents(extents, 2), (std::vector<Extent>{{0, 60}, {90, 10}}));
    EXPECT_EQ(coverExtents(extents, 1), (std::vector<Extent>{{0, 100}}));
    EXPECT_TRUE(coverExtents({}, 1).empty());
}

class BankTest : public SoftBankTest {
  protected:
    [[nodiscard]] bool isReused(const std::shared_ptr<Backing> &bank, uint64_t offset) {
        const auto next = create(page);
        return next->backing() == bank && next->backingOffset() == offset;
    }
};

TEST_F(BankTest, FreedSlotIsReused) {
    auto memory = create(page);
    const auto bank = memory->backing();
    const uint64_t offset = memory->backingOffset();
    memory.reset();
    EXPECT_TRUE(isReused(bank, offset));
}

TEST_F(BankTest, LeasedSlotWaitsForTheLastDescriptor) {
    auto memory = create(page);
    const auto bank = memory->backing();
    const uint64_t offset = memory->backingOffset();
    std::optional<TravelFd> first = std::move(*exportOne(*memory));
    std::optional<TravelFd> second = std::move(*exportOne(*memory));
    memory.reset();
    EXPECT_EQ(usedBytes(), page) << "its pages are still in use";
    EXPECT_FALSE(isReused(bank, offset));
    first.reset();
    backend_->reclaim();
    EXPECT_FALSE(isReused(bank, offset));
    second.reset();
    backend_->reclaim();
    EXPECT_EQ(usedBytes(), 0U);
    EXPECT_TRUE(isReused(bank, offset));
}

TEST_F(BankTest, LeaseCoversExactlyTheExtentsSent) {
    auto left = create(page);
    auto sent = create(page);
    auto right = create(page);
    const auto lease = exportOne(*sent);
    left.reset();
    sent.reset();
    right.reset();
    EXPECT_EQ(usedBytes(), page);
}

TEST_F(BankTest, AdjacentExtentsAreLockedInOneCall) {
    const auto first = create(page);
    const auto second = create(page);
    const std::vector<Extent> extents = {{first->backingOffset(), page},
                                         {second->backingOffset(), page}};
    const uint64_t before = os_.calls(OsCall::LockForReading);
    EXPECT_TRUE(first->backing()->exportDescriptor(extents));
    EXPECT_EQ(os_.calls(OsCall::LockForReading), before + 1);
}

TEST_F(BankTest, ScatteredExportIsLeasedWithFewLocksAndWhole) {
    constexpr size_t count = 1000;
    auto objects = createMany(count, page);
    std::vector<Extent> extents;
    for (size_t i = 0; i < count; i += 2) {
        extents.push_back({objects[i]->backingOffset(), page});
    }
    const uint64_t before = os_.calls(OsCall::LockForReading);
    std::optional<TravelFd> lease =
        std::move(*objects.front()->backing()->exportDescriptor(extents));
    EXPECT_LE(os_.calls(OsCall::LockForReading) - before, 64U);

    const auto bank = objects.front()->backing();
    objects.clear();
    EXPECT_GE(usedBytes(), extents.size() * page);
    for (const auto &next : createMany(count, page)) {
        EXPECT_FALSE(next->backing() == bank && next->backingOffset() < extents.back().offset &&
                     next->backingOffset() / page % 2 == 0)
            << "a leased slot is used again";
    }
    lease.reset();
    backend_->reclaim();
    EXPECT_EQ(usedBytes(), 0U);
}

TEST_F(BankTest, CreationFindsSlotsThatPeersLetGo) {
    auto memory = create(page);
    const auto bank = memory->backing();
    const uint64_t offset = memory->backingOffset();
    {
        const auto lease = exportOne(*memory);
        memory.reset();
    }
    EXPECT_TRUE(isReused(bank, offset)) << "without a call of reclaim()";
}

TEST_F(BankTest, CreationLooksAtFewWaitingSlots) {
    std::vector<std::shared_ptr<Memory>> objects;
    std::vector<TravelFd> leases;
    for (int i = 0; i < 100; ++i) {
        objects.push_back(create(page));
        leases.push_back(std::move(*exportOne(*objects.back())));
    }
    objects.clear();
    const uint64_t before = os_.calls(OsCall::IsLockedByOthers);
    const auto next = create(page);
    EXPECT_EQ(os_.calls(OsCall::IsLockedByOthers), before + 16);
    leases.erase(leases.begin() + 20, leases.end());
    // Each looks at the next 16, not at the same ones: after seven more all were seen.
    const auto more = createMany(7, page);
    EXPECT_EQ(usedBytes(), (20 + 8) * page);
}

TEST_F(BankTest, AllWaitingSlotsAreLookedAtBeforeTheDeviceIsFull) {
    start({.memoryBytes = 40 * page, .ownFileBudget = 0});
    std::vector<std::shared_ptr<Memory>> objects;
    std::vector<TravelFd> leases;
    for (int i = 0; i < 40; ++i) {
        objects.push_back(create(page));
        leases.push_back(std::move(*exportOne(*objects.back())));
    }
    objects.clear();
    EXPECT_FALSE(pool_->create(device(), {.placement = Placement::Device, .sizeBytes = 40 * page}));
    leases.clear();
    EXPECT_NE(create(40 * page), nullptr);
}

TEST_F(BankTest, AllWaitingSlotsAreLookedAtBeforeANewBankIsMade) {
    constexpr uint64_t piece = uint64_t{1} << 24;
    std::vector<std::shared_ptr<Memory>> objects;
    std::vector<TravelFd> leases;
    for (int i = 0; i < 64; ++i) { // a whole bank
        objects.push_back(create(piece));
        leases.push_back(std::move(*exportOne(*objects.back())));
    }
    objects.clear();
    leases.clear();
    const auto whole = create(uint64_t{1} << 30);
    EXPECT_EQ(descriptorsNamed("causeway-bank-"), 1U);
}

TEST_F(BankTest, WithoutProcTheSlotRetires) {
    auto memory = create(page);
    const auto bank = memory->backing();
    const uint64_t offset = memory->backingOffset();
    const auto neighbour = create(page);
    const std::array<std::byte, 1> mark = {std::byte{0x55}};
    for (const int error : {ENOENT, EACCES}) {
        os_.failKind(OsCall::Reopen, error);
        const auto sent = exportOne(*memory);
        ASSERT_TRUE(sent) << sent.error().message;
        ASSERT_TRUE(os_.writeAt(sent->get(), mark, offset));
    }
    os_.heal();
    memory.reset();
    backend_->reclaim();
    EXPECT_FALSE(isReused(bank, offset));
    std::array<std::byte, 1> seen = {};
    const auto later = bank->exportDescriptor({});
    ASSERT_TRUE(later && os_.readAt(later->get(), seen, offset));
    EXPECT_EQ(seen, mark) << "the hole was punched";
    EXPECT_EQ(usedBytes(), 2 * page);
}

TEST_F(BankTest, WithoutDescriptorsExportIsOutOfHostMemoryAndRetiresNothing) {
    auto memory = create(page);
    for (const int error : {EMFILE, ENFILE, ENOMEM}) {
        os_.failKindAt(OsCall::Reopen, 1, error);
        const auto sent = exportOne(*memory);
        ASSERT_FALSE(sent);
        EXPECT_EQ(sent.error().status, Status::OutOfHostMemory);
    }
    os_.failKindAt(OsCall::LockForReading, 1, ENOLCK);
    const auto sent = exportOne(*memory);
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().status, Status::OutOfHostMemory);
    memory.reset();
    EXPECT_EQ(usedBytes(), 0U);
}

TEST_F(BankTest, SlotThatCannotBeAskedAboutWaits) {
    auto memory = create(page);
    os_.failKind(OsCall::IsLockedByOthers, ENOLCK);
    memory.reset();
    EXPECT_EQ(usedBytes(), page);
    os_.heal();
    backend_->reclaim();
    EXPECT_EQ(usedBytes(), 0U);
}

TEST_F(BankTest, SlotThatCannotBePunchedRetires) {
    auto memory = create(page);
    const auto bank = memory->backing();
    const uint64_t offset = memory->backingOffset();
    os_.failKindAt(OsCall::PunchHole, 1, ENOMEM);
    memory.reset();
    backend_->reclaim();
    EXPECT_EQ(usedBytes(), page);
    EXPECT_FALSE(isReused(bank, offset));
}

TEST_F(BankTest, BankThatIsWaitedForStaysAndThenGoes) {
    auto memory = create(uint64_t{1} << 30);
    const auto second = create(uint64_t{1} << 30);
    std::optional<TravelFd> lease = std::move(*exportOne(*memory));
    memory.reset();
    // The first bank's own descriptor, the lease's and the second bank's.
    EXPECT_EQ(descriptorsNamed("causeway-bank-"), 3U);
    lease.reset();
    backend_->reclaim();
    EXPECT_EQ(descriptorsNamed("causeway-bank-"), 1U);
}

TEST_F(BankTest, BackingOutlivesThePoolAndStillExports) {
    auto memory = create(page);
    pool_.reset();
    auto backing = memory->backing();
    EXPECT_TRUE(exportOne(*memory));
    const auto lease = exportOne(*memory);
    memory.reset();
    backend_->reclaim();
    backing.reset(); // the file closes here, and with it its account; the lease's stays open
    EXPECT_EQ(usedBytes(), 0U);
}

TEST_F(BankTest, ThreadsCreateExportAndDestroyAtOnce) {
    std::vector<std::thread> threads(4);
    for (auto &thread : threads) {
        thread = std::thread([this] {
            for (uint64_t i = 0; i < 200; ++i) {
                auto memory = pool_->create(
                    device(), {.placement = Placement::Device, .sizeBytes = page * (1 + i % 3)});
                ASSERT_TRUE(memory);
                auto lease = exportOne(**memory);
                EXPECT_TRUE(lease);
                memory->reset();
                if (i % 16 == 0) {
                    backend_->reclaim();
                }
            }
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    backend_->reclaim();
    EXPECT_EQ(usedBytes(), 0U);
}

} // namespace
} // namespace causeway::kmd::soft
