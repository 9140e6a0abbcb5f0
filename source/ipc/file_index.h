#pragma once

#include "shared/base/mutex.h"
#include "source/memory/physical_memory.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace causeway::ipc {

/// Which object a descriptor is of, among those whose descriptors a context gave to its
/// application. Keeps no memory alive. Threads: any.
class FileIndex {
  public:
    struct Found {
        memory::PhysicalMemoryRef object;
        uint64_t address = 0; ///< that the descriptor was asked for by; 0: a handle
    };

    /// Whether a descriptor of the object stays open as long as the object lives.
    enum class Kept : uint8_t { No, Yes };

    /// `file`: wire::fileIdentity. `owner`: the context, as an identity only.
    void add(const void *owner,
             uint64_t file,
             const memory::PhysicalMemoryRef &object,
             uint64_t address,
             Kept kept = Kept::No);

    /// Whether this one is kept, or fewer than `most` are; those of objects that are gone do not
    /// count.
    [[nodiscard]] bool mayKeep(const void *owner, uint64_t file, size_t most);

    /// Nothing where the object is gone.
    [[nodiscard]] std::optional<Found> find(const void *owner, uint64_t file) const;

    void dropOwner(const void *owner);

    /// For tests: also of objects that are gone and not yet forgotten.
    [[nodiscard]] size_t size() const;

  private:
    struct Entry {
        std::weak_ptr<memory::PhysicalMemory> object;
        uint64_t address = 0;
        Kept kept = Kept::No;
    };

    void sweep() REQUIRES(mutex_);
    void recount() REQUIRES(mutex_);

    mutable Mutex mutex_;
    std::map<std::pair<const void *, uint64_t>, Entry> entries_ GUARDED_BY(mutex_);
    size_t kept_ GUARDED_BY(mutex_) = 0;     ///< entries that are Kept::Yes
    size_t sweepAt_ GUARDED_BY(mutex_) = 64; ///< entries at which those of dead objects go
};

} // namespace causeway::ipc
