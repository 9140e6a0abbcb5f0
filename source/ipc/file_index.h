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

    /// `file`: wire::fileIdentity. `owner`: the context, as an identity only.
    void add(const void *owner,
             uint64_t file,
             const memory::PhysicalMemoryRef &object,
             uint64_t address);

    /// Nothing where the object is gone.
    [[nodiscard]] std::optional<Found> find(const void *owner, uint64_t file) const;

    void dropOwner(const void *owner);

    /// For tests: also of objects that are gone and not yet forgotten.
    [[nodiscard]] size_t size() const;

  private:
    struct Entry {
        std::weak_ptr<memory::PhysicalMemory> object;
        uint64_t address = 0;
    };

    mutable Mutex mutex_;
    std::map<std::pair<const void *, uint64_t>, Entry> entries_ GUARDED_BY(mutex_);
    size_t sweepAt_ GUARDED_BY(mutex_) = 64; ///< entries at which those of dead objects go
};

} // namespace causeway::ipc
