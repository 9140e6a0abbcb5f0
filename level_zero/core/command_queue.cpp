#include "level_zero/core/command_queue.h"

namespace causeway::core {

Result<void> CommandQueue::submit(std::vector<copy::BatchRef> batches,
                                  std::shared_ptr<copy::Fence> fence) {
    auto submitted = queue_.submit(std::move(batches), std::move(fence));
    if (submitted && shape_.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS) {
        return synchronize(UINT64_MAX);
    }
    return submitted;
}

Result<void> CommandQueue::synchronize(uint64_t timeoutNs) {
    auto done = queue_.synchronize(timeoutNs);
    if (!done) {
        return forward(done);
    }
    return *done ? Result<void>() : notReady();
}

Result<void> synchronizeAll(std::span<const std::shared_ptr<CommandQueue>> queues) {
    Result<void> all;
    for (const auto &queue : queues) {
        auto done = queue->synchronize(UINT64_MAX);
        if (all && !done) {
            all = std::move(done);
        }
    }
    return all;
}

} // namespace causeway::core
