#include "unit_tests/contract/contract_test.h"
#include "unit_tests/fakes/fake_backend.h"

#include <gtest/gtest-spi.h>

namespace causeway::contract {
namespace {

using fakes::FakeBackend;

/// The fake fails the test of a caller that breaks kmd.h's rules.
class FakeRulesTest : public ::testing::Test {
  public:
    FakeRulesTest(const FakeRulesTest &) = delete;
    FakeRulesTest &operator=(const FakeRulesTest &) = delete;

    ~FakeRulesTest() override { EXPECT_TRUE(space_->release(va_, 8 * page)); }

  protected:
    FakeRulesTest()
        : pool_(*backend_.createPool())
        , space_(*backend_.createAddressSpace())
        , memory_(*pool_->create(*backend_.devices().front(),
                                 {.placement = Placement::Device, .sizeBytes = 4 * page}))
        , va_(*space_->reserve(0, 8 * page, page)) {}

    [[nodiscard]] Result<void> bind(uint64_t va, uint64_t offset, uint64_t sizeBytes) {
        const kmd::Binding binding = {
            .va = va, .memory = memory_.get(), .offset = offset, .sizeBytes = sizeBytes};
        return space_->bind({&binding, 1});
    }

    FakeBackend backend_;
    std::unique_ptr<kmd::MemoryPool> pool_;
    std::unique_ptr<kmd::AddressSpace> space_;
    std::shared_ptr<kmd::Memory> memory_;
    uint64_t va_;
};

TEST_F(FakeRulesTest, BindingOverABindingIsNoticed) {
    ASSERT_TRUE(bind(va_ + page, 0, 2 * page));
    EXPECT_NONFATAL_FAILURE(EXPECT_FALSE(bind(va_, 0, 2 * page)), "something is bound there");
    EXPECT_NONFATAL_FAILURE(EXPECT_FALSE(bind(va_ + 2 * page, 0, page)), "something is bound");
    EXPECT_TRUE(bind(va_, 0, page));
    EXPECT_TRUE(bind(va_ + 3 * page, 0, page));
}

TEST_F(FakeRulesTest, BindingOutsideReservationsIsNoticed) {
    EXPECT_NONFATAL_FAILURE(EXPECT_FALSE(bind(va_ + 7 * page, 0, 2 * page)), "not reserved");
    EXPECT_NONFATAL_FAILURE(EXPECT_FALSE(bind(va_ - page, 0, page)), "not reserved");
}

TEST_F(FakeRulesTest, BindingBeyondTheObjectOrOffItsPagesIsNoticed) {
    EXPECT_NONFATAL_FAILURE(EXPECT_FALSE(bind(va_, 3 * page, 2 * page)), "beyond the object");
    EXPECT_NONFATAL_FAILURE(EXPECT_FALSE(bind(va_, 1, page)), "granularity");
    EXPECT_NONFATAL_FAILURE(EXPECT_FALSE(bind(va_ + 4096, 0, page)), "granularity");
}

TEST_F(FakeRulesTest, ReleasingAPartIsNoticed) {
    EXPECT_NONFATAL_FAILURE(EXPECT_FALSE(space_->release(va_, page)), "no whole reservation");
    EXPECT_NONFATAL_FAILURE(EXPECT_FALSE(space_->release(va_ + page, page)), "no whole");
}

TEST_F(FakeRulesTest, ProtectingWhatIsNotBoundIsNoticed) {
    ASSERT_TRUE(bind(va_, 0, page));
    ASSERT_TRUE(bind(va_ + 2 * page, 0, page));
    EXPECT_NONFATAL_FAILURE(EXPECT_FALSE(space_->protect(va_, 3 * page, Access::None)),
                            "not bound");
}

TEST_F(FakeRulesTest, MemoryDestroyedWhileBoundIsNoticed) {
    ASSERT_TRUE(bind(va_, 0, page));
    EXPECT_NONFATAL_FAILURE(memory_.reset(), "destroyed while bound");
    EXPECT_EQ(backend_.liveMemory(), 0U);
    EXPECT_EQ(backend_.liveBackings(), 0U);
}

TEST_F(FakeRulesTest, BooksShowSplitBindings) {
    auto &space = static_cast<fakes::FakeAddressSpace &>(*space_);
    ASSERT_TRUE(bind(va_, 0, 4 * page));
    ASSERT_TRUE(space_->unbind(va_ + page, page));
    ASSERT_TRUE(space_->protect(va_ + 3 * page, page, Access::ReadOnly));
    ASSERT_EQ(space.bindings().size(), 3U);
    EXPECT_FALSE(space.bindingAt(va_ + page));
    const auto third = space.bindingAt(va_ + 2 * page + 5).value_or(fakes::FakeBinding{});
    EXPECT_EQ(third.offset, 2 * page);
    EXPECT_EQ(third.sizeBytes, page);
    const auto last = space.bindingAt(va_ + 3 * page).value_or(fakes::FakeBinding{});
    EXPECT_EQ(last.access, Access::ReadOnly);
}

TEST_F(FakeRulesTest, ImportedMemoryCannotBeBoundOnceItsDescriptorIsDropped) {
    memory_ =
        *pool_->importObject(*backend_.devices().front(), UniqueFd(), {.sizeBytes = 4 * page});
    ASSERT_TRUE(bind(va_, 0, page));
    memory_->dropDescriptor();
    const auto bound = bind(va_ + page, 0, page);
    ASSERT_FALSE(bound);
    EXPECT_EQ(bound.error().status, Status::UnsupportedFeature);
    ASSERT_TRUE(space_->unbind(va_, page));
}

TEST_F(FakeRulesTest, OperationsFailOnDemand) {
    backend_.failAt(2, Status::OutOfDeviceMemory);
    EXPECT_TRUE(bind(va_, 0, page));
    const auto failed = space_->unbind(va_, page);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().status, Status::OutOfDeviceMemory);
    EXPECT_EQ(backend_.lastFault(), "unbind");
    EXPECT_TRUE(space_->unbind(va_, page));
}

} // namespace
} // namespace causeway::contract
