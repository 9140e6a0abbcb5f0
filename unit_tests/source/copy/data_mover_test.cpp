#include "source/copy/data_mover.h"

#include "shared/os/linux_os.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/memory/result_checks.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <utility>

namespace causeway::copy {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t arenaBytes = size_t{256} << 10;

/// Everything is worth sharing, in chunks of a page.
constexpr MoverLimits sharedLimits = {.threads = 3, .splitFromBytes = 1, .chunkBytes = 4096};
constexpr MoverLimits aloneLimits = {.threads = 1};

/// A region by offsets in an arena.
struct Shape {
    uint64_t dst = 0;
    uint64_t src = 0;
    uint64_t dstRow = 0;
    uint64_t srcRow = 0;
    uint64_t dstSlice = 0;
    uint64_t srcSlice = 0;
    uint64_t width = 0;
    uint64_t height = 1;
    uint64_t depth = 1;

    [[nodiscard]] uint64_t dstOf(uint64_t z, uint64_t y) const {
        return dst + z * dstSlice + y * dstRow;
    }

    [[nodiscard]] uint64_t srcOf(uint64_t z, uint64_t y) const {
        return src + z * srcSlice + y * srcRow;
    }
};

/// The model: all bytes are read before one is written.
void copyInModel(Bytes &bytes, const Shape &shape) {
    const Bytes before = bytes;
    for (uint64_t z = 0; z < shape.depth; ++z) {
        for (uint64_t y = 0; y < shape.height; ++y) {
            for (uint64_t x = 0; x < shape.width; ++x) {
                bytes[shape.dstOf(z, y) + x] = before[shape.srcOf(z, y) + x];
            }
        }
    }
}

class DataMoverTest : public fakes::ResourceCheckedTest {
  protected:
    DataMoverTest() {
        std::ranges::generate(arena_, [&] { return static_cast<uint8_t>(random_()); });
    }

    uint64_t pick(uint64_t first, uint64_t last) {
        return std::uniform_int_distribution<uint64_t>(first, last)(random_);
    }

    uint64_t at(uint64_t offset) { return reinterpret_cast<uint64_t>(arena_.data()) + offset; }

    CopyRegion regionOf(const Shape &shape) {
        return {.dst = {.address = at(shape.dst),
                        .rowPitch = shape.dstRow,
                        .slicePitch = shape.dstSlice},
                .src = {.address = at(shape.src),
                        .rowPitch = shape.srcRow,
                        .slicePitch = shape.srcSlice},
                .widthBytes = shape.width,
                .height = shape.height,
                .depth = shape.depth};
    }

    /// Sizes up to the given ones, pitches with and without gaps; at most `room` bytes a side.
    Shape pickShape(uint64_t width, uint64_t height, uint64_t depth, uint64_t room) {
        Shape shape = {.width = pick(0, width), .height = pick(0, height), .depth = pick(0, depth)};
        const auto gap = [&] { return pick(0, 2) == 0 ? pick(0, 40) : 0; };
        shape.dstRow = shape.width + gap();
        shape.srcRow = shape.width + gap();
        shape.dstSlice = shape.dstRow * shape.height + gap();
        shape.srcSlice = shape.srcRow * shape.height + gap();
        EXPECT_LE(std::max(shape.dstSlice, shape.srcSlice) * shape.depth, room);
        return shape;
    }

    void expectCopiesLikeModel(DataMover &mover, const Shape &shape) {
        Bytes expected = arena_;
        copyInModel(expected, shape);
        ASSERT_TRUE(succeeds(mover.copy(regionOf(shape))));
        ASSERT_TRUE(arena_ == expected)
            << shape.width << " x " << shape.height << " x " << shape.depth << " from " << shape.src
            << " to " << shape.dst;
    }

    void expectFillsLikeModel(DataMover &mover,
                              const FillPattern &pattern,
                              uint64_t offset,
                              uint64_t sizeBytes) {
        Bytes expected = arena_;
        for (uint64_t i = 0; i < sizeBytes; ++i) {
            expected[offset + i] =
                std::to_integer<uint8_t>(pattern.bytes()[i % pattern.bytes().size()]);
        }
        ASSERT_TRUE(succeeds(
            mover.fill({.address = at(offset), .sizeBytes = sizeBytes, .pattern = pattern})));
        ASSERT_TRUE(arena_ == expected) << pattern.bytes().size() << " in " << sizeBytes;
    }

    FillPattern pickPattern(size_t sizeBytes) {
        std::vector<std::byte> bytes(sizeBytes);
        std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random_()); });
        return must(FillPattern::make(bytes));
    }

    std::mt19937_64 random_{20260101}; // NOLINT(cert-msc51-cpp): the same in every run
    Bytes arena_ = Bytes(arenaBytes);
    fakes::FaultyOs os_{linuxOs()};
    DataMover alone_{os_, aloneLimits};
    DataMover shared_{os_, sharedLimits};
};

TEST_F(DataMoverTest, RegionsAreCopiedLikeTheModel) {
    constexpr uint64_t half = arenaBytes / 2;
    for (int i = 0; i < 150; ++i) {
        Shape shape =
            i % 3 == 0 ? pickShape(20000, 2, 2, half - 8192) : pickShape(60, 30, 6, half - 8192);
        shape.dst = pick(0, 8191);
        shape.src = half + pick(0, 8191);
        if (i % 2 == 0) {
            std::swap(shape.dst, shape.src);
        }
        expectCopiesLikeModel(i % 4 == 0 ? alone_ : shared_, shape);
    }
}

TEST_F(DataMoverTest, OverlappingLinearCopiesAreMemmove) {
    for (int i = 0; i < 100; ++i) {
        const Shape shape = {
            .dst = pick(0, 20000), .src = pick(0, 20000), .width = pick(0, 100000)};
        expectCopiesLikeModel(i % 2 == 0 ? alone_ : shared_, shape);
    }
}

TEST_F(DataMoverTest, OverlapsByOneByteInBothDirections) {
    for (DataMover *mover : {&alone_, &shared_}) {
        expectCopiesLikeModel(*mover, {.dst = 1, .src = 0, .width = 50000});
        expectCopiesLikeModel(*mover, {.dst = 0, .src = 1, .width = 50000});
        expectCopiesLikeModel(*mover, {.dst = 49999, .src = 0, .width = 50000});
        expectCopiesLikeModel(*mover, {.dst = 0, .src = 49999, .width = 50000});
        expectCopiesLikeModel(*mover, {.dst = 7, .src = 7, .width = 50000});
    }
}

TEST_F(DataMoverTest, OverlappingRegionsOfEqualPitchesAreMemmove) {
    for (int i = 0; i < 150; ++i) {
        Shape shape = pickShape(60, 30, 6, arenaBytes / 2);
        shape.dstRow = shape.srcRow;
        shape.dstSlice = shape.srcSlice;
        const uint64_t extent = shape.dstSlice * shape.depth;
        shape.dst = pick(0, extent);
        shape.src = pick(0, extent);
        expectCopiesLikeModel(i % 2 == 0 ? alone_ : shared_, shape);
    }
}

TEST_F(DataMoverTest, OverlappingRegionsOfOtherPitchesWriteTheDestinationOnly) {
    for (int i = 0; i < 100; ++i) {
        Shape shape = pickShape(60, 30, 6, arenaBytes / 2);
        shape.dst = pick(0, 2000);
        shape.src = pick(0, 2000);
        Bytes expected = arena_;
        ASSERT_TRUE(succeeds(shared_.copy(regionOf(shape))));
        for (uint64_t z = 0; z < shape.depth; ++z) {
            for (uint64_t y = 0; y < shape.height; ++y) {
                std::copy_n(&arena_[shape.dstOf(z, y)], shape.width, &expected[shape.dstOf(z, y)]);
            }
        }
        ASSERT_TRUE(arena_ == expected);
    }
}

TEST_F(DataMoverTest, PatternsOfEverySizeRepeatFromTheStart) {
    for (size_t size = 1; size <= FillPattern::longest; size *= 2) {
        const FillPattern pattern = pickPattern(size);
        for (const uint64_t length :
             {uint64_t{0}, uint64_t{1}, size, 3 * size + 1, uint64_t{2047}, uint64_t{50001}}) {
            for (const uint64_t offset : {0U, 1U, 4095U}) {
                expectFillsLikeModel(alone_, pattern, offset, length);
                expectFillsLikeModel(shared_, pattern, offset, length);
            }
        }
    }
}

TEST_F(DataMoverTest, OtherPatternSizesAreErrors) {
    const std::vector<std::byte> bytes(256);
    for (const size_t size : {0U, 3U, 5U, 6U, 7U, 96U, 127U, 129U, 256U}) {
        EXPECT_TRUE(failsWith(FillPattern::make(std::span(bytes).first(size)), Status::InvalidSize))
            << size;
    }
}

TEST_F(DataMoverTest, WhatWrapsIsAnErrorAndWritesNothing) {
    const Bytes before = arena_;
    EXPECT_TRUE(failsWith(
        shared_.fill({.address = at(0), .sizeBytes = UINT64_MAX, .pattern = pickPattern(4)}),
        Status::InvalidSize));
    EXPECT_TRUE(failsWith(
        shared_.copy(
            {.dst = {.address = at(0)}, .src = {.address = at(8)}, .widthBytes = UINT64_MAX}),
        Status::InvalidSize));
    EXPECT_EQ(arena_, before);
}

TEST_F(DataMoverTest, SmallWorkIsTheCallersAlone) {
    DataMover mover(os_, {.threads = 4, .splitFromBytes = 65536, .chunkBytes = 4096});
    expectCopiesLikeModel(mover, {.dst = 0, .src = 100000, .width = 65535});
    EXPECT_EQ(os_.calls(fakes::OsCall::StartThread), 0U);
    expectCopiesLikeModel(mover, {.dst = 0, .src = 65535, .width = 65536});
    EXPECT_EQ(os_.calls(fakes::OsCall::StartThread), 0U) << "overlapping sides are not shared out";
    expectCopiesLikeModel(mover, {.dst = 0, .src = 100000, .width = 65536});
    EXPECT_EQ(os_.calls(fakes::OsCall::StartThread), 3U);
}

TEST_F(DataMoverTest, WithoutThreadsTheCallerDoesAll) {
    os_.failKind(fakes::OsCall::StartThread, EAGAIN);
    expectCopiesLikeModel(shared_, {.dst = 3, .src = 130000, .width = 100000});
    expectFillsLikeModel(shared_, pickPattern(16), 5, 100000);
    EXPECT_GE(os_.faults(), 2U);
}

TEST_F(DataMoverTest, LimitsOfTheMachineAreBounded) {
    const MoverLimits limits = DataMover::limitsOfMachine();
    EXPECT_GE(limits.threads, 1U);
    EXPECT_LE(limits.threads, 8U);
}

} // namespace
} // namespace causeway::copy
