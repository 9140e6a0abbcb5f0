#include "source/ipc/file_index.h"

#include <algorithm>

namespace causeway::ipc {

void FileIndex::add(const void *owner,
                    uint64_t file,
                    const memory::PhysicalMemoryRef &object,
                    uint64_t address) {
    const MutexLock lock(mutex_);
    if (entries_.size() >= sweepAt_) {
        std::erase_if(entries_, [](const auto &item) { return item.second.object.expired(); });
        sweepAt_ = std::max(sweepAt_, 2 * entries_.size());
    }
    entries_.insert_or_assign({owner, file}, Entry{.object = object, .address = address});
}

std::optional<FileIndex::Found> FileIndex::find(const void *owner, uint64_t file) const {
    const MutexLock lock(mutex_);
    const auto entry = entries_.find({owner, file});
    if (entry == entries_.end()) {
        return std::nullopt;
    }
    auto object = entry->second.object.lock();
    if (object == nullptr) {
        return std::nullopt;
    }
    return Found{.object = std::move(object), .address = entry->second.address};
}

void FileIndex::dropOwner(const void *owner) {
    const MutexLock lock(mutex_);
    std::erase_if(entries_, [owner](const auto &item) { return item.first.first == owner; });
}

size_t FileIndex::size() const {
    const MutexLock lock(mutex_);
    return entries_.size();
}

} // namespace causeway::ipc
