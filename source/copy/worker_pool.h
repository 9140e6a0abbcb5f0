#pragma once

#include "shared/base/mutex.h"
#include "shared/os/os.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <thread>
#include <vector>

namespace causeway::copy {

/// Threads that help whoever has much to do. They start with the first work that can use them and
/// sleep between; the destructor joins them.
///
/// Threads: run() from any, several at once (they share the workers). The destructor: nobody runs.
/// Failure policy: threads that cannot be had are done without; the caller does all in the end.
class WorkerPool {
  public:
    /// At most `mostWorkers` threads, besides those that call run().
    WorkerPool(Os &os, unsigned mostWorkers) : os_(os), mostWorkers_(mostWorkers) {}

    ~WorkerPool();
    WorkerPool(const WorkerPool &) = delete;
    WorkerPool &operator=(const WorkerPool &) = delete;

    /// Calls body(0) to body(units - 1) once each, in any order and on several threads, and returns
    /// when all are done. `body` must not throw. What the calls wrote is seen by the caller.
    void run(uint64_t units, const std::function<void(uint64_t)> &body) EXCLUDES(mutex_);

    /// Threads that run now.
    [[nodiscard]] size_t workers() EXCLUDES(mutex_);

  private:
    /// One call of run(), on its caller's stack.
    struct Job {
        const std::function<void(uint64_t)> &body;
        const uint64_t units;
        std::atomic<uint64_t> next{0}; ///< the first unit that nobody has taken
        unsigned helpers = 0;          ///< workers in it; guarded by mutex_
    };

    static void work(Job &job);
    void startWorkers(uint64_t wanted) REQUIRES(mutex_);
    void runWorker() EXCLUDES(mutex_);

    Os &os_;
    const unsigned mostWorkers_;
    Mutex mutex_;
    std::condition_variable_any wake_;    ///< there is a job, or the end
    std::condition_variable_any jobLeft_; ///< the last helper has left a job
    std::list<Job *> jobs_
        GUARDED_BY(mutex_); ///< with units that nobody has taken, as far as known
    std::vector<std::thread> threads_ GUARDED_BY(mutex_);
    bool stopping_ GUARDED_BY(mutex_) = false;
};

} // namespace causeway::copy
