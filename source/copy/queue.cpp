#include "source/copy/queue.h"

#include "source/copy/batch_runner.h"
#include "source/copy/word_wait.h"

#include <utility>

namespace causeway::copy {
namespace {

Error destroyedError() {
    return {Status::Unknown, "the queue was destroyed before the batch was done"};
}

} // namespace

Queue::~Queue() {
    std::thread thread;
    {
        const MutexLock lock(mutex_);
        stopping_ = true;
        thread = std::move(thread_);
    }
    changed_.notify_all();
    if (thread.joinable()) {
        thread.join();
    }
    failAll(nullptr, destroyedError());
}

Result<void> Queue::submit(std::shared_ptr<const CommandBatch> batch,
                           std::shared_ptr<Fence> fence) {
    Submission submission = {.batch = std::move(batch), .fence = std::move(fence)};
    Result<void> accepted;
    {
        const MutexLock lock(mutex_);
        accepted = accept(submission);
    }
    changed_.notify_all();
    if (!accepted && submission.fence != nullptr) {
        submission.fence->fail(accepted.error());
    }
    return accepted;
}

/// Takes the submission only where it succeeds.
Result<void> Queue::accept(Submission &submission) {
    if (!error_ && !thread_.joinable()) {
        if (auto thread = os_.startThread("causeway-queue", [this] { run(); })) {
            thread_ = std::move(*thread);
        } else {
            // What depends on this batch may be submitted next: it must not run either.
            error_ = describe(thread.error(), "starting the thread of a queue");
        }
    }
    if (error_) {
        return std::unexpected(*error_);
    }
    pending_.push_back(std::move(submission));
    ++submitted_;
    return {};
}

Result<bool> Queue::synchronize(uint64_t timeoutNs) {
    const Deadline deadline = Deadline::after(os_, timeoutNs);
    const MutexLock lock(mutex_);
    const uint64_t last = submitted_;
    while (!error_ && completed_ < last) {
        if (deadline.hasPassed(os_)) {
            return false;
        }
        if (const auto end = deadline.when()) {
            changed_.wait_until(mutex_, *end);
        } else {
            changed_.wait(mutex_);
        }
    }
    if (error_) {
        return std::unexpected(*error_);
    }
    return true;
}

void Queue::run() {
    while (auto submission = next()) {
        auto done = runBatch(os_, mover_, *submission->batch, stopping_);
        submission->batch.reset();
        if (!done) {
            failAll(submission->fence.get(), done.error());
        } else if (*done) {
            complete(submission->fence.get());
        } else {
            failAll(submission->fence.get(), destroyedError());
        }
    }
}

std::optional<Queue::Submission> Queue::next() {
    const MutexLock lock(mutex_);
    while (pending_.empty() && !stopping_) {
        changed_.wait(mutex_);
    }
    if (stopping_) {
        return std::nullopt;
    }
    Submission submission = std::move(pending_.front());
    pending_.pop_front();
    return submission;
}

/// Fence and count change together, so that neither is ahead of the other for those who look.
void Queue::complete(Fence *fence) {
    {
        const MutexLock lock(mutex_);
        ++completed_;
        if (fence != nullptr) {
            fence->signal();
        }
    }
    changed_.notify_all();
}

/// Ends the queue: `fence`, if any, is that of the batch that was taken last.
void Queue::failAll(Fence *fence, const Error &error) {
    std::deque<Submission> dropped;
    {
        const MutexLock lock(mutex_);
        error_ = error;
        dropped.swap(pending_);
    }
    changed_.notify_all();
    if (fence != nullptr) {
        fence->fail(error);
    }
    for (const Submission &submission : dropped) {
        if (submission.fence != nullptr) {
            submission.fence->fail(error);
        }
    }
}

} // namespace causeway::copy
