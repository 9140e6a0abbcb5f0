#include "source/kmd/soft/soft_address_space.h"

#include "unit_tests/fakes/sanitizers.h"
#include "unit_tests/source/kmd/soft/soft_test.h"

#include <cerrno>
#include <vector>

namespace causeway::kmd::soft {
namespace {

using fakes::OsCall;

class SoftAddressSpaceTest : public SoftTest {
  public:
    SoftAddressSpaceTest(const SoftAddressSpaceTest &) = delete;
    SoftAddressSpaceTest &operator=(const SoftAddressSpaceTest &) = delete;

    ~SoftAddressSpaceTest() override { EXPECT_TRUE(space_->release(va_, sizeBytes_)); }

  protected:
    SoftAddressSpaceTest() : va_(*space_->reserve(0, sizeBytes_, page)) {}

    [[nodiscard]] static Binding piece(uint64_t va,
                                       const Memory &memory,
                                       uint64_t index,
                                       Access access = Access::ReadWrite) {
        return {.va = va,
                .memory = &memory,
                .offset = index * page,
                .sizeBytes = page,
                .access = access};
    }

    /// How many mappings a bind of these makes.
    [[nodiscard]] uint64_t mappingsOf(const std::vector<Binding> &bindings) {
        const uint64_t before = os_.calls(OsCall::MapFile);
        EXPECT_TRUE(space_->bind(bindings));
        EXPECT_TRUE(space_->unbind(va_, sizeBytes_));
        return os_.calls(OsCall::MapFile) - before;
    }

    const uint64_t sizeBytes_ = 64 * page;
    const uint64_t va_;
};

TEST_F(SoftAddressSpaceTest, PiecesThatContinueEachOtherBecomeOneMapping) {
    const auto memory = create(4 * page);
    EXPECT_EQ(mappingsOf({piece(va_, *memory, 0),
                          piece(va_ + page, *memory, 1),
                          piece(va_ + 2 * page, *memory, 2)}),
              1U);
}

TEST_F(SoftAddressSpaceTest, PiecesThatDoNotContinueEachOtherStayApart) {
    const auto memory = create(4 * page);
    const auto other = create(4 * page);
    EXPECT_EQ(mappingsOf({piece(va_, *memory, 0), piece(va_ + page, *memory, 0)}), 2U);
    EXPECT_EQ(mappingsOf({piece(va_, *memory, 0), piece(va_ + 2 * page, *memory, 1)}), 2U);
    EXPECT_EQ(mappingsOf({piece(va_, *memory, 0), piece(va_ + page, *other, 1)}), 2U);
    EXPECT_EQ(mappingsOf({piece(va_, *memory, 0), piece(va_ + page, *memory, 1, Access::ReadOnly)}),
              2U);
}

TEST_F(SoftAddressSpaceTest, NeighboursInABankBecomeOneMapping) {
    EXPECT_TRUE(space_->release(va_, sizeBytes_));
    start({.ownFileBudget = 0});
    ASSERT_TRUE(space_->reserve(va_, sizeBytes_, page).value_or(0) == va_);
    const auto first = create(page);
    const auto second = create(page);
    EXPECT_EQ(mappingsOf({piece(va_, *first, 0), piece(va_ + page, *second, 0)}), 1U);
    EXPECT_EQ(mappingsOf({piece(va_, *second, 0), piece(va_ + page, *first, 0)}), 2U);
}

TEST_F(SoftAddressSpaceTest, UndoThatFailsLosesNothingBeyondTheReservation) {
    const auto memory = create(4 * page);
    const std::vector<Binding> bindings = {piece(va_, *memory, 0),
                                           piece(va_ + 4 * page, *memory, 1),
                                           piece(va_ + 8 * page, *memory, 2)};
    os_.failKind(OsCall::BlankAddress, ENOMEM);
    os_.failKindAt(OsCall::MapFile, 3, ENOMEM);
    const auto bound = space_->bind(bindings);
    ASSERT_FALSE(bound);
    EXPECT_EQ(bound.error().status, Status::OutOfDeviceMemory);
    os_.heal();
    // Binding over what is left replaces it.
    EXPECT_TRUE(space_->bind(bindings));
}

TEST_F(SoftAddressSpaceTest, ReservationThatCannotBeAlignedLeavesNothing) {
    constexpr uint64_t alignment = uint64_t{1} << 40;
    os_.failKindAt(OsCall::ReserveAddress, 1, ENOMEM);
    EXPECT_FALSE(space_->reserve(0, page, alignment));
    os_.failKindAt(OsCall::ReserveAddress, 2, ENOMEM);
    EXPECT_FALSE(space_->reserve(0, page, alignment));
    const auto va = space_->reserve(0, page, alignment);
    ASSERT_TRUE(va);
    EXPECT_EQ(*va % alignment, 0U);
    EXPECT_TRUE(space_->release(*va, page));
}

/// At the limit of mappings the kernel joins a reservation with its neighbour, and does not cut it.
TEST_F(SoftAddressSpaceTest, WhatCannotBeGivenBackAtOnceIsLater) {
    constexpr uint64_t alignment = uint64_t{1} << 40; // padded on both sides
    os_.failKind(OsCall::Unmap, ENOMEM);
    const auto va = space_->reserve(0, page, alignment);
    ASSERT_TRUE(va);
    os_.heal();
    const uint64_t before = os_.calls(OsCall::Unmap);

    EXPECT_TRUE(space_->release(*va, page));

    EXPECT_GE(os_.calls(OsCall::Unmap) - before, 2U) << "the padding is not lost";
    const uint64_t after = os_.calls(OsCall::Unmap);
    const auto next = space_->reserve(0, page, 4096); // aligned at once
    ASSERT_TRUE(next);
    EXPECT_EQ(os_.calls(OsCall::Unmap), after) << "and given back once";
    EXPECT_TRUE(space_->release(*next, page));
}

/// A kernel whose mmap over another mapping fails after that one is gone.
class HoleOs final : public fakes::ForwardingOs {
  public:
    HoleOs() : ForwardingOs(linuxOs()) {}

    OsResult<void> mapFile(
        uint64_t address, uint64_t sizeBytes, Protection, int, uint64_t) override {
        EXPECT_TRUE(os_.unmap(address, sizeBytes));
        return std::unexpected(Errno{EPERM});
    }
};

class HoleTest : public fakes::ResourceCheckedTest {};

TEST_F(HoleTest, FailedMappingLeavesNoHoleInTheReservation) {
    HoleOs os;
    SoftBackend backend(os, {});
    const auto pool = *backend.createPool();
    const auto space = *backend.createAddressSpace();
    const auto memory = *pool->create(*backend.devices().front(),
                                      {.placement = Placement::Device, .sizeBytes = page});
    const uint64_t va = *space->reserve(0, 3 * page, page);
    const Binding binding = {.va = va + page, .memory = memory.get(), .sizeBytes = page};
    EXPECT_FALSE(space->bind({&binding, 1}));
    const auto elsewhere = space->reserve(va + page, page, page);
    ASSERT_TRUE(elsewhere);
    EXPECT_NE(*elsewhere, va + page) << "the reservation has a hole";
    EXPECT_TRUE(space->release(*elsewhere, page));
    EXPECT_TRUE(space->release(va, 3 * page));
}

class MapLimitTest : public SoftTest {};

TEST_F(MapLimitTest, AtTheLimitBindIsRefusedAndAllCanStillBeGivenBack) {
    const auto limit = linuxOs().mapCountLimit();
    if (!limit || *limit > 70'000) {
        GTEST_SKIP() << "vm.max_map_count is not that of most systems";
    }
    if (fakes::underThreadSanitizer) {
        GTEST_SKIP() << "ThreadSanitizer maps besides for each mapping";
    }
    const uint64_t pieces = *limit + 1000;
    const auto memory = create(page);
    const uint64_t va = *space_->reserve(0, pieces * page, page);
    // The same page over and over: no two neighbours can become one mapping.
    std::vector<Binding> batch(100, Binding{.memory = memory.get(), .sizeBytes = page});
    uint64_t bound = 0;
    const auto bindNext = [&](size_t count) {
        for (size_t i = 0; i < count; ++i) {
            batch[i].va = va + (bound + i) * page;
        }
        auto result = space_->bind(std::span(batch).first(count));
        bound += result ? count : 0;
        return result;
    };
    while (bound + 200 < pieces && bindNext(batch.size())) {
    }
    while (bound + 1 < pieces && bindNext(1)) {
    }
    const auto refused = bindNext(1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, Status::OutOfDeviceMemory);
    EXPECT_GT(bound, *limit - 10'000);
    EXPECT_FALSE(space_->protect(va, page, Access::ReadOnly));
    EXPECT_TRUE(space_->unbind(va + 10 * page, page));
    EXPECT_TRUE(space_->unbind(va + 20 * page, 500 * page));
    EXPECT_TRUE(bindNext(1));
    EXPECT_TRUE(space_->release(va, pieces * page));
}

} // namespace
} // namespace causeway::kmd::soft
