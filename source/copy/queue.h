#pragma once

#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/os/os.h"
#include "source/copy/commands.h"
#include "source/copy/data_mover.h"
#include "source/copy/failure_latch.h"
#include "source/copy/fence.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace causeway::copy {

/// Runs batches one after another, in the order of submission, on a thread of its own that starts
/// with the first ones. Queues run beside each other; events order what one does after the other.
///
/// Threads: submit(), synchronize() and stop() from any, several at once. The destructor: nobody is
/// in another call. Batches, and what they keep alive, are let go without a lock held, on the
/// queue's thread, before they count as done.
///
/// Failure policy: a command that fails sets the latch, and with it ends the work of all queues
/// that share it: nothing of the rest is signalled, fences fail, synchronize() and later submits
/// tell the first error. A thread that cannot start fails its submit and nothing else.
class Queue {
  public:
    /// All outlive the queue.
    Queue(Os &os, DataMover &mover, FailureLatch &latch) : os_(os), mover_(mover), latch_(latch) {}

    /// stop(), and waits for the end.
    ~Queue();
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;

    /// Takes the batches, all of them, and returns at once. `fence`, if any, is signalled when they
    /// are done.
    /// Errors: OutOfHostMemory (no thread), the latch's, Unknown (stopped); then nothing was taken
    /// and the fence is as it was.
    Result<void> submit(std::vector<BatchRef> batches, std::shared_ptr<Fence> fence = nullptr)
        EXCLUDES(mutex_);

    /// Waits `timeoutNs` (0: only looks, UINT64_MAX: for ever) until all that was submitted before
    /// is done: true; false when time is up. Errors: the latch's; Unknown (stopped).
    Result<bool> synchronize(uint64_t timeoutNs) EXCLUDES(mutex_);

    /// Begins the end and does not wait for it: it comes within 100 ms and the command that runs
    /// now, even where that waits for an event that nobody signals. What is not done is dropped,
    /// its fences fail.
    void stop() noexcept EXCLUDES(mutex_);

  private:
    struct Submission {
        std::vector<BatchRef> batches;
        std::shared_ptr<Fence> fence;
    };

    void run() noexcept EXCLUDES(mutex_);
    [[nodiscard]] std::optional<Submission> next() EXCLUDES(mutex_);
    [[nodiscard]] bool runAll(const std::vector<BatchRef> &batches) noexcept;
    void finish(Fence *fence, bool isDone) noexcept EXCLUDES(mutex_);
    [[nodiscard]] Error reason() const noexcept;

    Os &os_;
    DataMover &mover_;
    FailureLatch &latch_;
    std::atomic<bool> stopping_{false}; ///< set under the mutex, read without by waiting commands

    Mutex mutex_;
    std::condition_variable_any changed_; ///< of all that the mutex guards
    std::deque<Submission> pending_ GUARDED_BY(mutex_);
    uint64_t submitted_ GUARDED_BY(mutex_) = 0; ///< submissions so far
    uint64_t finished_ GUARDED_BY(mutex_) = 0;  ///< done, or failed
    std::thread thread_ GUARDED_BY(mutex_);
};

} // namespace causeway::copy
