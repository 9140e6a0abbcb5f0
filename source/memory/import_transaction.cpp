#include "source/memory/memory_manager.h"
#include "source/memory/page_rules.h"

namespace causeway::memory {

Result<ImportTransaction> MemoryManager::beginImport(uint64_t mappedBytes) {
    auto va = place(0, mappedBytes);
    if (!va) {
        return forward(va);
    }
    return ImportTransaction(*this, ReservedAddress(*space_, *va, mappedBytes));
}

Result<PhysicalMemoryRef> MemoryManager::importObject(const kmd::Device &device,
                                                      UniqueFd fd,
                                                      const kmd::ImportInfo &info) {
    return pool_->importObject(device, std::move(fd), info);
}

uint64_t MemoryManager::commitImport(ImportTransaction &transaction,
                                     uint64_t leadBytes,
                                     uint64_t windowBytes,
                                     const kmd::Device &device) {
    const uint64_t base = transaction.place_.va();
    const uint64_t window = base + leadBytes;
    // All that allocates comes first: with the lock held nodes only move, and nothing can fail.
    IntervalMap<Region> region;
    region.insert(base,
                  base + transaction.place_.sizeBytes(),
                  Region{.id = nextId(),
                         .allocation = {},
                         .import = ImportedWindow{
                             .address = window, .sizeBytes = windowBytes, .device = &device}});
    IntervalMap<Mapping> mappings;
    for (ImportTransaction::Piece &piece : transaction.pieces_) {
        const uint64_t va = base + piece.position;
        mappings.insert(va,
                        va + piece.sizeBytes,
                        Mapping{.object = piece.object,
                                .offset = piece.offset,
                                .access = piece.access,
                                .limit = piece.access,
                                .origin = piece.origin,
                                .id = nextId()});
    }
    const MutexLock lock(mutex_);
    mappings.moveTo(0, UINT64_MAX, mappings_);
    region.moveTo(0, UINT64_MAX, regions_);
    return window;
}

Result<void> MemoryManager::closeImport(uint64_t address) {
    Dropped dropped;
    const MutexLock lock(mutex_);
    const auto region = regions_.find(address);
    if (region != regions_.end()) {
        const Region &held = region->second.value;
        if (held.import && held.import->address == address) {
            return releaseRegion(region->first, region->second.end, dropped);
        }
    }
    return fail(Status::InvalidArgument, "{:#x} was not returned by an open", address);
}

Result<void> ImportTransaction::bind(std::span<const Piece> pieces) {
    const uint64_t va = place_.va();
    std::vector<kmd::Binding> bindings;
    bindings.reserve(pieces.size());
    for (const Piece &piece : pieces) {
        bindings.push_back({.va = va + piece.position,
                            .memory = piece.object.get(),
                            .offset = piece.offset,
                            .sizeBytes = piece.sizeBytes,
                            .access = piece.access});
    }
    const auto before = static_cast<ptrdiff_t>(pieces_.size());
    pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
    auto bound = manager_.space_->bind(bindings);
    if (!bound) {
        pieces_.erase(pieces_.begin() + before, pieces_.end());
    }
    return bound;
}

uint64_t ImportTransaction::commit(uint64_t leadBytes,
                                   uint64_t windowBytes,
                                   const kmd::Device &device) {
    const uint64_t address = manager_.commitImport(*this, leadBytes, windowBytes, device);
    place_.keep();
    return address;
}

} // namespace causeway::memory
