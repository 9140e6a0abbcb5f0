#include "source/kmd/soft/bank_store.h"
#include "source/kmd/soft/object_name.h"
#include "unit_tests/source/kmd/soft/soft_test.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>
#include <vector>

namespace causeway::kmd::soft {
namespace {

using fakes::OsCall;

class SoftPoolTest : public SoftTest {};

TEST_F(SoftPoolTest, ObjectsHaveFilesOfTheirOwnWhileTheBudgetLasts) {
    start({.ownFileBudget = 2});
    auto first = create(page);
    const auto second = create(page);
    EXPECT_EQ(descriptorsNamed("causeway-object-"), 2U);
    const auto third = create(page);
    EXPECT_EQ(descriptorsNamed("causeway-object-"), 2U);
    EXPECT_EQ(descriptorsNamed("causeway-bank-"), 1U);
    first.reset();
    const auto fourth = create(page);
    EXPECT_EQ(descriptorsNamed("causeway-object-"), 2U);
}

TEST_F(SoftPoolTest, BudgetIsOfTheProcessNotOfThePool) {
    start({.ownFileBudget = 1});
    const auto memory = create(page);
    const auto other = *backend_->createPool();
    const auto second =
        other->create(device(), {.placement = Placement::Device, .sizeBytes = page});
    ASSERT_TRUE(second);
    EXPECT_EQ(descriptorsNamed("causeway-object-"), 1U);
}

TEST_F(SoftPoolTest, AnOwnFileThatIsAskedForIsNoBank) {
    start({.ownFileBudget = 0});
    const auto asked = pool_->create(
        device(), {.placement = Placement::Device, .sizeBytes = page, .file = FileNeed::OfItsOwn});
    ASSERT_TRUE(asked);
    EXPECT_TRUE((*asked)->backing()->holdsOneObject());
    EXPECT_FALSE(create(page)->backing()->holdsOneObject());
    os_.failKindAt(OsCall::MemfdCreate, 1, EMFILE);
    const auto refused = pool_->create(
        device(), {.placement = Placement::Device, .sizeBytes = page, .file = FileNeed::OfItsOwn});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, Status::OutOfHostMemory);
}

TEST_F(SoftPoolTest, FilesAreSealedAndNamed) {
    for (const uint64_t budget : {uint64_t{1}, uint64_t{0}}) {
        start({.ownFileBudget = budget});
        const auto memory = create(page, Placement::Host);
        const auto sent = exportOne(*memory);
        ASSERT_TRUE(sent);
        EXPECT_EQ(os_.seals(sent->get()).value_or(0) & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
                  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
        const ObjectName wanted = {.device = device().properties().uuid,
                                   .placement = Placement::Host,
                                   .bank = budget == 0};
        EXPECT_EQ(parseObjectName(os_.fileName(sent->get()).value_or("")), wanted);
    }
}

TEST_F(SoftPoolTest, WithoutDescriptorsLeftForOwnFilesABankServes) {
    for (const int error : {EMFILE, ENFILE}) {
        start({});
        os_.failKindAt(OsCall::MemfdCreate, 1, error);
        const auto memory = create(page);
        EXPECT_EQ(descriptorsNamed("causeway-object-"), 0U);
        EXPECT_NE(memory, nullptr);
    }
}

TEST_F(SoftPoolTest, WithoutAnyDescriptorCreationIsOutOfHostMemory) {
    os_.failKind(OsCall::MemfdCreate, EMFILE);
    const auto memory =
        pool_->create(device(), {.placement = Placement::Device, .sizeBytes = page});
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().status, Status::OutOfHostMemory);
    EXPECT_EQ(usedBytes(), 0U);
}

TEST_F(SoftPoolTest, DedicatedObjectsNeverUseBanks) {
    start({.dedicatedOnly = true, .ownFileBudget = 1});
    auto first = create(page);
    const auto second =
        pool_->create(device(), {.placement = Placement::Device, .sizeBytes = page});
    first.reset();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().status, Status::OutOfHostMemory);
    start({.dedicatedOnly = true});
    os_.failKind(OsCall::MemfdCreate, EMFILE);
    const auto third = pool_->create(device(), {.placement = Placement::Device, .sizeBytes = page});
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().status, Status::OutOfHostMemory);
    EXPECT_EQ(descriptorsNamed("causeway-bank-"), 0U);
}

TEST_F(SoftPoolTest, HostMemoryIsLimitedByTheMachine) {
    const auto memory =
        pool_->create(device(),
                      {.placement = Placement::Host,
                       .sizeBytes = linuxOs().totalMemory() + linuxOs().pageSize()});
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().status, Status::OutOfHostMemory);
}

TEST_F(SoftPoolTest, RefusalSaysWhatWasAskedAndWhatIsInUse) {
    start({.memoryBytes = 10 * page});
    const auto memory = create(4 * page);
    const auto refused =
        pool_->create(device(), {.placement = Placement::Device, .sizeBytes = 7 * page});
    ASSERT_FALSE(refused);
    for (const uint64_t number : {7 * page, 4 * page, 10 * page}) {
        EXPECT_NE(refused.error().message.find(std::to_string(number)), std::string::npos)
            << refused.error().message;
    }
}

/// Few descriptors for as long as it lives.
class DescriptorLimit {
  public:
    explicit DescriptorLimit(rlim_t soft) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit few = {.rlim_cur = soft, .rlim_max = before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &few);
    }

    DescriptorLimit(const DescriptorLimit &) = delete;
    DescriptorLimit &operator=(const DescriptorLimit &) = delete;

    ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_ = {};
};

TEST_F(SoftPoolTest, ThousandsOfObjectsNeedFewDescriptors) {
    const auto open = fakes::ResourceSnapshot::take().descriptors;
    const DescriptorLimit limit(static_cast<rlim_t>(open.rbegin()->first) + 64);
    const auto objects = createMany(5000, page);
    EXPECT_EQ(std::ranges::count(objects, nullptr), 0);
    EXPECT_EQ(descriptorsNamed("causeway-bank-"), 1U);
    EXPECT_LE(descriptorsNamed("causeway-object-"), linuxOs().descriptorLimit() / 2);
}

class SoftBankPlacementTest : public SoftBankTest {};

TEST_F(SoftBankPlacementTest, EachBankIsTwiceAsLargeAsTheOneBefore) {
    constexpr uint64_t half = BankStore::firstBankBytes / 2;
    const auto objects = createMany(14, half); // 1 + 2 + 4 GiB
    EXPECT_EQ(descriptorsNamed("causeway-bank-"), 3U);
    EXPECT_EQ(objects[0]->backing()->sizeBytes(), 2 * half);
    EXPECT_EQ(objects[2]->backing()->sizeBytes(), 4 * half);
    EXPECT_EQ(objects[13]->backing()->sizeBytes(), 8 * half);
}

TEST_F(SoftBankPlacementTest, LargeObjectMakesALargeBank) {
    const auto memory = create(5 * BankStore::firstBankBytes);
    EXPECT_EQ(memory->backing()->sizeBytes(), 5 * BankStore::firstBankBytes);
}

TEST_F(SoftBankPlacementTest, EmptyBanksGoExceptTheLast) {
    auto objects = createMany(7, BankStore::firstBankBytes);
    EXPECT_EQ(descriptorsNamed("causeway-bank-"), 3U);
    objects.clear();
    EXPECT_EQ(descriptorsNamed("causeway-bank-"), 1U);
    const uint64_t made = os_.calls(OsCall::MemfdCreate);
    for (int i = 0; i < 10; ++i) {
        EXPECT_NE(create(page), nullptr);
    }
    EXPECT_EQ(os_.calls(OsCall::MemfdCreate), made) << "a bank for each object";
}

TEST_F(SoftBankPlacementTest, PoolsPlacementsAndDevicesShareNoBank) {
    start({.deviceCount = 2, .ownFileBudget = 0});
    const auto other = *backend_->createPool();
    const auto a = create(page);
    const auto b = create(page, Placement::Host);
    const auto c = *other->create(device(), {.placement = Placement::Device, .sizeBytes = page});
    const auto d = *pool_->create(*backend_->devices()[1],
                                  {.placement = Placement::Device, .sizeBytes = page});
    EXPECT_EQ(descriptorsNamed("causeway-bank-"), 4U);
    EXPECT_EQ(create(page)->backing(), a->backing());
}

TEST_F(SoftBankPlacementTest, BanksAreSmallerWhereTheLimitOfFileSizesSaysSo) {
    os_.failKindAt(OsCall::Truncate, 1, EFBIG);
    const auto memory = create(page);
    EXPECT_EQ(memory->backing()->sizeBytes(), BankStore::firstBankBytes / 2);
    os_.failKind(OsCall::Truncate, EFBIG);
    const auto refused = pool_->create(device(), {.placement = Placement::Host, .sizeBytes = page});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, Status::OutOfHostMemory);
}

TEST_F(SoftBankPlacementTest, FailedBankLeavesNothing) {
    for (const OsCall call : {OsCall::MemfdCreate, OsCall::Truncate, OsCall::AddSeals}) {
        os_.failKindAt(call, 1, ENOSPC);
        const auto memory =
            pool_->create(device(), {.placement = Placement::Device, .sizeBytes = page});
        ASSERT_FALSE(memory);
        EXPECT_EQ(memory.error().status, Status::OutOfHostMemory) << toString(call);
        EXPECT_EQ(descriptorsNamed("causeway-bank-"), 0U);
        EXPECT_EQ(usedBytes(), 0U);
    }
}

} // namespace
} // namespace causeway::kmd::soft
