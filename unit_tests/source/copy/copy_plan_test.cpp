#include "source/copy/copy_plan.h"

#include "unit_tests/source/memory/result_checks.h"

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

} // namespace
} // namespace causeway::copy
