#include "shared/base/checked.h"

#include <gtest/gtest.h>

namespace causeway {
namespace {

TEST(CheckedTest, AddGivesTheSumUpToTheGreatestValue) {
    EXPECT_EQ(checkedAdd(0, 0), 0U);
    EXPECT_EQ(checkedAdd(40, 2), 42U);
    EXPECT_EQ(checkedAdd(UINT64_MAX - 1, 1), UINT64_MAX);
    EXPECT_EQ(checkedAdd(UINT64_MAX, 0), UINT64_MAX);
    EXPECT_EQ(checkedAdd(0, UINT64_MAX), UINT64_MAX);
}

TEST(CheckedTest, AddGivesNothingWhereItWouldWrap) {
    EXPECT_FALSE(checkedAdd(UINT64_MAX, 1).has_value());
    EXPECT_FALSE(checkedAdd(1, UINT64_MAX).has_value());
    EXPECT_FALSE(checkedAdd(UINT64_MAX, UINT64_MAX).has_value());
    EXPECT_FALSE(checkedAdd(uint64_t{1} << 63, uint64_t{1} << 63).has_value());
}

TEST(CheckedTest, StretchUpToTheLimitFits) {
    EXPECT_TRUE(fitsWithin(0, 100, 100));
    EXPECT_TRUE(fitsWithin(60, 40, 100));
    EXPECT_TRUE(fitsWithin(0, UINT64_MAX, UINT64_MAX));
    EXPECT_TRUE(fitsWithin(UINT64_MAX - 1, 1, UINT64_MAX));
}

TEST(CheckedTest, EmptyStretchFitsAtTheLimitAndNotBeyond) {
    EXPECT_TRUE(fitsWithin(0, 0, 0));
    EXPECT_TRUE(fitsWithin(100, 0, 100));
    EXPECT_FALSE(fitsWithin(101, 0, 100));
}

TEST(CheckedTest, StretchBeyondTheLimitDoesNotFit) {
    EXPECT_FALSE(fitsWithin(0, 101, 100));
    EXPECT_FALSE(fitsWithin(60, 41, 100));
    EXPECT_FALSE(fitsWithin(0, 1, 0));
}

TEST(CheckedTest, StretchWhoseEndWouldWrapDoesNotFit) {
    EXPECT_FALSE(fitsWithin(UINT64_MAX, 2, 100));
    EXPECT_FALSE(fitsWithin(50, UINT64_MAX - 10, 100));
    EXPECT_FALSE(fitsWithin(UINT64_MAX, UINT64_MAX, UINT64_MAX));
}

TEST(CheckedTest, AlignDownClearsTheRest) {
    EXPECT_EQ(alignDown(0, 4096), 0U);
    EXPECT_EQ(alignDown(4095, 4096), 0U);
    EXPECT_EQ(alignDown(4096, 4096), 4096U);
    EXPECT_EQ(alignDown(UINT64_MAX, 4096), 0xfffffffffffff000U);
    EXPECT_EQ(alignDown(12345, 1), 12345U);
}

TEST(CheckedTest, AlignUpFillsTheRest) {
    EXPECT_EQ(alignUp(0, 4096), 0U);
    EXPECT_EQ(alignUp(1, 4096), 4096U);
    EXPECT_EQ(alignUp(4096, 4096), 4096U);
    EXPECT_EQ(alignUp(0xfffffffffffff000, 4096), 0xfffffffffffff000U);
    EXPECT_EQ(alignUp(UINT64_MAX, 1), UINT64_MAX);
}

TEST(CheckedTest, AlignUpGivesNothingWhereItWouldWrap) {
    EXPECT_FALSE(alignUp(0xfffffffffffff001, 4096).has_value());
    EXPECT_FALSE(alignUp(UINT64_MAX, 2).has_value());
}

TEST(CheckedTest, MultiplyGivesNothingWhereItWouldWrap) {
    EXPECT_EQ(checkedMultiply(0, UINT64_MAX), 0U);
    EXPECT_EQ(checkedMultiply(UINT64_MAX, 0), 0U);
    EXPECT_EQ(checkedMultiply(UINT64_MAX, 1), UINT64_MAX);
    EXPECT_EQ(checkedMultiply(uint64_t{1} << 32, (uint64_t{1} << 32) - 1), 0xffffffff00000000U);
    EXPECT_FALSE(checkedMultiply(uint64_t{1} << 32, uint64_t{1} << 32).has_value());
    EXPECT_FALSE(checkedMultiply(3, UINT64_MAX / 2).has_value());
}

TEST(CheckedTest, AlignedMeansWholeMultiple) {
    EXPECT_TRUE(isAligned(0, 4096));
    EXPECT_TRUE(isAligned(8192, 4096));
    EXPECT_TRUE(isAligned(3, 1));
    EXPECT_FALSE(isAligned(2048, 4096));
    EXPECT_FALSE(isAligned(UINT64_MAX, 2));
}

TEST(CheckedTest, PowersOfTwoHaveOneBit) {
    for (uint32_t bit = 0; bit < 64; ++bit) {
        EXPECT_TRUE(isPowerOfTwo(uint64_t{1} << bit)) << bit;
    }
    EXPECT_FALSE(isPowerOfTwo(0));
    EXPECT_FALSE(isPowerOfTwo(3));
    EXPECT_FALSE(isPowerOfTwo(UINT64_MAX));
}

} // namespace
} // namespace causeway
