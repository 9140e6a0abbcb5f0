#pragma once

#include "level_zero/core/command_queue.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "source/copy/commands.h"

#include <level_zero/ze_api.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace causeway::core {

/// A command list. A regular one records commands until it is closed and keeps what they name until
/// it is reset or destroyed; an immediate one has a queue of its own that runs them at once.
/// Commands run in the order in which they were appended, whatever the flags permit.
///
/// Keeps its context alive. Threads: any.
class CommandList {
  public:
    /// A regular list.
    CommandList(ContextRef owner,
                const Device &device,
                uint32_t ordinal,
                ze_command_list_flags_t flags)
        : owner_(std::move(owner)), device_(device), ordinal_(ordinal), flags_(flags) {}

    /// An immediate list.
    explicit CommandList(std::shared_ptr<CommandQueue> queue)
        : owner_(queue->owner())
        , device_(queue->device())
        , ordinal_(queue->shape().ordinal)
        , queue_(std::move(queue)) {}

    /// The commands of one call: all of them or none.
    /// Errors: InvalidArgument (the list is closed); those of CommandQueue::submit.
    Result<void> append(std::vector<copy::Command> commands);

    /// Runs recorded batches between `before` and `after`; an immediate list only.
    Result<void> appendBatches(std::vector<copy::Command> before,
                               std::vector<copy::BatchRef> batches,
                               std::vector<copy::Command> after);

    /// Nothing to do for an immediate list, and for one that is closed.
    void close();
    /// Opens the list and forgets what was recorded; nothing to do for an immediate one.
    void reset();

    /// What a closed regular list recorded. Errors: InvalidArgument (open),
    /// InvalidCommandListType (immediate).
    [[nodiscard]] Result<copy::BatchRef> recorded() const;

    /// Null for a regular list.
    [[nodiscard]] const std::shared_ptr<CommandQueue> &queue() const { return queue_; }

    [[nodiscard]] const ContextRef &owner() const { return owner_; }

    [[nodiscard]] const Context &context() const { return *owner_.context; }

    [[nodiscard]] const Device &device() const { return device_; }

    [[nodiscard]] uint32_t ordinal() const { return ordinal_; }

    [[nodiscard]] ze_command_list_flags_t flags() const { return flags_; }

  private:
    const ContextRef owner_;
    const Device &device_;
    const uint32_t ordinal_;
    const ze_command_list_flags_t flags_ = 0;
    const std::shared_ptr<CommandQueue> queue_;

    mutable Mutex mutex_;
    std::vector<copy::Command> commands_ GUARDED_BY(mutex_); ///< of an open regular list
    copy::BatchRef batch_ GUARDED_BY(mutex_);                ///< of a closed one
};

} // namespace causeway::core
