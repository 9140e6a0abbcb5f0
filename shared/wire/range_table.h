#pragma once

#include "shared/base/memory_kinds.h"
#include "shared/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace causeway::wire {

inline constexpr uint16_t tableVersion = 1;

/// Offsets and lengths in a table are multiples of this (the smallest page of any device).
inline constexpr uint64_t tableGranularityBytes = 4096;

/// One file that travels: an object of its own, or a bank that holds several.
struct TableObject {
    ObjectKind kind = ObjectKind::Memfd;
    Placement placement = Placement::Device;
    uint64_t sizeBytes = 0; ///< of the file
    DeviceUuid device = {}; ///< whose memory it is

    bool operator==(const TableObject &) const = default;
};

/// A stretch of the window, in address order.
struct TablePiece {
    uint32_t object = 0; ///< index into RangeTable::objects
    Access access = Access::ReadWrite;
    uint64_t offset = 0;    ///< in the object's file
    uint64_t sizeBytes = 0; ///< > 0

    bool operator==(const TablePiece &) const = default;
};

/// The layout of a shared window: what the exporter tells the importer.
struct RangeTable {
    uint64_t windowBytes = 0; ///< what the application exported
    uint64_t leadBytes = 0;   ///< from the first piece's start to the window's first byte
    std::vector<TableObject> objects;
    std::vector<TablePiece> pieces;

    /// Sum of the pieces' lengths: lead + window + what fills the last page. Of a decoded table it
    /// cannot wrap.
    [[nodiscard]] uint64_t mappedBytes() const;

    bool operator==(const RangeTable &) const = default;
};

/// Writes what it is given; judges nothing. At most UINT32_MAX objects and as many pieces.
[[nodiscard]] std::vector<std::byte> encodeTable(const RangeTable &table);

/// The exact length that a table with these counts has; UINT64_MAX where a count exceeds
/// UINT32_MAX, which no table can hold.
[[nodiscard]] uint64_t encodedTableBytes(uint64_t objects, uint64_t pieces);

/// Judges untrusted bytes, which the caller has copied to memory that the peer cannot change.
/// Checks, in this order:
///  - magic, version (UnsupportedVersion, whatever the length of the rest);
///  - counts against the length (exact), at least one piece;
///  - each object: padding zero, enum values, size > 0 in tableGranularityBytes;
///  - each piece: padding zero, access, offset and length > 0 in tableGranularityBytes, object
///  index,
///    offset + length within the object (no sum that wraps);
///  - sum of lengths without overflow, windowBytes > 0, lead < first piece, lead + window <=
///  mapped,
///    the last piece not wholly beyond the window;
///  - every object is named by at least one piece.
/// Pieces may overlap in an object (one object mapped twice), and a piece's access may be None.
/// Allocates no more than the received bytes justify. Other errors: InvalidArgument naming the
/// field. Re-encoding an accepted table gives `bytes`.
[[nodiscard]] Result<RangeTable> decodeTable(std::span<const std::byte> bytes);

} // namespace causeway::wire
