#pragma once

#include <cassert>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace causeway::memory {

/// Ordered, non-overlapping stretches of address space with a value each. Look-ups and changes cost
/// O(log n + stretches touched). Not thread-safe: its owner locks.
///
/// Value is copied when a stretch is split; `Value::advance(bytes)` is then called on the upper
/// part, so that a mapping can move its offset on.
template <typename Value>
class IntervalMap {
  public:
    struct Entry {
        uint64_t end = 0; ///< one past the last byte
        Value value;
    };

    using Map = std::map<uint64_t, Entry>;
    using iterator = typename Map::iterator;
    using const_iterator = typename Map::const_iterator;

    [[nodiscard]] iterator begin() { return map_.begin(); }

    [[nodiscard]] iterator end() { return map_.end(); }

    [[nodiscard]] const_iterator begin() const { return map_.begin(); }

    [[nodiscard]] const_iterator end() const { return map_.end(); }

    [[nodiscard]] size_t size() const { return map_.size(); }

    /// The stretch that holds `address`, or end().
    [[nodiscard]] iterator find(uint64_t address) {
        auto it = map_.upper_bound(address);
        if (it == map_.begin()) {
            return map_.end();
        }
        --it;
        return address < it->second.end ? it : map_.end();
    }

    [[nodiscard]] const_iterator find(uint64_t address) const {
        return const_cast<IntervalMap *>(this)->find(address);
    }

    /// The stretch that holds `address`, or the first one after it, or end().
    [[nodiscard]] iterator firstFrom(uint64_t address) {
        auto it = find(address);
        return it != map_.end() ? it : map_.lower_bound(address);
    }

    [[nodiscard]] const_iterator firstFrom(uint64_t address) const {
        return const_cast<IntervalMap *>(this)->firstFrom(address);
    }

    [[nodiscard]] bool overlaps(uint64_t start, uint64_t end) const {
        const auto it = firstFrom(start);
        return it != map_.end() && it->first < end;
    }

    /// Whether every byte of [start, end) lies in some stretch. start < end.
    [[nodiscard]] bool covers(uint64_t start, uint64_t end) const {
        return firstGap(start, end) == end;
    }

    /// The first address of [start, end) that no stretch holds, or `end`.
    [[nodiscard]] uint64_t firstGap(uint64_t start, uint64_t end) const {
        uint64_t at = start;
        for (auto it = find(start); at < end; ++it) {
            if (it == map_.end() || it->first > at) {
                return at;
            }
            at = it->second.end;
        }
        return end;
    }

    /// [start, end) must not overlap anything.
    iterator insert(uint64_t start, uint64_t end, Value value) {
        assert(start < end && !overlaps(start, end));
        return map_.emplace(start, Entry{end, std::move(value)}).first;
    }

    void erase(iterator it) { map_.erase(it); }

    /// Moves the stretches that begin in [start, end) to `target`, which must have no overlap with
    /// them. Allocates nothing and cannot fail.
    void moveTo(uint64_t start, uint64_t end, IntervalMap &target) {
        auto it = map_.lower_bound(start);
        while (it != map_.end() && it->first < end) {
            target.map_.insert(map_.extract(it++));
        }
    }

    /// Undoes splitAt where nothing changed since: the stretches that meet at `address` become one.
    void joinAt(uint64_t address) {
        const auto upper = map_.find(address);
        assert(upper != map_.end() && upper != map_.begin());
        const auto lower = std::prev(upper);
        assert(lower->second.end == address);
        lower->second.end = upper->second.end;
        map_.erase(upper);
    }

    /// Makes `address` a border: a stretch that holds it in its middle becomes two (true).
    bool splitAt(uint64_t address) {
        const auto it = find(address);
        if (it == map_.end() || it->first == address) {
            return false;
        }
        Entry upper = it->second;
        upper.value.advance(address - it->first);
        map_.emplace(address, std::move(upper));
        it->second.end = address;
        return true;
    }

  private:
    Map map_;
};

/// Makes both ends of [start, end) borders; undo() takes back exactly the splits that this made.
/// For a change that may fail after the map was made ready for it.
template <typename Value>
class Borders {
  public:
    Borders(IntervalMap<Value> &map, uint64_t start, uint64_t end)
        : map_(map)
        , start_(start)
        , end_(end)
        , atStart_(map.splitAt(start))
        , atEnd_(map.splitAt(end)) {}

    void undo() const {
        // From above: with both cuts in one stretch, the upper one was made in what the lower one
        // left.
        if (atEnd_) {
            map_.joinAt(end_);
        }
        if (atStart_) {
            map_.joinAt(start_);
        }
    }

  private:
    IntervalMap<Value> &map_;
    uint64_t start_;
    uint64_t end_;
    bool atStart_;
    bool atEnd_;
};

} // namespace causeway::memory
