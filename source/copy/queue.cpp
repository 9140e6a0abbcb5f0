#include "source/copy/queue.h"

#include "source/copy/batch_runner.h"
#include "source/copy/word_wait.h"

#include <utility>

namespace causeway::copy {

Queue::~Queue() {
    stop();
    std::thread thread;
    {
        const MutexLock lock(mutex_);
        thread = std::move(thread_);
    }
    if (thread.joinable()) {
        thread.join();
    }
}

void Queue::stop() noexcept {
    {
        const MutexLock lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
}

Result<void> Queue::submit(std::vector<BatchRef> batches, std::shared_ptr<Fence> fence) {
    if (auto failed = latch_.check(); !failed) {
        return failed;
    }
    {
        const MutexLock lock(mutex_);
        if (stopping_) {
            return std::unexpected(reason());
        }
        if (!thread_.joinable()) {
            auto thread = os_.startThread("causeway-queue", [this] { run(); });
            if (!thread) {
                return std::unexpected(describe(thread.error(), "starting the thread of a queue"));
            }
            thread_ = std::move(*thread);
        }
        pending_.push_back({.batches = std::move(batches), .fence = std::move(fence)});
        ++submitted_;
    }
    changed_.notify_all();
    return {};
}

Result<bool> Queue::synchronize(uint64_t timeoutNs) {
    const Deadline deadline = Deadline::after(os_, timeoutNs);
    {
        const MutexLock lock(mutex_);
        const uint64_t last = submitted_;
        while (finished_ < last) {
            if (deadline.hasPassed(os_)) {
                return false;
            }
            if (const auto end = deadline.when()) {
                changed_.wait_until(mutex_, *end);
            } else {
                changed_.wait(mutex_);
            }
        }
    }
    if (auto failed = latch_.check(); !failed) {
        return forward(failed);
    }
    if (stopping_) {
        return std::unexpected(reason());
    }
    return true;
}

void Queue::run() noexcept {
    while (auto submission = next()) {
        const bool isDone = runAll(submission->batches);
        submission->batches.clear();
        finish(submission->fence.get(), isDone);
    }
}

/// Where the queue stops, what is not begun comes all the same: none of its commands runs.
std::optional<Queue::Submission> Queue::next() {
    const MutexLock lock(mutex_);
    while (pending_.empty() && !stopping_) {
        changed_.wait(mutex_);
    }
    if (pending_.empty()) {
        return std::nullopt;
    }
    Submission submission = std::move(pending_.front());
    pending_.pop_front();
    return submission;
}

/// True: all commands are done. False: one failed, here or in another queue, or the queue ends.
bool Queue::runAll(const std::vector<BatchRef> &batches) noexcept {
    const StopFlags stop(stopping_, &latch_.flag());
    const auto done = runBatches(os_, mover_, batches, stop);
    if (!done) {
        latch_.set(done.error());
    }
    return done && *done;
}

/// Fence and count change together, so that neither is ahead of the other for those who look.
void Queue::finish(Fence *fence, bool isDone) noexcept {
    {
        const MutexLock lock(mutex_);
        ++finished_;
        if (fence != nullptr) {
            isDone ? fence->signal() : fence->fail(reason());
        }
    }
    changed_.notify_all();
}

/// Why something was not done.
Error Queue::reason() const noexcept {
    if (auto failed = latch_.check(); !failed) {
        return std::move(failed.error());
    }
    return errorOf(Status::Unknown, "the queue was destroyed before its work was done");
}

} // namespace causeway::copy
