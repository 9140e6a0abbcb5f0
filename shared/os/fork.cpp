#include "shared/os/fork.h"

#include "shared/base/mutex.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <vector>

namespace causeway {
namespace {

/// Where the kernel allows it, in a page that it wipes in a forked child: so is also known the
/// child of a clone(2) that runs no fork handlers. 0 stands for "not yet asked for in this
/// process".
std::atomic<uint64_t> *generationWord() noexcept {
    const auto pageBytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    void *page =
        ::mmap(nullptr, pageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) {
        static_cast<void>(::madvise(page, pageBytes, MADV_WIPEONFORK));
        return new (page) std::atomic<uint64_t>(0);
    }
    static constinit std::atomic<uint64_t> unwiped{0}; // the fork handler wipes it
    return &unwiped;
}

struct Generations {
    std::atomic<uint64_t> *const current = generationWord();
    std::atomic<uint64_t> last{0}; ///< a child begins with its parent's
};

/// Made when the library is loaded, so that no lock is needed to find it.
Generations &generations() {
    static auto *const instance = new Generations;
    return *instance;
}

/// All watchers of the process. Locked from beforeFork() to the end of the fork, in the child too:
/// there its one thread is the one that locked.
struct Watchers {
    Mutex mutex;
    std::vector<ForkWatcher *> all GUARDED_BY(mutex);
};

Watchers &watchers() {
    static auto *const instance = new Watchers;
    return *instance;
}

void beforeFork() noexcept NO_THREAD_SAFETY_ANALYSIS {
    watchers().mutex.lock();
    for (ForkWatcher *watcher : watchers().all) {
        watcher->beforeFork();
    }
}

void afterForkInParent() noexcept NO_THREAD_SAFETY_ANALYSIS {
    for (ForkWatcher *watcher : watchers().all) {
        watcher->afterForkInParent();
    }
    watchers().mutex.unlock();
}

void afterForkInChild() noexcept NO_THREAD_SAFETY_ANALYSIS {
    generations().current->store(0, std::memory_order_relaxed);
    for (ForkWatcher *watcher : watchers().all) {
        watcher->afterForkInChild();
    }
    watchers().all.clear(); // they are the parent's
    watchers().mutex.unlock();
}

/// The driver is linked -z nodelete: the handlers stay as long as the process.
[[maybe_unused]] const bool armed = [] {
    static_cast<void>(processGeneration()); // 1, since nobody else asks yet
    static_cast<void>(watchers());
    return ::pthread_atfork(&beforeFork, &afterForkInParent, &afterForkInChild) == 0;
}();

} // namespace

uint64_t processGeneration() noexcept {
    Generations &all = generations();
    uint64_t current = all.current->load(std::memory_order_acquire);
    if (current == 0) {
        const uint64_t next = all.last.fetch_add(1) + 1;
        // Of two threads that ask first, one names the generation.
        if (all.current->compare_exchange_strong(current, next)) {
            current = next;
        }
    }
    return current;
}

bool isForkedChild() noexcept {
    return processGeneration() > 1;
}

ForkWatch::ForkWatch(ForkWatcher &watcher) : watcher_(watcher) {
    const MutexLock lock(watchers().mutex);
    watchers().all.push_back(&watcher);
}

ForkWatch::~ForkWatch() {
    const MutexLock lock(watchers().mutex);
    std::erase(watchers().all, &watcher_);
}

} // namespace causeway
