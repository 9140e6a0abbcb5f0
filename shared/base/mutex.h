#pragma once

#include <mutex>
#include <shared_mutex>

// Clang's thread-safety analysis (-Wthread-safety -Werror in the clang presets); nothing elsewhere.
#if defined(__clang__)
#define CAUSEWAY_TSA(x) __attribute__((x))
#else
#define CAUSEWAY_TSA(x)
#endif

#define CAPABILITY(x) CAUSEWAY_TSA(capability(x))
#define SCOPED_CAPABILITY CAUSEWAY_TSA(scoped_lockable)
#define GUARDED_BY(x) CAUSEWAY_TSA(guarded_by(x))
#define REQUIRES(...) CAUSEWAY_TSA(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) CAUSEWAY_TSA(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) CAUSEWAY_TSA(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...) CAUSEWAY_TSA(release_capability(__VA_ARGS__))
#define RELEASE_GENERIC(...) CAUSEWAY_TSA(release_generic_capability(__VA_ARGS__))
#define EXCLUDES(...) CAUSEWAY_TSA(locks_excluded(__VA_ARGS__))
#define TRY_ACQUIRE(...) CAUSEWAY_TSA(try_acquire_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS CAUSEWAY_TSA(no_thread_safety_analysis)

namespace causeway {

/// std::mutex that the thread-safety analysis understands.
class CAPABILITY("mutex") Mutex {
  public:
    void lock() ACQUIRE() { mutex_.lock(); }

    void unlock() RELEASE() { mutex_.unlock(); }

    bool tryLock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }

  private:
    std::mutex mutex_;
};

class SCOPED_CAPABILITY MutexLock {
  public:
    explicit MutexLock(Mutex &mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }

    ~MutexLock() RELEASE() { mutex_.unlock(); }

    MutexLock(const MutexLock &) = delete;
    MutexLock &operator=(const MutexLock &) = delete;

  private:
    Mutex &mutex_;
};

/// Many readers or one writer.
class CAPABILITY("shared mutex") SharedMutex {
  public:
    void lock() ACQUIRE() { mutex_.lock(); }

    void unlock() RELEASE() { mutex_.unlock(); }

    void lockShared() ACQUIRE_SHARED() { mutex_.lock_shared(); }

    void unlockShared() RELEASE_GENERIC() { mutex_.unlock_shared(); }

  private:
    std::shared_mutex mutex_;
};

class SCOPED_CAPABILITY WriterLock {
  public:
    explicit WriterLock(SharedMutex &mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }

    ~WriterLock() RELEASE() { mutex_.unlock(); }

    WriterLock(const WriterLock &) = delete;
    WriterLock &operator=(const WriterLock &) = delete;

  private:
    SharedMutex &mutex_;
};

class SCOPED_CAPABILITY ReaderLock {
  public:
    explicit ReaderLock(SharedMutex &mutex) ACQUIRE_SHARED(mutex) : mutex_(mutex) {
        mutex_.lockShared();
    }

    ~ReaderLock() RELEASE_GENERIC() { mutex_.unlockShared(); }

    ReaderLock(const ReaderLock &) = delete;
    ReaderLock &operator=(const ReaderLock &) = delete;

  private:
    SharedMutex &mutex_;
};

} // namespace causeway
