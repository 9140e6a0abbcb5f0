#pragma once

#include <cstdint>

namespace causeway::fakes {

/// From the k-th on (1: the next), every operator new of the calling thread throws bad_alloc, until
/// healAllocations or the end of the thread. Other threads do not notice.
void failAllocationsFrom(uint64_t k) noexcept;

/// All succeed again. True: some have failed.
bool healAllocations() noexcept;

/// Calls `attempt` with allocations that fail from the first on, from the second on, and so on, and
/// after each one that met a failure `check(what attempt answered)`. Answers what the first attempt
/// answered that met none.
template <typename Attempt, typename Check>
auto sweepAllocations(const Attempt &attempt, const Check &check) {
    for (uint64_t k = 1;; ++k) {
        failAllocationsFrom(k);
        auto answer = attempt();
        // A call that makes so many allocations is a mistake of the test.
        if (!healAllocations() || k == 1000) {
            return answer;
        }
        check(answer);
    }
}

} // namespace causeway::fakes
