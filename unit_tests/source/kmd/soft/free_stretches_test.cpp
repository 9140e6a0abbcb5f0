#include "source/kmd/soft/free_stretches.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace causeway::kmd::soft {
namespace {

TEST(FreeStretchesTest, TakesTheFirstThatFits) {
    FreeStretches free(100);
    auto a = free.take(10, 1);
    auto b = free.take(20, 1);
    auto c = free.take(30, 1);
    EXPECT_EQ(a.key(), 0U);
    EXPECT_EQ(b.key(), 10U);
    EXPECT_EQ(c.key(), 30U);
    free.put(std::move(b));
    EXPECT_EQ(free.take(21, 1).key(), 60U);
    EXPECT_EQ(free.take(20, 1).key(), 10U);
}

TEST(FreeStretchesTest, AlignsAndUsesTheGapLater) {
    FreeStretches free(256);
    EXPECT_EQ(free.take(1, 1).key(), 0U);
    EXPECT_EQ(free.take(64, 64).key(), 64U);
    EXPECT_EQ(free.take(63, 1).key(), 1U);
    EXPECT_EQ(free.take(128, 64).key(), 128U);
    EXPECT_TRUE(free.take(1, 1).empty());
}

TEST(FreeStretchesTest, NothingFitsWhereAlignmentLeavesTooLittle) {
    FreeStretches free(100);
    EXPECT_EQ(free.take(1, 1).key(), 0U);
    EXPECT_TRUE(free.take(64, 64).empty());
    EXPECT_TRUE(free.take(UINT64_MAX, 1).empty());
    EXPECT_EQ(free.take(36, 64).key(), 64U);
}

TEST(FreeStretchesTest, NeighboursJoinInAnyOrder) {
    for (const std::vector<size_t> &order :
         {std::vector<size_t>{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}}) {
        FreeStretches free(30);
        std::vector<StretchNode> nodes(3);
        for (auto &node : nodes) {
            node = free.take(10, 1);
        }
        for (const size_t i : order) {
            free.put(std::move(nodes[i]));
        }
        EXPECT_EQ(free.take(30, 1).key(), 0U);
    }
}

TEST(FreeStretchesTest, RandomUseNeverOverlapsAndAllComesBack) {
    constexpr uint64_t total = 4096;
    FreeStretches free(total);
    std::vector<StretchNode> taken;
    std::vector<bool> used(total, false);
    const auto mark = [&](const StretchNode &node, bool value) {
        for (uint64_t i = 0; i < node.mapped().sizeBytes; ++i) {
            ASSERT_NE(used[node.key() + i], value);
            used[node.key() + i] = value;
        }
    };
    std::mt19937 random(7); // NOLINT(cert-msc51-cpp): the same sequence each time
    for (int round = 0; round < 3000; ++round) {
        auto node = free.take(1 + random() % 100, uint64_t{1} << random() % 6);
        if (!node.empty()) {
            mark(node, true);
            taken.push_back(std::move(node));
        } else if (!taken.empty() && random() % 2 == 0) {
            std::swap(taken[random() % taken.size()], taken.back());
            mark(taken.back(), false);
            free.put(std::move(taken.back()));
            taken.pop_back();
        }
    }
    for (auto &node : taken) {
        free.put(std::move(node));
    }
    EXPECT_EQ(free.take(total, 1).key(), 0U);
}

} // namespace
} // namespace causeway::kmd::soft
