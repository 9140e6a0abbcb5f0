#pragma once

#include "level_zero/core/context_ref.h"
#include "level_zero/core/device.h"
#include "shared/base/result.h"
#include "source/copy/queue.h"

#include <level_zero/ze_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace causeway::core {

/// What a queue was asked to be.
struct QueueShape {
    uint32_t ordinal = 0;
    uint32_t index = 0;
    ze_command_queue_flags_t flags = 0;
    ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_DEFAULT;
    ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
};

/// A command queue, also the one inside an immediate command list. Keeps its context alive.
/// Threads: any.
class CommandQueue {
  public:
    CommandQueue(ContextRef owner, const Device &device, const QueueShape &shape)
        : owner_(std::move(owner))
        , device_(device)
        , shape_(shape)
        , queue_(owner_.context->services().os,
                 owner_.context->services().mover,
                 owner_.context->failures()) {}

    /// In synchronous mode returns when the work is done. Errors: those of copy::Queue::submit, and
    /// in synchronous mode of synchronize.
    Result<void> submit(std::vector<copy::BatchRef> batches,
                        std::shared_ptr<copy::Fence> fence = nullptr);

    /// Waits `timeoutNs` (0: only looks, UINT64_MAX: for ever) for all that was submitted before.
    /// Errors: NotReady when time is up, those of copy::Queue::synchronize.
    Result<void> synchronize(uint64_t timeoutNs);

    /// See copy::Queue::stop.
    void stop() noexcept { queue_.stop(); }

    [[nodiscard]] const ContextRef &owner() const { return owner_; }

    [[nodiscard]] const Context &context() const { return *owner_.context; }

    [[nodiscard]] const Device &device() const { return device_; }

    [[nodiscard]] const QueueShape &shape() const { return shape_; }

  private:
    const ContextRef owner_;
    const Device &device_;
    const QueueShape shape_;
    copy::Queue queue_;
};

/// Waits for all that was submitted to any of them. Where work of some failed: the first error,
/// once the others are done too.
Result<void> synchronizeAll(std::span<const std::shared_ptr<CommandQueue>> queues);

} // namespace causeway::core
