#include "unit_tests/black_box/copy_fixture.h"

#include <algorithm>

namespace causeway::black_box {

namespace {

/// Of both sides of a copy. A depth of 0 is a copy of two dimensions.
struct Extent {
    uint32_t width = 0;
    uint32_t height = 0;
    uint32_t depth = 0;
};

/// One side of a copy of regions within a block.
struct Side {
    size_t offset = 0; ///< of the pointer that is passed
    ze_copy_region_t region = {};
    uint32_t pitch = 0;
    uint32_t slicePitch = 0;

    [[nodiscard]] size_t rowOffset(uint32_t row, uint32_t slice) const {
        const size_t slices = region.depth == 0 ? 0 : size_t{region.originZ + slice} * slicePitch;
        return offset + region.originX + size_t{region.originY + row} * pitch + slices;
    }
};

/// Rows do not overlap, and neither do slices; between them may be gaps.
Side randomSide(Random &random, const Extent &extent) {
    const auto number = [&](uint32_t least, uint32_t most) {
        return static_cast<uint32_t>(numberIn(random, least, most));
    };
    Side side;
    side.offset = number(0, 70);
    side.region = {
        number(0, 9), number(0, 3), number(0, 2), extent.width, extent.height, extent.depth};
    side.pitch = side.region.originX + extent.width + number(0, 20);
    side.slicePitch = side.pitch * (side.region.originY + extent.height) + number(0, 50);
    return side;
}

Extent randomExtent(Random &random) {
    return {static_cast<uint32_t>(numberIn(random, 1, 70)),
            static_cast<uint32_t>(numberIn(random, 1, 9)),
            static_cast<uint32_t>(numberIn(random, 0, 4))};
}

} // namespace

class CopyRegionTest : public CopyTest {
  protected:
    /// Of the largest side that randomSide makes.
    static constexpr size_t bytes = 12'000;

    ze_result_t tryCopy(const Block &dst, const Side &to, const Block &src, const Side &from) {
        return zeCommandListAppendMemoryCopyRegion(list(),
                                                   dst.at(to.offset),
                                                   &to.region,
                                                   to.pitch,
                                                   to.slicePitch,
                                                   src.at(from.offset),
                                                   &from.region,
                                                   from.pitch,
                                                   from.slicePitch,
                                                   nullptr,
                                                   0,
                                                   nullptr);
    }

    void copyRegion(Block &dst, const Side &to, const Block &src, const Side &from) {
        require(tryCopy(dst, to, src, from), "zeCommandListAppendMemoryCopyRegion");
        // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): src may be dst
        const std::vector<std::byte> before = src.model();
        for (uint32_t slice = 0; slice < std::max(to.region.depth, 1U); ++slice) {
            for (uint32_t row = 0; row < to.region.height; ++row) {
                std::memcpy(dst.model().data() + to.rowOffset(row, slice),
                            before.data() + from.rowOffset(row, slice),
                            to.region.width);
            }
        }
    }
};

INSTANTIATE_TEST_SUITE_P(Ways,
                         CopyRegionTest,
                         testing::Values(Way::Queue, Way::Asynchronous, Way::Synchronous),
                         wayName);

TEST_P(CopyRegionTest, RowsArriveAndBytesBetweenThemStay) {
    const Range range(context(), manyPieces(2));
    std::vector<std::byte> heap(bytes);
    // The mapped one has its border of objects in the middle.
    std::vector<Block> blocks;
    blocks.emplace_back("malloc", heap.data(), bytes, random_);
    blocks.emplace_back("mapped range", range.piece(1) - bytes / 4, bytes, random_);
    blocks.push_back(allocatedBlock(Kind::Device, bytes));
    blocks.push_back(allocatedBlock(Kind::Host, bytes));
    for (int round = 0; round < 300 && !HasFailure(); ++round) {
        SCOPED_TRACE(round);
        Block &dst = blocks[numberIn(random_, 0, blocks.size() - 1)];
        const Block &src = blocks[(static_cast<size_t>(&dst - blocks.data()) +
                                   numberIn(random_, 1, blocks.size() - 1)) %
                                  blocks.size()];
        const Extent extent = randomExtent(random_);
        copyRegion(dst, randomSide(random_, extent), src, randomSide(random_, extent));
        run();
        dst.expectAsModelled();
        src.expectAsModelled();
    }
}

TEST_P(CopyRegionTest, OverlappingRegionsOfOneShapeAreAsIfAllWereReadFirst) {
    Block block = allocatedBlock(Kind::Device, 2 * bytes);
    for (int round = 0; round < 300 && !HasFailure(); ++round) {
        SCOPED_TRACE(round);
        const Side from = randomSide(random_, randomExtent(random_));
        Side to = from;
        to.offset = numberIn(random_, 0, from.offset + size_t{2} * from.pitch);
        copyRegion(block, to, block, from);
        run();
        block.expectAsModelled();
    }
}

TEST_P(CopyRegionTest, OverlappingRegionsOfTwoShapesAreRefused) {
    const Block block = allocatedBlock(Kind::Device, bytes);
    const Side from = {.offset = 0, .region = {0, 0, 0, 16, 8, 1}, .pitch = 16, .slicePitch = 0};
    Side to = from;
    to.offset = 4;
    to.pitch = 20;
    EXPECT_EQ(tryCopy(block, to, block, from), ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    EXPECT_NE(lastErrorDescription(), "");
    run();
    block.expectAsModelled();
}

TEST_P(CopyRegionTest, RegionsOfTwoSizesAreRefused) {
    const Block block = allocatedBlock(Kind::Device, bytes);
    const Side from = {.offset = 0, .region = {0, 0, 0, 16, 8, 1}, .pitch = 16, .slicePitch = 128};
    for (const ze_copy_region_t &region : {ze_copy_region_t{0, 0, 0, 15, 8, 1},
                                           ze_copy_region_t{0, 0, 0, 16, 7, 1},
                                           ze_copy_region_t{0, 0, 0, 16, 8, 2}}) {
        const Side to = {.offset = 1000, .region = region, .pitch = 16, .slicePitch = 128};
        EXPECT_EQ(tryCopy(block, to, block, from), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    run();
    block.expectAsModelled();
}

TEST_P(CopyRegionTest, RowsThatOverlapEachOtherAreRefused) {
    const Block block = allocatedBlock(Kind::Device, bytes);
    const Side good = {.offset = 0, .region = {0, 0, 0, 16, 8, 2}, .pitch = 16, .slicePitch = 128};
    Side bad = good;
    bad.offset = 1000;
    bad.pitch = 15;
    EXPECT_EQ(tryCopy(block, bad, block, good), ZE_RESULT_ERROR_INVALID_SIZE);
    bad.pitch = 16;
    bad.slicePitch = 127;
    EXPECT_EQ(tryCopy(block, bad, block, good), ZE_RESULT_ERROR_INVALID_SIZE);
    run();
    block.expectAsModelled();
}

TEST_P(CopyRegionTest, LargeRegionsAreComplete) {
    constexpr uint32_t rows = 2000;
    constexpr uint32_t slices = 2;
    const Extent extent = {5001, rows, slices};
    const auto side = [&](size_t offset, uint32_t pitch) {
        return Side{.offset = offset,
                    .region = {3, 1, 0, extent.width, extent.height, extent.depth},
                    .pitch = pitch,
                    .slicePitch = pitch * (rows + 5)};
    };
    const Side to = side(9, 5555);
    const Side from = side(2, 5100);
    Block dst = allocatedBlock(Kind::Device, to.rowOffset(rows, slices));
    const Block src = allocatedBlock(Kind::Host, from.rowOffset(rows, slices));
    copyRegion(dst, to, src, from);
    run();
    dst.expectAsModelled();
}

} // namespace causeway::black_box
