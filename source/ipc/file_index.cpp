#include "source/ipc/file_index.h"

#include <algorithm>

namespace causeway::ipc {

void FileIndex::add(const void *owner,
                    uint64_t file,
                    const memory::PhysicalMemoryRef &object,
                    uint64_t address,
                    Kept kept) {
    const MutexLock lock(mutex_);
    if (entries_.size() >= sweepAt_) {
        sweep();
        sweepAt_ = std::max(sweepAt_, 2 * entries_.size());
    }
    Entry &entry = entries_[{owner, file}];
    if (entry.kept == Kept::Yes && entry.object.lock() == object) {
        kept = Kept::Yes; // promised, and still true
    }
    kept_ += (kept == Kept::Yes ? 1 : 0);
    kept_ -= (entry.kept == Kept::Yes ? 1 : 0);
    entry = Entry{.object = object, .address = address, .kept = kept};
}

bool FileIndex::mayKeep(const void *owner, uint64_t file, size_t most) {
    const MutexLock lock(mutex_);
    if (kept_ >= most) {
        sweep();
    }
    const auto entry = entries_.find({owner, file});
    return kept_ < most || (entry != entries_.end() && entry->second.kept == Kept::Yes);
}

void FileIndex::sweep() {
    std::erase_if(entries_, [](const auto &item) { return item.second.object.expired(); });
    recount();
}

void FileIndex::recount() {
    kept_ = static_cast<size_t>(std::ranges::count_if(
        entries_, [](const auto &item) { return item.second.kept == Kept::Yes; }));
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
    recount();
}

size_t FileIndex::size() const {
    const MutexLock lock(mutex_);
    return entries_.size();
}

} // namespace causeway::ipc
