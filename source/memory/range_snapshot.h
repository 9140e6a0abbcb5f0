#pragma once

#include "shared/wire/ipc_handle.h"
#include "source/memory/physical_memory.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace causeway::memory {

/// Where imported memory came from: the handle it was opened with, and its object's place in the
/// table. Empty for this process's own memory.
struct ImportOrigin {
    std::shared_ptr<const wire::IpcHandle> handle;
    uint32_t object = 0;
};

/// A stretch of mapped address space at the moment of a snapshot.
struct SnapshotPiece {
    PhysicalMemoryRef object;
    uint64_t offset = 0; ///< in the object
    uint64_t sizeBytes = 0;
    Access access = Access::ReadWrite;
    uint64_t mappingId = 0; ///< which mapping it was: tells a changed layout from an unchanged one
    ImportOrigin origin;

    /// The mapping's id stands for its object.
    bool operator==(const SnapshotPiece &other) const {
        return mappingId == other.mappingId && offset == other.offset &&
               sizeBytes == other.sizeBytes && access == other.access;
    }
};

/// What lay along a window: complete, without holes, widened to whole pages. Holds the objects, so
/// that later map, unmap, destroy and free change nothing in it. Immutable after creation.
struct RangeSnapshot {
    uint64_t address = 0;     ///< of the window's first byte in the exporter
    uint64_t windowBytes = 0; ///< as asked for
    uint64_t leadBytes = 0;   ///< window start minus start of the first piece
    std::vector<SnapshotPiece> pieces;

    bool operator==(const RangeSnapshot &) const = default;
};

} // namespace causeway::memory
