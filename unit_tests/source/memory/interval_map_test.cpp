#include "source/memory/interval_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace causeway::memory {
namespace {

/// Counts on as a mapping's offset does.
struct Offset {
    uint64_t offset = 0;

    void advance(uint64_t bytes) { offset += bytes; }
};

using Map = IntervalMap<Offset>;

struct Stretch {
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t offset = 0;

    bool operator==(const Stretch &) const = default;
};

std::vector<Stretch> contentsOf(const Map &map) {
    std::vector<Stretch> stretches;
    for (const auto &[start, entry] : map) {
        stretches.push_back({start, entry.end, entry.value.offset});
    }
    return stretches;
}

TEST(IntervalMapTest, FindsTheStretchThatHoldsAnAddress) {
    Map map;
    map.insert(10, 20, {100});

    EXPECT_EQ(map.find(9), map.end());
    EXPECT_EQ(map.find(10), map.begin());
    EXPECT_EQ(map.find(19), map.begin());
    EXPECT_EQ(map.find(20), map.end());
}

TEST(IntervalMapTest, FindsNothingWhenEmpty) {
    const Map map;

    EXPECT_EQ(map.find(0), map.end());
    EXPECT_EQ(map.firstFrom(0), map.end());
    EXPECT_FALSE(map.overlaps(0, UINT64_MAX));
    EXPECT_EQ(map.firstGap(3, 4), 3U);
    EXPECT_EQ(map.size(), 0U);
}

TEST(IntervalMapTest, FirstFromIsTheHolderOrTheNextOne) {
    Map map;
    map.insert(10, 20, {});
    const auto second = map.insert(30, 40, {});

    EXPECT_EQ(map.firstFrom(0), map.begin());
    EXPECT_EQ(map.firstFrom(19), map.begin());
    EXPECT_EQ(map.firstFrom(20), second);
    EXPECT_EQ(map.firstFrom(39), second);
    EXPECT_EQ(map.firstFrom(40), map.end());
}

TEST(IntervalMapTest, OverlapIsAboutBytesNotBorders) {
    Map map;
    map.insert(10, 20, {});

    EXPECT_FALSE(map.overlaps(0, 10));
    EXPECT_TRUE(map.overlaps(0, 11));
    EXPECT_TRUE(map.overlaps(12, 13));
    EXPECT_TRUE(map.overlaps(19, 30));
    EXPECT_FALSE(map.overlaps(20, 30));
    EXPECT_TRUE(map.overlaps(0, 100));
}

TEST(IntervalMapTest, CoversAcrossStretchesThatTouch) {
    Map map;
    map.insert(10, 20, {});
    map.insert(20, 30, {});
    map.insert(31, 40, {});

    EXPECT_TRUE(map.covers(12, 30));
    EXPECT_FALSE(map.covers(12, 31));
    EXPECT_EQ(map.firstGap(12, 40), 30U);
    EXPECT_EQ(map.firstGap(5, 40), 5U);
    EXPECT_EQ(map.firstGap(31, 50), 40U);
}

TEST(IntervalMapTest, SplitAdvancesTheUpperPartOnly) {
    Map map;
    map.insert(10, 20, {100});

    EXPECT_TRUE(map.splitAt(14));

    EXPECT_EQ(contentsOf(map), (std::vector<Stretch>{{10, 14, 100}, {14, 20, 104}}));
}

TEST(IntervalMapTest, SplitAtABorderOrInAGapDoesNothing) {
    Map map;
    map.insert(10, 20, {100});

    EXPECT_FALSE(map.splitAt(10));
    EXPECT_FALSE(map.splitAt(20));
    EXPECT_FALSE(map.splitAt(5));

    EXPECT_EQ(contentsOf(map), (std::vector<Stretch>{{10, 20, 100}}));
}

TEST(IntervalMapTest, JoinTakesASplitBack) {
    Map map;
    map.insert(10, 20, {100});
    map.splitAt(14);

    map.joinAt(14);

    EXPECT_EQ(contentsOf(map), (std::vector<Stretch>{{10, 20, 100}}));
}

TEST(IntervalMapTest, MoveTakesWhatBeginsInTheStretch) {
    Map map;
    map.insert(0, 10, {1});
    map.insert(10, 20, {2});
    map.insert(20, 40, {3});
    map.insert(40, 50, {4});
    Map target;
    target.insert(60, 70, {5});

    map.moveTo(5, 30, target);

    EXPECT_EQ(contentsOf(map), (std::vector<Stretch>{{0, 10, 1}, {40, 50, 4}}));
    EXPECT_EQ(contentsOf(target), (std::vector<Stretch>{{10, 20, 2}, {20, 40, 3}, {60, 70, 5}}));
}

TEST(IntervalMapTest, HoldsStretchesUpToTheLastAddress) {
    Map map;
    map.insert(UINT64_MAX - 10, UINT64_MAX, {});

    EXPECT_NE(map.find(UINT64_MAX - 1), map.end());
    EXPECT_EQ(map.find(UINT64_MAX), map.end());
    EXPECT_TRUE(map.covers(UINT64_MAX - 10, UINT64_MAX));
}

TEST(BordersTest, UndoTakesBackTwoCutsInOneStretch) {
    Map map;
    map.insert(10, 40, {100});

    const Borders borders(map, 20, 30);
    ASSERT_EQ(map.size(), 3U);
    borders.undo();

    EXPECT_EQ(contentsOf(map), (std::vector<Stretch>{{10, 40, 100}}));
}

TEST(BordersTest, UndoLeavesBordersThatWereThereBefore) {
    Map map;
    map.insert(10, 40, {100});
    map.splitAt(20);

    const Borders borders(map, 20, 30);
    borders.undo();

    EXPECT_EQ(contentsOf(map), (std::vector<Stretch>{{10, 20, 100}, {20, 40, 110}}));
}

TEST(BordersTest, UndoOfNoCutDoesNothing) {
    Map map;
    map.insert(20, 30, {100});

    const Borders borders(map, 20, 30);
    borders.undo();

    EXPECT_EQ(contentsOf(map), (std::vector<Stretch>{{20, 30, 100}}));
}

} // namespace
} // namespace causeway::memory
