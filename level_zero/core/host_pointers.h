#pragma once

#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "source/memory/interval_map.h"

#include <cstdint>

namespace causeway::core {

/// Host memory that the application has announced for many transfers. The device reaches all host
/// memory as it is, so that this only keeps account: it owns nothing, and memory that goes without
/// being released is the application's affair. Threads: any.
class HostPointers {
  public:
    /// What lies within an announced stretch is announced. Errors: InvalidSize (0, or beyond the
    /// address space), OverlappingRegions (partly announced).
    Result<void> add(uint64_t address, uint64_t sizeBytes);

    /// Errors: InvalidArgument: no announced stretch begins there.
    Result<void> remove(uint64_t address);

    /// Where the stretch that holds the address begins. Errors: InvalidArgument.
    [[nodiscard]] Result<uint64_t> baseOf(uint64_t address) const;

  private:
    struct Nothing {
        void advance(uint64_t) {}
    };

    mutable Mutex mutex_;
    memory::IntervalMap<Nothing> stretches_ GUARDED_BY(mutex_);
};

} // namespace causeway::core
