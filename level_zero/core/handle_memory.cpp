#include "level_zero/core/handle_memory.h"

#include <cstddef>

namespace causeway::core {
namespace {

/// How many other handles are released before one is given out again.
constexpr size_t minIdle = 64;

} // namespace

Handle *HandleMemory::acquire() {
    const MutexLock lock(mutex_);
    if (idle_.size() > minIdle) {
        Handle *handle = idle_.front();
        idle_.pop_front();
        return handle;
    }
    return &handles_.emplace_back(dispatch_);
}

void HandleMemory::release(Handle *handle) noexcept {
    const MutexLock lock(mutex_);
    try {
        idle_.push_back(handle);
    } catch (...) { // NOLINT(bugprone-empty-catch): out of memory; it is not given out again
    }
}

} // namespace causeway::core
