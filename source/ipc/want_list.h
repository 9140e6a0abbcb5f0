#pragma once

#include "shared/wire/messages.h"

#include <algorithm>
#include <cstdint>
#include <deque>

namespace causeway::ipc {

/// The objects not received yet, as stretches of indices, and what was asked for last.
class WantList {
  public:
    explicit WantList(uint32_t objects) {
        if (objects > 0) {
            stretches_.push_back({0, objects});
        }
    }

    [[nodiscard]] bool empty() const { return stretches_.empty(); }

    /// Takes the next stretch of at most `most` objects; not empty() before.
    wire::Request take(wire::RequestType type, uint32_t most) {
        Stretch &next = stretches_.front();
        const uint32_t count = std::min(most, next.count);
        const wire::Request request = {
            .type = type, .token = {}, .first = next.first, .count = count};
        next.first += count;
        next.count -= count;
        if (next.count == 0) {
            stretches_.pop_front();
        }
        return request;
    }

    /// What was asked for and did not come is wanted again, first.
    void giveBack(uint32_t first, uint32_t count) {
        if (count > 0) {
            stretches_.push_front({first, count});
        }
    }

  private:
    struct Stretch {
        uint32_t first;
        uint32_t count;
    };

    std::deque<Stretch> stretches_;
};

} // namespace causeway::ipc
