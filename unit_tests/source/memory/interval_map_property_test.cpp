#include "source/memory/interval_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>

namespace causeway::memory {
namespace {

constexpr uint64_t universe = 48; ///< addresses in use

/// Tells its stretch's origin and how far it was advanced, so that a wrong split shows.
struct Tag {
    uint64_t id = 0;
    uint64_t offset = 0;

    void advance(uint64_t bytes) { offset += bytes; }

    bool operator==(const Tag &) const = default;
};

using Map = IntervalMap<Tag>;

/// The same as an array with one cell for each address.
class NaiveMap {
  public:
    struct Cell {
        Tag tag;            ///< of this very address
        bool first = false; ///< of its stretch
    };

    [[nodiscard]] bool holds(uint64_t address) const { return at(address).has_value(); }

    [[nodiscard]] bool begins(uint64_t address) const {
        return holds(address) && at(address)->first;
    }

    [[nodiscard]] uint64_t startOf(uint64_t address) const {
        while (!at(address)->first) {
            --address;
        }
        return address;
    }

    [[nodiscard]] uint64_t endOf(uint64_t address) const {
        do {
            ++address;
        } while (holds(address) && !at(address)->first);
        return address;
    }

    [[nodiscard]] uint64_t firstHeld(uint64_t from) const {
        while (from < universe && !holds(from)) {
            ++from;
        }
        return from;
    }

    [[nodiscard]] uint64_t firstGap(uint64_t start, uint64_t end) const {
        while (start < end && holds(start)) {
            ++start;
        }
        return start;
    }

    [[nodiscard]] const Tag &tagAt(uint64_t address) const { return at(address)->tag; }

    void insert(uint64_t start, uint64_t end, Tag tag) {
        for (uint64_t address = start; address < end; ++address, tag.advance(1)) {
            cells_[address] = Cell{.tag = tag, .first = address == start};
        }
    }

    void eraseAt(uint64_t address) {
        const uint64_t end = endOf(address);
        for (uint64_t at = startOf(address); at < end; ++at) {
            cells_[at].reset();
        }
    }

    void setBorder(uint64_t address, bool border) { cells_[address]->first = border; }

    void take(uint64_t address, NaiveMap &from) {
        for (uint64_t end = from.endOf(address); address < end; ++address) {
            cells_[address] = std::exchange(from.cells_[address], std::nullopt);
        }
    }

  private:
    [[nodiscard]] const std::optional<Cell> &at(uint64_t address) const { return cells_[address]; }

    std::array<std::optional<Cell>, universe + 1> cells_; ///< the last stays empty
};

/// Drives both and compares them.
class IntervalMapProperty {
  public:
    explicit IntervalMapProperty(uint32_t seed) : random_(seed) {}

    void step() {
        static constexpr std::array<void (IntervalMapProperty::*)(), 7> actions = {
            &IntervalMapProperty::insert,
            &IntervalMapProperty::insert,
            &IntervalMapProperty::erase,
            &IntervalMapProperty::split,
            &IntervalMapProperty::join,
            &IntervalMapProperty::borders,
            &IntervalMapProperty::move};
        std::invoke(actions[below(actions.size())], this);
    }

    void compare() {
        compareContents(map_, naive_);
        compareContents(aside_, naiveAside_);
        const auto [start, end] = stretch();
        EXPECT_EQ(map_.overlaps(start, end), naive_.firstHeld(start) < end);
        EXPECT_EQ(map_.firstGap(start, end), naive_.firstGap(start, end));
        EXPECT_EQ(map_.covers(start, end), naive_.firstGap(start, end) == end);
        compareLookUps(below(universe));
    }

  private:
    uint64_t below(uint64_t limit) {
        return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random_);
    }

    std::pair<uint64_t, uint64_t> stretch() {
        const uint64_t start = below(universe);
        return {start, start + 1 + below(std::min<uint64_t>(universe - start, 12))};
    }

    void insert() {
        const auto [start, end] = stretch();
        if (naive_.firstHeld(start) < end || naiveAside_.firstHeld(start) < end) {
            return;
        }
        const Tag tag = {.id = ++lastId_, .offset = below(1000)};
        map_.insert(start, end, tag);
        naive_.insert(start, end, tag);
    }

    void erase() {
        const uint64_t address = below(universe);
        if (naive_.holds(address)) {
            map_.erase(map_.find(address));
            naive_.eraseAt(address);
        }
    }

    void split() {
        const uint64_t address = below(universe);
        const bool cuts = naive_.holds(address) && !naive_.begins(address);
        EXPECT_EQ(map_.splitAt(address), cuts);
        if (cuts) {
            naive_.setBorder(address, true);
        }
    }

    /// A split and its undoing: borders made by anything else may not be joined.
    void join() {
        const uint64_t address = below(universe);
        if (map_.splitAt(address)) {
            map_.joinAt(address);
        }
    }

    void borders() {
        const auto [start, end] = stretch();
        const Borders made(map_, start, end);
        EXPECT_TRUE(map_.find(start) == map_.end() || map_.find(start)->first == start);
        EXPECT_TRUE(map_.find(end) == map_.end() || map_.find(end)->first == end);
        made.undo();
    }

    /// To the map aside, and back from there what does not overlap.
    void move() {
        const auto [start, end] = stretch();
        const bool back = below(2) == 0;
        NaiveMap &from = back ? naiveAside_ : naive_;
        NaiveMap &to = back ? naive_ : naiveAside_;
        for (uint64_t address = start; address < end; ++address) {
            if (from.begins(address)) {
                to.take(address, from);
            }
        }
        Map &source = back ? aside_ : map_;
        source.moveTo(start, end, back ? map_ : aside_);
    }

    static void compareContents(const Map &map, const NaiveMap &naive) {
        uint64_t at = naive.firstHeld(0);
        for (const auto &[start, entry] : map) {
            ASSERT_EQ(start, at);
            ASSERT_EQ(entry.end, naive.endOf(at));
            ASSERT_EQ(entry.value, naive.tagAt(at));
            at = naive.firstHeld(entry.end);
        }
        EXPECT_EQ(at, universe);
    }

    void compareLookUps(uint64_t address) {
        const auto found = map_.find(address);
        ASSERT_EQ(found != map_.end(), naive_.holds(address));
        if (found != map_.end()) {
            EXPECT_EQ(found->first, naive_.startOf(address));
        }
        const uint64_t held = naive_.firstHeld(address);
        const auto first = map_.firstFrom(address);
        ASSERT_EQ(first != map_.end(), held < universe);
        if (first != map_.end()) {
            EXPECT_EQ(first->first, naive_.startOf(held));
        }
    }

    std::mt19937 random_;
    Map map_;
    Map aside_; ///< never overlaps map_
    NaiveMap naive_;
    NaiveMap naiveAside_;
    uint64_t lastId_ = 0;
};

TEST(IntervalMapPropertyTest, BehavesAsAnArrayOfAddresses) {
    constexpr uint32_t seeds = 40;
    constexpr int stepsPerSeed = 500;
    for (uint32_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        IntervalMapProperty property(seed);
        for (int step = 0; step < stepsPerSeed && !testing::Test::HasFailure(); ++step) {
            SCOPED_TRACE(testing::Message() << "step " << step);
            property.step();
            property.compare();
        }
    }
}

} // namespace
} // namespace causeway::memory
