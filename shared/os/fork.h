#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

/// What fork(2) does to a driver: the child has copies of all memory, locks in whatever state the
/// parent's threads had them, descriptors, and none of the threads.
namespace causeway {

/// Which process of a line of forks this is: the same number in all its threads, another one in a
/// forked child. A load and a comparison. Any thread.
[[nodiscard]] uint64_t processGeneration() noexcept;

/// Whether a parent of this process, before it forked, had asked for its generation.
[[nodiscard]] bool isForkedChild() noexcept;

/// One T for each process: a forked child finds a new one, so that it never waits for a lock that a
/// thread of its parent held. The parent's is never touched there, and none is ever destroyed:
/// threads and static destructors of the application may outlive any order. Any thread.
template <typename T>
class PerProcess {
  public:
    T &get() {
        const uint64_t generation = processGeneration();
        Node *current = node_.load(std::memory_order_acquire);
        while (current == nullptr || current->generation != generation) {
            auto fresh = std::make_unique<Node>(generation, current);
            if (node_.compare_exchange_strong(current, fresh.get(), std::memory_order_acq_rel)) {
                current = fresh.release();
            }
        }
        return current->value;
    }

  private:
    struct Node {
        Node(uint64_t ofGeneration, Node *ofParent) : generation(ofGeneration), parent(ofParent) {}

        const uint64_t generation;
        Node *const parent; ///< so that leak checkers see it
        T value;
    };

    std::atomic<Node *> node_ = nullptr;
};

/// Something that holds descriptors which a forked child must not keep: a socket that the child
/// holds outlives the parent and never answers.
class ForkWatcher {
  public:
    ForkWatcher() = default;
    ForkWatcher(const ForkWatcher &) = delete;
    ForkWatcher &operator=(const ForkWatcher &) = delete;

    /// In the parent, by the thread that forks. Must not wait for long.
    virtual void beforeFork() noexcept = 0;
    virtual void afterForkInParent() noexcept = 0;
    /// By the child's only thread. Closes descriptors and takes no locks.
    virtual void afterForkInChild() noexcept = 0;

  protected:
    ~ForkWatcher() = default;
};

/// As long as it lives, forks call the watcher: make it the watcher's last member.
class ForkWatch {
  public:
    explicit ForkWatch(ForkWatcher &watcher);
    ForkWatch(const ForkWatch &) = delete;
    ForkWatch &operator=(const ForkWatch &) = delete;
    ~ForkWatch();

  private:
    ForkWatcher &watcher_;
};

} // namespace causeway
