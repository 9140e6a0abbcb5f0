#pragma once

#include "level_zero/core/command_queue.h"
#include "source/copy/fence.h"

#include <memory>
#include <utility>

namespace causeway::core {

/// A fence of a command queue; keeps the context alive, not the queue. Threads: any.
class Fence {
  public:
    Fence(const std::shared_ptr<CommandQueue> &queue, std::shared_ptr<copy::Fence> fence)
        : owner_(queue->owner()), queue_(queue), fence_(std::move(fence)) {}

    [[nodiscard]] bool belongsTo(const std::shared_ptr<CommandQueue> &queue) const {
        return queue_.lock() == queue;
    }

    [[nodiscard]] const Context &context() const { return *owner_.context; }

    [[nodiscard]] const std::shared_ptr<copy::Fence> &state() const { return fence_; }

  private:
    const ContextRef owner_;
    const std::weak_ptr<CommandQueue> queue_;
    const std::shared_ptr<copy::Fence> fence_;
};

} // namespace causeway::core
