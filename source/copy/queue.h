#pragma once

#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/os/os.h"
#include "source/copy/commands.h"
#include "source/copy/data_mover.h"
#include "source/copy/fence.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>

namespace causeway::copy {

/// Runs batches one after another, in the order of submission, on a thread of its own that starts
/// with the first one. Queues run beside each other; events order what one does after the other.
///
/// Threads: submit() and synchronize() from any, several at once. The destructor: nobody is in
/// another call. Batches, and what they keep alive, are let go without a lock held, on the queue's
/// thread, before the batch counts as done.
///
/// Failure policy: a command that fails, or a thread that cannot start, ends all work of the queue
/// for good: nothing of the rest runs, nothing of it is signalled, and its fences, synchronize()
/// and later submits tell the first error.
class Queue {
  public:
    /// `os` and `mover` outlive the queue.
    Queue(Os &os, DataMover &mover) : os_(os), mover_(mover) {}

    /// Ends within 100 ms and the command that runs now, even where that waits for an event that
    /// nobody signals. Batches that are not done are dropped, their fences fail.
    ~Queue();
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;

    /// Takes the batch and returns at once. `fence`, if any, is signalled when it is done.
    /// Errors: OutOfHostMemory (no thread), or the error that ended the queue; then the batch does
    /// not run and the fence fails with it.
    Result<void> submit(std::shared_ptr<const CommandBatch> batch,
                        std::shared_ptr<Fence> fence = nullptr) EXCLUDES(mutex_);

    /// Waits `timeoutNs` (0: only looks, UINT64_MAX: for ever) until all that was submitted before
    /// is done: true; false when time is up. Errors: the one that ended the queue.
    Result<bool> synchronize(uint64_t timeoutNs) EXCLUDES(mutex_);

  private:
    struct Submission {
        std::shared_ptr<const CommandBatch> batch;
        std::shared_ptr<Fence> fence;
    };

    Result<void> accept(Submission &submission) REQUIRES(mutex_);
    void run() EXCLUDES(mutex_);
    [[nodiscard]] std::optional<Submission> next() EXCLUDES(mutex_);
    void complete(Fence *fence) EXCLUDES(mutex_);
    void failAll(Fence *fence, const Error &error) EXCLUDES(mutex_);

    Os &os_;
    DataMover &mover_;
    std::atomic<bool> stopping_{false}; ///< set under the mutex, read without by waiting commands

    Mutex mutex_;
    std::condition_variable_any changed_; ///< of all that the mutex guards
    std::deque<Submission> pending_ GUARDED_BY(mutex_);
    uint64_t submitted_ GUARDED_BY(mutex_) = 0; ///< batches so far
    uint64_t completed_ GUARDED_BY(mutex_) = 0;
    std::optional<Error> error_ GUARDED_BY(mutex_);
    std::thread thread_ GUARDED_BY(mutex_);
};

} // namespace causeway::copy
