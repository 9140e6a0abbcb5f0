#include "source/copy/worker_pool.h"

#include "shared/base/log.h"

#include <algorithm>
#include <utility>

namespace causeway::copy {

WorkerPool::~WorkerPool() {
    std::vector<std::thread> threads;
    {
        const MutexLock lock(mutex_);
        stopping_ = true;
        threads = std::move(threads_);
    }
    wake_.notify_all();
    for (std::thread &thread : threads) {
        thread.join();
    }
}

void WorkerPool::run(uint64_t units, const std::function<void(uint64_t)> &body) {
    Job job{.body = body, .units = units};
    if (units <= 1) {
        work(job);
        return;
    }
    {
        const MutexLock lock(mutex_);
        startWorkers(units - 1);
        jobs_.push_back(&job);
    }
    wake_.notify_all();
    work(job);
    const MutexLock lock(mutex_);
    jobs_.remove(&job); // from here on nobody joins it
    while (job.helpers > 0) {
        jobLeft_.wait(mutex_);
    }
}

size_t WorkerPool::workers() {
    const MutexLock lock(mutex_);
    return threads_.size();
}

void WorkerPool::work(Job &job) {
    // Relaxed: what units write is published by the mutex that helpers leave through.
    for (uint64_t unit = job.next.fetch_add(1, std::memory_order_relaxed); unit < job.units;
         unit = job.next.fetch_add(1, std::memory_order_relaxed)) {
        job.body(unit);
    }
}

void WorkerPool::startWorkers(uint64_t wanted) {
    const uint64_t count = std::min<uint64_t>(wanted, mostWorkers_);
    threads_.reserve(mostWorkers_); // a started thread must have its place
    while (threads_.size() < count) {
        auto thread = os_.startThread("causeway-copy", [this] { runWorker(); });
        if (!thread) {
            log(LogLevel::Debug, "starting a copy worker: errno {}", thread.error().value);
            return;
        }
        threads_.push_back(std::move(*thread));
    }
}

void WorkerPool::runWorker() {
    const MutexLock lock(mutex_);
    while (!stopping_) {
        if (jobs_.empty()) {
            wake_.wait(mutex_);
            continue;
        }
        Job &job = *jobs_.front();
        ++job.helpers;
        mutex_.unlock();
        work(job);
        mutex_.lock();
        jobs_.remove(&job); // all its units are taken
        if (--job.helpers == 0) {
            jobLeft_.notify_all();
        }
    }
}

} // namespace causeway::copy
