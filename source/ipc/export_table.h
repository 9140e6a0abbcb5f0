#pragma once

#include "shared/base/mutex.h"
#include "source/ipc/export.h"

#include <map>
#include <memory>

namespace causeway::ipc {

/// The exports of this process by token, with how many Gets each has outstanding (ipc.md,
/// Counting). Threads: any; the lock is never held while an export is destroyed.
class ExportTable {
  public:
    using Reference = std::shared_ptr<const Export>;

    /// The export that an earlier Get made of the same unchanged layout, counted once more, or
    /// null.
    Reference findSame(const ExportKey &key, const memory::RangeSnapshot &snapshot);

    /// Adds a new export with count 1. Where another thread was faster with the same layout, that
    /// one is counted and returned instead.
    Reference add(Reference fresh);

    [[nodiscard]] Reference find(const wire::Token &token) const;

    /// Counts one Put; the last one removes the export. Unknown token or another owner: no effect.
    void put(const void *owner, const wire::Token &token);

    /// Removes the export of one allocation, however often it was got. The id, which is never used
    /// again, tells it from a later one at the same address.
    void revokeObject(const void *owner, uint64_t address, uint64_t mappingId);

    /// Removes every export of an owner.
    void dropOwner(const void *owner);

    [[nodiscard]] size_t size() const;

  private:
    struct Entry {
        Reference reference;
        uint64_t gets = 0;
    };

    Reference countSame(const ExportKey &key, const memory::RangeSnapshot &snapshot)
        REQUIRES(mutex_);

    mutable Mutex mutex_;
    std::map<wire::Token, Entry> byToken_ GUARDED_BY(mutex_);
    /// The newest export of each key: a changed layout replaces it here, while the older one lives
    /// on under its token until it is put.
    std::map<ExportKey, wire::Token> newest_ GUARDED_BY(mutex_);
};

} // namespace causeway::ipc
