#include "unit_tests/contract/contract_test.h"
#include "unit_tests/fakes/sanitizers.h"

namespace causeway::contract {
namespace {

class AddressSpaceContractTest : public ContractTest {};

TEST_P(AddressSpaceContractTest, ReservationsAreAligned) {
    for (uint64_t alignment = page; alignment <= uint64_t{1} << 33; alignment <<= 3) {
        const auto va = space_->reserve(0, 3 * page, alignment);
        ASSERT_TRUE(va) << va.error().message;
        EXPECT_EQ(*va % alignment, 0U) << alignment;
        EXPECT_TRUE(space_->release(*va, 3 * page));
    }
}

TEST_P(AddressSpaceContractTest, FreeHintIsUsed) {
    const auto first = space_->reserve(0, 4 * page, page);
    ASSERT_TRUE(first);
    ASSERT_TRUE(space_->release(*first, 4 * page));
    const auto lower = space_->reserve(*first, 2 * page, page);
    const auto upper = space_->reserve(*first + 2 * page, 2 * page, page);
    ASSERT_TRUE(lower && upper);
    EXPECT_EQ(*lower, *first);
    EXPECT_EQ(*upper, *first + 2 * page);
    EXPECT_TRUE(space_->release(*lower, 2 * page));
    EXPECT_TRUE(space_->release(*upper, 2 * page));
}

TEST_P(AddressSpaceContractTest, HintThatIsTakenOrMisalignedIsNoError) {
    const uint64_t taken = reserve(4 * page);
    for (const uint64_t hint : {taken, taken + page}) {
        const auto va = space_->reserve(hint, 2 * page, largePage);
        ASSERT_TRUE(va) << va.error().message;
        EXPECT_EQ(*va % largePage, 0U);
        EXPECT_TRUE(*va + 2 * page <= taken || *va >= taken + 4 * page);
        EXPECT_TRUE(space_->release(*va, 2 * page));
    }
}

TEST_P(AddressSpaceContractTest, SixtyFourTebibytesCanBeReserved) {
    if (GetParam().holdsBytes && !fakes::hugeReservationsWork) {
        GTEST_SKIP() << "the sanitizer leaves no such address range";
    }
    constexpr uint64_t sizeBytes = uint64_t{64} << 40;
    const auto va = space_->reserve(0, sizeBytes, largePage);
    ASSERT_TRUE(va) << va.error().message;
    EXPECT_EQ(*va % largePage, 0U);
    EXPECT_TRUE(space_->release(*va, sizeBytes));
}

TEST_P(AddressSpaceContractTest, ImpossibleReservationIsOutOfDeviceMemory) {
    for (const uint64_t sizeBytes : {uint64_t{1} << 60, UINT64_MAX - (page - 1)}) {
        for (const uint64_t alignment : {page, uint64_t{1} << 40}) {
            const auto va = space_->reserve(0, sizeBytes, alignment);
            ASSERT_FALSE(va);
            EXPECT_EQ(va.error().status, Status::OutOfDeviceMemory) << va.error().message;
        }
    }
}

TEST_P(AddressSpaceContractTest, OneBindingSpansNeighbouringReservations) {
    const auto both = space_->reserve(0, 4 * page, page);
    ASSERT_TRUE(both && space_->release(*both, 4 * page));
    const auto lower = space_->reserve(*both, 2 * page, page);
    const auto upper = space_->reserve(*both + 2 * page, 2 * page, page);
    ASSERT_TRUE(lower && upper && *upper == *lower + 2 * page);
    const auto memory = create(4 * page);
    bind(*lower, *memory);
    EXPECT_TRUE(space_->unbind(*lower, 4 * page));
    EXPECT_TRUE(space_->release(*lower, 2 * page));
    EXPECT_TRUE(space_->release(*upper, 2 * page));
}

TEST_P(AddressSpaceContractTest, ObjectBoundTwiceIsOneObject) {
    SKIP_WITHOUT_BYTES();
    const auto memory = create(2 * page);
    const uint64_t va = reserve(4 * page);
    bind(va, *memory);
    bind(va + 2 * page, *memory);
    fill(va, 2 * page, 0x11);
    EXPECT_TRUE(holds(va + 2 * page, 2 * page, 0x11));
    fill(va + 3 * page, page, 0x22);
    EXPECT_TRUE(holds(va + page, page, 0x22));
}

TEST_P(AddressSpaceContractTest, BindingShowsItsWindowOfTheObject) {
    SKIP_WITHOUT_BYTES();
    const auto memory = create(4 * page);
    const uint64_t whole = reserve(4 * page);
    const uint64_t window = reserve(page);
    bind(whole, *memory);
    const kmd::Binding middle = {
        .va = window, .memory = memory.get(), .offset = 2 * page, .sizeBytes = page};
    ASSERT_TRUE(space_->bind({&middle, 1}));
    fill(window, page, 0x77);
    EXPECT_TRUE(holds(whole, 2 * page, 0));
    EXPECT_TRUE(holds(whole + 2 * page, page, 0x77));
    EXPECT_TRUE(holds(whole + 3 * page, page, 0));
}

TEST_P(AddressSpaceContractTest, NeighboursOfOneObjectKeepTheirAccess) {
    SKIP_WITHOUT_BYTES();
    const auto memory = create(3 * page);
    const uint64_t va = reserve(3 * page);
    const std::vector<kmd::Binding> bindings = {
        {.va = va, .memory = memory.get(), .offset = 0, .sizeBytes = page},
        {.va = va + page,
         .memory = memory.get(),
         .offset = page,
         .sizeBytes = page,
         .access = Access::ReadOnly},
        {.va = va + 2 * page,
         .memory = memory.get(),
         .offset = 2 * page,
         .sizeBytes = page,
         .access = Access::None}};
    ASSERT_TRUE(space_->bind(bindings));
    EXPECT_TRUE(canWrite(va));
    EXPECT_TRUE(canRead(va + page));
    EXPECT_FALSE(canWrite(va + page));
    EXPECT_FALSE(canRead(va + 2 * page));
}

TEST_P(AddressSpaceContractTest, ProtectChangesExactlyItsStretch) {
    SKIP_WITHOUT_BYTES();
    const auto memory = create(3 * page);
    const uint64_t va = reserve(3 * page);
    bind(va, *memory);
    fill(va, 3 * page, 0x33);
    ASSERT_TRUE(space_->protect(va + page, page, Access::ReadOnly));
    EXPECT_TRUE(canWrite(va) && canWrite(va + 2 * page));
    EXPECT_FALSE(canWrite(va + page));
    ASSERT_TRUE(space_->protect(va + page, page, Access::None));
    EXPECT_FALSE(canRead(va + page));
    ASSERT_TRUE(space_->protect(va, 3 * page, Access::ReadWrite));
    EXPECT_TRUE(canWrite(va + page));
    EXPECT_TRUE(holds(va, 3 * page, 0x33));
}

TEST_P(AddressSpaceContractTest, UnbindLeavesTheRestAndTheReservation) {
    const auto memory = create(3 * page);
    const uint64_t va = reserve(3 * page);
    bind(va, *memory);
    ASSERT_TRUE(space_->unbind(va + page, page));
    ASSERT_TRUE(space_->unbind(va + page, page)) << "nothing bound there is no error";
    if (GetParam().holdsBytes) {
        EXPECT_TRUE(canWrite(va) && canWrite(va + 2 * page));
        EXPECT_FALSE(canRead(va + page));
    }
    const kmd::Binding again = {
        .va = va + page, .memory = memory.get(), .offset = 0, .sizeBytes = page};
    EXPECT_TRUE(space_->bind({&again, 1}));
    ASSERT_TRUE(space_->unbind(va, 3 * page));
}

TEST_P(AddressSpaceContractTest, MemoryKeepsItsBytesWhileUnbound) {
    SKIP_WITHOUT_BYTES();
    const auto memory = create(page);
    const uint64_t va = reserve(2 * page);
    bind(va, *memory);
    fill(va, page, 0x44);
    ASSERT_TRUE(space_->unbind(va, page));
    bind(va + page, *memory);
    EXPECT_TRUE(holds(va + page, page, 0x44));
}

TEST_P(AddressSpaceContractTest, BindIsAllOrNothing) {
    // Scattered, adjacent and continuing pieces.
    const auto a = create(4 * page);
    const auto b = create(4 * page);
    const uint64_t va = reserve(16 * page);
    const std::vector<kmd::Binding> bindings = {
        {.va = va, .memory = a.get(), .offset = 0, .sizeBytes = page},
        {.va = va + page, .memory = a.get(), .offset = page, .sizeBytes = page},
        {.va = va + 2 * page, .memory = b.get(), .offset = 0, .sizeBytes = page},
        {.va = va + 6 * page, .memory = a.get(), .offset = 2 * page, .sizeBytes = page},
        {.va = va + 10 * page, .memory = b.get(), .offset = page, .sizeBytes = 3 * page}};
    failEach([&] { return space_->bind(bindings); },
             [&](const Result<void> &bound) {
                 for (const auto &binding : bindings) {
                     if (GetParam().holdsBytes) {
                         EXPECT_EQ(canWrite(binding.va), bound.has_value());
                     }
                 }
                 if (bound) {
                     ASSERT_TRUE(space_->unbind(va, 16 * page));
                 }
             });
}

TEST_P(AddressSpaceContractTest, FailedUnbindProtectAndReleaseChangeNothing) {
    const auto memory = create(2 * page);
    const auto va = space_->reserve(0, 2 * page, page);
    ASSERT_TRUE(va);
    bind(*va, *memory, Access::ReadOnly);
    const auto isAsBefore = [&](const char *what) {
        return [what, va](const Result<void> &result) {
            if (!result && GetParam().holdsBytes) {
                EXPECT_TRUE(canRead(*va) && !canWrite(*va)) << what;
            }
            return result.has_value();
        };
    };
    failEach([&] { return space_->protect(*va, page, Access::ReadWrite); },
             [&](const Result<void> &result) {
                 if (isAsBefore("protect")(result)) {
                     ASSERT_TRUE(space_->protect(*va, page, Access::ReadOnly));
                 }
             });
    failEach([&] { return space_->unbind(*va, 2 * page); },
             [&](const Result<void> &result) {
                 if (isAsBefore("unbind")(result)) {
                     bind(*va, *memory, Access::ReadOnly);
                 }
             });
    GetParam().failAt(*backend_, os_, 1);
    EXPECT_FALSE(isAsBefore("release")(space_->release(*va, 2 * page)));
    GetParam().failAt(*backend_, os_, 0);
    EXPECT_TRUE(space_->release(*va, 2 * page));
}

TEST_P(AddressSpaceContractTest, ReleaseUnbinds) {
    const auto memory = create(2 * page);
    const uint64_t va = reserve(8 * page);
    bind(va + page, *memory);
    bind(va + 5 * page, *memory);
    release(va);
    if (GetParam().holdsBytes) {
        EXPECT_FALSE(canRead(va + page));
    }
}

INSTANTIATE_TEST_SUITE_P(Backends,
                         AddressSpaceContractTest,
                         ::testing::ValuesIn(backendCases()),
                         caseName);

} // namespace
} // namespace causeway::contract
