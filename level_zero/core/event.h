#pragma once

#include "level_zero/core/event_pool.h"
#include "shared/base/result.h"
#include "source/copy/commands.h"

#include <level_zero/ze_api.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace causeway::core {

/// One event of a pool, whose memory it keeps. Threads: any.
class Event {
  public:
    struct Scopes {
        ze_event_scope_flags_t signal = 0;
        ze_event_scope_flags_t wait = 0;
    };

    /// Changes nothing of the event's state; EventPool::claim does. Errors: those of EventPool::at.
    static Result<std::shared_ptr<Event>> create(std::shared_ptr<EventPool> pool,
                                                 ze_event_pool_handle_t poolHandle,
                                                 uint32_t index,
                                                 const Scopes &scopes);

    [[nodiscard]] copy::EventState &state() const { return state_; }

    [[nodiscard]] const std::shared_ptr<EventPool> &pool() const { return pool_; }

    [[nodiscard]] ze_event_pool_handle_t poolHandle() const { return poolHandle_; }

    [[nodiscard]] const Scopes &scopes() const { return scopes_; }

    [[nodiscard]] const Context &context() const { return *pool_->owner().context; }

    void hostSignal();

    /// Waits `timeoutNs` (0: only looks, UINT64_MAX: for ever). Errors: NotReady when time is up;
    /// of the context, where a command failed and the signal may never come.
    [[nodiscard]] Result<void> hostSynchronize(uint64_t timeoutNs) const;

    /// Errors: InvalidArgument (a pool without timestamps), NotReady.
    [[nodiscard]] Result<copy::EventTimestamps> timestamps() const;

  private:
    Event(std::shared_ptr<EventPool> pool,
          ze_event_pool_handle_t poolHandle,
          copy::EventState &state,
          const Scopes &scopes)
        : pool_(std::move(pool)), poolHandle_(poolHandle), state_(state), scopes_(scopes) {}

    const std::shared_ptr<EventPool> pool_;
    const ze_event_pool_handle_t poolHandle_;
    copy::EventState &state_;
    const Scopes scopes_;
};

} // namespace causeway::core
