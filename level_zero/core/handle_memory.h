#pragma once

#include "shared/base/mutex.h"

#include <level_zero/ze_ddi_common.h>

#include <deque>

namespace causeway::core {

/// What the handle of an object that can be destroyed points to: the four pointers that a loader
/// with ZE_extension_driver_ddi_handles reads before it calls the driver, and nothing else. The
/// object is found by the handle's address (HandleRegistry).
struct Handle {
    ze_handle_t dispatch = {};
};

/// Where handles come from. A released one stays readable for the life of the process and is given
/// out again only after many others: a loader that is passed a destroyed handle still finds its way
/// here, and here it is an error. Threads: any.
class HandleMemory {
  public:
    explicit HandleMemory(const ze_handle_t &dispatch) : dispatch_(dispatch) {}

    HandleMemory(const HandleMemory &) = delete;
    HandleMemory &operator=(const HandleMemory &) = delete;
    ~HandleMemory() = default;

    [[nodiscard]] Handle *acquire();
    void release(Handle *handle) noexcept;

  private:
    const ze_handle_t dispatch_;
    Mutex mutex_;
    std::deque<Handle> handles_ GUARDED_BY(mutex_); ///< grows; its elements never move
    std::deque<Handle *> idle_ GUARDED_BY(mutex_);  ///< the longest unused first
};

} // namespace causeway::core
