#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>

namespace causeway::black_box {

/// The bound of every wait: 10 s, or CAUSEWAY_TEST_DEADLINE_MS for slow machines and sanitizers.
std::chrono::milliseconds defaultWait();

/// A point in time that bounds several waits together.
class Deadline {
  public:
    explicit Deadline(std::chrono::milliseconds wait = defaultWait())
        : end_(std::chrono::steady_clock::now() + wait) {}

    [[nodiscard]] std::chrono::milliseconds remaining() const {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end_ - std::chrono::steady_clock::now());
        return std::max(left, std::chrono::milliseconds(0));
    }

    [[nodiscard]] bool isOver() const { return remaining().count() == 0; }

  private:
    std::chrono::steady_clock::time_point end_;
};

/// Waits for what another thread of this process (the driver's server) does in its own time and
/// announces to nobody, such as closing a connection whose peer left. Polls once a millisecond.
template <typename Condition>
bool eventually(Condition condition, Deadline deadline = Deadline()) {
    while (!condition()) {
        if (deadline.isOver()) {
            return false;
        }
        ::poll(nullptr, 0, 1);
    }
    return true;
}

} // namespace causeway::black_box
