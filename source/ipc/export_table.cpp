#include "source/ipc/export_table.h"

#include <vector>

namespace causeway::ipc {

ExportTable::Reference ExportTable::countSame(const ExportKey &key,
                                              const memory::RangeSnapshot &snapshot) {
    const auto newest = newest_.find(key);
    if (newest == newest_.end()) {
        return nullptr;
    }
    Entry &entry = byToken_.at(newest->second);
    if (entry.reference->snapshot != snapshot) {
        return nullptr;
    }
    ++entry.gets;
    return entry.reference;
}

ExportTable::Reference ExportTable::findSame(const ExportKey &key,
                                             const memory::RangeSnapshot &snapshot) {
    const MutexLock lock(mutex_);
    return countSame(key, snapshot);
}

ExportTable::Reference ExportTable::add(Reference fresh) {
    const MutexLock lock(mutex_);
    if (Reference same = countSame(fresh->key, fresh->snapshot)) {
        return same;
    }
    // Both maps or neither: the node that cannot fail afterwards is the second.
    const auto newest = newest_.insert_or_assign(fresh->key, fresh->token).first;
    try {
        byToken_.emplace(fresh->token, Entry{.reference = fresh, .gets = 1});
    } catch (...) {
        newest_.erase(newest);
        throw;
    }
    return fresh;
}

ExportTable::Reference ExportTable::find(const wire::Token &token) const {
    const MutexLock lock(mutex_);
    const auto entry = byToken_.find(token);
    return entry == byToken_.end() ? nullptr : entry->second.reference;
}

void ExportTable::put(const void *owner, const wire::Token &token) {
    Reference last; // dropped after the lock: the memory may go with it
    const MutexLock lock(mutex_);
    const auto entry = byToken_.find(token);
    if (entry == byToken_.end() || entry->second.reference->key.owner != owner ||
        --entry->second.gets > 0) {
        return;
    }
    last = std::move(entry->second.reference);
    byToken_.erase(entry);
    const auto newest = newest_.find(last->key);
    if (newest != newest_.end() && newest->second == token) {
        newest_.erase(newest);
    }
}

void ExportTable::revokeObject(const void *owner, uint64_t address, uint64_t mappingId) {
    Reference revoked; // dropped after the lock: the memory may go with it
    const MutexLock lock(mutex_);
    for (const auto kind : {wire::HandleKind::SingleDevice, wire::HandleKind::SingleHost}) {
        const ExportKey first = {
            .owner = owner, .kind = kind, .address = address, .mappingId = mappingId};
        const auto newest = newest_.lower_bound(first);
        if (newest != newest_.end() && newest->first.owner == owner && newest->first.kind == kind &&
            newest->first.address == address && newest->first.mappingId == mappingId) {
            const auto entry = byToken_.find(newest->second);
            revoked = std::move(entry->second.reference);
            byToken_.erase(entry);
            newest_.erase(newest);
            return;
        }
    }
}

void ExportTable::dropOwner(const void *owner) {
    std::map<wire::Token, Entry> dropped;
    const MutexLock lock(mutex_);
    for (auto it = byToken_.begin(); it != byToken_.end();) {
        const auto next = std::next(it);
        if (it->second.reference->key.owner == owner) {
            dropped.insert(byToken_.extract(it));
        }
        it = next;
    }
    std::erase_if(newest_, [owner](const auto &item) { return item.first.owner == owner; });
}

size_t ExportTable::size() const {
    const MutexLock lock(mutex_);
    return byToken_.size();
}

} // namespace causeway::ipc
