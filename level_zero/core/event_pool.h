#pragma once

#include "level_zero/core/context_ref.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "source/copy/event_state.h"

#include <level_zero/ze_api.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace causeway::core {

/// Those that have a meaning.
inline constexpr ze_event_pool_flags_t eventPoolFlags =
    ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP |
    ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;

struct EventPoolShape {
    uint32_t count = 0; ///< of events, at least 1
    ze_event_pool_flags_t flags = 0;
};

/// Events' memory: a host allocation of its context, or one that another process shares. The first
/// 64 bytes say what it is, then follow `count` times copy::EventState, so that whoever opens it
/// needs nothing but the handle (README.md, Event pools).
///
/// Owns that memory, and keeps its context alive; events and recorded commands share it.
/// Threads: any.
class EventPool {
  public:
    /// Errors: those of MemoryManager::allocate.
    static Result<std::shared_ptr<EventPool>> create(ContextRef owner, const EventPoolShape &shape);

    /// Changes no event's state. Errors: those of IpcService::open; InvalidArgument (memory that is
    /// no event pool).
    static Result<std::shared_ptr<EventPool>> open(ContextRef owner,
                                                   const wire::HandleBytes &handle);
    ~EventPool();
    EventPool(const EventPool &) = delete;
    EventPool &operator=(const EventPool &) = delete;

    /// Errors: InvalidArgument (not made to be shared), those of IpcService::exportObject.
    Result<wire::HandleBytes> exportHandle();

    /// Errors: InvalidArgument (no such index).
    Result<copy::EventState *> at(uint32_t index);

    /// An event was created at `index`, which exists. In a pool of this process one that was given
    /// out before is reset; the first time it is left as it is, since a peer may have signalled it
    /// already.
    void claim(uint32_t index) noexcept EXCLUDES(mutex_);

    [[nodiscard]] const ContextRef &owner() const { return owner_; }

    [[nodiscard]] const Context &context() const { return *owner_.context; }

    [[nodiscard]] bool isImported() const { return isImported_; }

    [[nodiscard]] ze_event_pool_flags_t flags() const { return shape_.flags; }

    [[nodiscard]] bool hasTimestamps() const;

  private:
    EventPool(ContextRef owner, bool isImported)
        : owner_(std::move(owner)), isImported_(isImported) {}

    [[nodiscard]] Result<void> readHeader();
    [[nodiscard]] copy::EventState &stateAt(uint32_t index) const;

    const ContextRef owner_;
    const bool isImported_;
    uint64_t address_ = 0; ///< constant once made, like the shape; 0: there is no memory yet
    EventPoolShape shape_;
    Mutex mutex_;
    std::vector<bool> claimed_ GUARDED_BY(mutex_); ///< per index; empty where imported
};

} // namespace causeway::core
