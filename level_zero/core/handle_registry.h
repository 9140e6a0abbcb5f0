#pragma once

#include "level_zero/core/handle_memory.h"
#include "shared/base/mutex.h"

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace causeway::core {

/// The live objects of one kind, by the handle that the application holds. A handle is looked up
/// here before anything behind it is read, so that a stale or foreign one is an error and never a
/// crash.
///
/// Owns the objects, together with the calls in progress: what `find` returned lives until that
/// call ends, also when another thread destroys the handle meanwhile.
/// Threads: any; look-ups share the lock.
template <typename T>
class HandleRegistry {
  public:
    /// `memory` outlives the registry.
    explicit HandleRegistry(HandleMemory &memory) : memory_(memory) {}

    HandleRegistry(const HandleRegistry &) = delete;
    HandleRegistry &operator=(const HandleRegistry &) = delete;

    ~HandleRegistry() {
        for (const auto &entry : objects_) {
            memory_.release(entry.first);
        }
    }

    /// Makes the object live.
    [[nodiscard]] Handle *add(std::shared_ptr<T> object) {
        // Undone by the deleter if the map cannot grow.
        const auto release = [this](Handle *unused) { memory_.release(unused); };
        std::unique_ptr<Handle, decltype(release)> handle(memory_.acquire(), release);
        const WriterLock lock(mutex_);
        objects_.emplace(handle.get(), std::move(object));
        return handle.release();
    }

    /// Null where `handle` is not live.
    [[nodiscard]] std::shared_ptr<T> find(const void *handle) const {
        const ReaderLock lock(mutex_);
        const auto found = objects_.find(key(handle));
        return found == objects_.end() ? nullptr : found->second;
    }

    /// Ends the handle; the object goes with the last reference. Null where it was not live.
    [[nodiscard]] std::shared_ptr<T> remove(const void *handle) {
        const WriterLock lock(mutex_);
        auto node = objects_.extract(key(handle));
        if (node.empty()) {
            return nullptr;
        }
        memory_.release(node.key());
        return std::move(node.mapped());
    }

    /// Those for which `wanted(object)`, which must not call back.
    template <typename Filter>
    [[nodiscard]] std::vector<std::shared_ptr<T>> findAll(const Filter &wanted) const {
        std::vector<std::shared_ptr<T>> found;
        const ReaderLock lock(mutex_);
        for (const auto &[handle, object] : objects_) {
            if (wanted(*object)) {
                found.push_back(object);
            }
        }
        return found;
    }

    /// Calls `body(object)` for each; it must not call back.
    template <typename Body>
    void forEach(const Body &body) const {
        const ReaderLock lock(mutex_);
        for (const auto &entry : objects_) {
            body(*entry.second);
        }
    }

    /// Ends the handles of those for which `wanted(object)`, which must not call back.
    template <typename Filter>
    void removeAll(const Filter &wanted) noexcept {
        decltype(objects_) removed; // without the lock: the end of an object can take long
        const WriterLock lock(mutex_);
        for (auto it = objects_.begin(); it != objects_.end();) {
            const auto at = it++;
            if (wanted(*at->second)) {
                memory_.release(at->first);
                removed.insert(objects_.extract(at)); // the node moves: nothing is allocated
            }
        }
    }

    [[nodiscard]] size_t size() const {
        const ReaderLock lock(mutex_);
        return objects_.size();
    }

  private:
    /// Compared, never followed.
    static Handle *key(const void *handle) {
        return static_cast<Handle *>(const_cast<void *>(handle));
    }

    HandleMemory &memory_;
    mutable SharedMutex mutex_;
    std::map<Handle *, std::shared_ptr<T>> objects_ GUARDED_BY(mutex_);
};

} // namespace causeway::core
