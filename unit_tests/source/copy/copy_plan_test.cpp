#include "source/copy/copy_plan.h"

#include "unit_tests/source/memory/result_checks.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace causeway::copy {
namespace {

constexpr uint64_t huge = uint64_t{1} << 63;

CopyRegion linear(uint64_t dst, uint64_t src, uint64_t sizeBytes) {
    return {.dst = {.address = dst}, .src = {.address = src}, .widthBytes = sizeBytes};
}

TEST(CopyPlanTest, EmptyRegionsCopyNothingWhateverElseTheySay) {
    for (CopyRegion region : {linear(UINT64_MAX, UINT64_MAX, 0), linear(0, 0, huge)}) {
        region.height = region.widthBytes == 0 ? huge : 0;
        EXPECT_EQ(must(planCopy(region)).rows, 0U);
        region.height = huge;
        region.depth = 0;
        EXPECT_EQ(must(planCopy(region)).rows, 0U);
    }
}

TEST(CopyPlanTest, BeyondTheAddressSpaceIsAnError) {
    EXPECT_TRUE(succeeds(planCopy(linear(UINT64_MAX - 8, 64, 8))));
    EXPECT_TRUE(failsWith(planCopy(linear(UINT64_MAX - 8, 64, 9)), Status::InvalidSize, "dest"));
    EXPECT_TRUE(failsWith(planCopy(linear(64, UINT64_MAX - 8, 9)), Status::InvalidSize, "source"));
    CopyRegion region = linear(4096, 8192, 16);
    region.dst.rowPitch = region.src.rowPitch = huge;
    region.height = 3;
    EXPECT_TRUE(failsWith(planCopy(region), Status::InvalidSize)) << "rows wrap";
    region.height = 1;
    region.dst.slicePitch = region.src.slicePitch = huge;
    region.depth = 2;
    EXPECT_TRUE(succeeds(planCopy(region))) << "the row pitch of one row has no meaning";
    region.depth = 3;
    EXPECT_TRUE(failsWith(planCopy(region), Status::InvalidSize)) << "slices wrap";
}

TEST(CopyPlanTest, RowsAndSlicesOfOneSideMustNotOverlap) {
    CopyRegion region = linear(4096, 8192, 16);
    region.height = 4;
    region.dst.rowPitch = 16;
    region.src.rowPitch = 15;
    EXPECT_TRUE(failsWith(planCopy(region), Status::InvalidSize, "source"));
    region.src.rowPitch = 20;
    region.depth = 2;
    region.dst.slicePitch = 64;
    region.src.slicePitch = 75;
    EXPECT_TRUE(failsWith(planCopy(region), Status::InvalidSize, "source"));
    region.src.slicePitch = 76;
    EXPECT_TRUE(succeeds(planCopy(region)));
}

TEST(CopyPlanTest, RowsWithoutGapsAreOneRow) {
    CopyRegion region = {.dst = {.address = 4096, .rowPitch = 16, .slicePitch = 64},
                         .src = {.address = 8192, .rowPitch = 16, .slicePitch = 64},
                         .widthBytes = 16,
                         .height = 4,
                         .depth = 3};
    CopyPlan plan = must(planCopy(region));
    EXPECT_EQ(plan.rows, 1U);
    EXPECT_EQ(plan.widthBytes, 192U);

    region.src.slicePitch = 100;
    plan = must(planCopy(region));
    EXPECT_EQ(plan.rows, 3U);
    EXPECT_EQ(plan.widthBytes, 64U);
    EXPECT_EQ(plan.srcOf(2), 8192U + 200);
    EXPECT_EQ(plan.dstOf(2), 4096U + 128);

    region.src = {.address = 8192, .rowPitch = 17, .slicePitch = 100};
    plan = must(planCopy(region));
    EXPECT_EQ(plan.rows, 12U);
    EXPECT_EQ(plan.srcOf(4 + 3), 8192U + 100 + 51);
}

TEST(CopyPlanTest, SidesThatTouchDoNotOverlap) {
    EXPECT_EQ(must(planCopy(linear(100, 110, 10))).order, RowOrder::Any);
    EXPECT_EQ(must(planCopy(linear(110, 100, 10))).order, RowOrder::Any);
    EXPECT_EQ(must(planCopy(linear(100, 109, 10))).order, RowOrder::Ascending);
    EXPECT_EQ(must(planCopy(linear(109, 100, 10))).order, RowOrder::Descending);
}

/// The bytes of one side.
std::set<uint64_t> bytesOf(const CopyRegion &region, const CopySide &side) {
    std::set<uint64_t> bytes;
    for (uint64_t z = 0; z < region.depth; ++z) {
        for (uint64_t y = 0; y < region.height; ++y) {
            for (uint64_t x = 0; x < region.widthBytes; ++x) {
                bytes.insert(side.address + z * side.slicePitch + y * side.rowPitch + x);
            }
        }
    }
    return bytes;
}

/// Sides near each other, with gaps in which rows of the other side may lie.
CopyRegion randomRegion(std::mt19937_64 &random) {
    const auto pick = [&](uint64_t first, uint64_t last) {
        return std::uniform_int_distribution<uint64_t>(first, last)(random);
    };
    CopyRegion region = {.widthBytes = pick(1, 6), .height = pick(1, 4), .depth = pick(1, 3)};
    for (CopySide *side : {&region.dst, &region.src}) {
        side->address = 1000 + pick(0, 60);
        side->rowPitch = region.widthBytes + pick(0, 12);
        side->slicePitch = side->rowPitch * (region.height - 1) + region.widthBytes + pick(0, 30);
    }
    if (pick(0, 1) == 0) {
        region.src.rowPitch = region.dst.rowPitch;
        region.src.slicePitch = region.dst.slicePitch;
    }
    return region;
}

TEST(CopyPlanTest, AnyOrderIsRightExactlyWhereNoByteIsShared) {
    std::mt19937_64 random(20260102); // NOLINT(cert-msc51-cpp): the same in every run
    std::array<int, 2> seen = {};
    for (int i = 0; i < 20000; ++i) {
        const CopyRegion region = randomRegion(random);
        const auto dst = bytesOf(region, region.dst);
        const bool apart = std::ranges::none_of(bytesOf(region, region.src),
                                                [&](uint64_t byte) { return dst.contains(byte); });
        ++seen.at(apart ? 1 : 0);
        ASSERT_EQ(must(planCopy(region)).order == RowOrder::Any, apart)
            << region.widthBytes << " x " << region.height << " x " << region.depth << " from "
            << region.src.address << " (" << region.src.rowPitch << ", " << region.src.slicePitch
            << ") to " << region.dst.address << " (" << region.dst.rowPitch << ", "
            << region.dst.slicePitch << ")";
    }
    EXPECT_GT(seen[0], 1000);
    EXPECT_GT(seen[1], 1000);
}

TEST(CopyPlanTest, OfTooManyRowsItIsTakenThatSomeMeet) {
    CopyRegion region = {.dst = {.address = 4096, .rowPitch = 4},
                         .src = {.address = 4098, .rowPitch = 8},
                         .widthBytes = 1,
                         .height = uint64_t{1} << 20};
    EXPECT_EQ(must(planCopy(region)).order, RowOrder::Any);
    region.height = huge >> 10;
    EXPECT_TRUE(must(planCopy(region)).isUnspecified());
}

} // namespace
} // namespace causeway::copy
