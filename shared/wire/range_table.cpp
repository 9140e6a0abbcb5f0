#include "shared/wire/range_table.h"

#include "shared/base/checked.h"
#include "shared/wire/wire_struct.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>
#include <utility>

namespace causeway::wire {
namespace {

constexpr uint32_t tableMagic = wireMagic("CWYT");

struct TableHeader {
    uint32_t magic = tableMagic;
    uint16_t version = tableVersion;
    uint16_t reserved = 0;
    uint32_t objectCount = 0;
    uint32_t pieceCount = 0;
    uint64_t windowBytes = 0;
    uint64_t leadBytes = 0;
};

static_assert(WireStruct<TableHeader>);
static_assert(sizeof(TableHeader) == 32);
static_assert(offsetof(TableHeader, magic) == offsetof(WirePrefix, magic));
static_assert(offsetof(TableHeader, version) == offsetof(WirePrefix, version));
static_assert(offsetof(TableHeader, reserved) == 6);
static_assert(offsetof(TableHeader, objectCount) == 8);
static_assert(offsetof(TableHeader, pieceCount) == 12);
static_assert(offsetof(TableHeader, windowBytes) == 16);
static_assert(offsetof(TableHeader, leadBytes) == 24);

struct ObjectRecord {
    uint8_t kind = 0;
    uint8_t placement = 0;
    std::array<uint8_t, 6> reserved = {};
    uint64_t sizeBytes = 0;
    DeviceUuid device = {};
};

static_assert(WireStruct<ObjectRecord>);
static_assert(sizeof(ObjectRecord) == 32);
static_assert(offsetof(ObjectRecord, kind) == 0);
static_assert(offsetof(ObjectRecord, placement) == 1);
static_assert(offsetof(ObjectRecord, reserved) == 2);
static_assert(offsetof(ObjectRecord, sizeBytes) == 8);
static_assert(offsetof(ObjectRecord, device) == 16);

struct PieceRecord {
    uint32_t object = 0;
    uint8_t access = 0;
    std::array<uint8_t, 3> reserved = {};
    uint64_t offset = 0;
    uint64_t sizeBytes = 0;
};

static_assert(WireStruct<PieceRecord>);
static_assert(sizeof(PieceRecord) == 24);
static_assert(offsetof(PieceRecord, object) == 0);
static_assert(offsetof(PieceRecord, access) == 4);
static_assert(offsetof(PieceRecord, reserved) == 5);
static_assert(offsetof(PieceRecord, offset) == 8);
static_assert(offsetof(PieceRecord, sizeBytes) == 16);

ObjectRecord toRecord(const TableObject &object) {
    return {.kind = static_cast<uint8_t>(object.kind),
            .placement = static_cast<uint8_t>(object.placement),
            .sizeBytes = object.sizeBytes,
            .device = object.device};
}

PieceRecord toRecord(const TablePiece &piece) {
    return {.object = piece.object,
            .access = static_cast<uint8_t>(piece.access),
            .offset = piece.offset,
            .sizeBytes = piece.sizeBytes};
}

TableObject fromRecord(const ObjectRecord &record) {
    return {.kind = static_cast<ObjectKind>(record.kind),
            .placement = static_cast<Placement>(record.placement),
            .sizeBytes = record.sizeBytes,
            .device = record.device};
}

TablePiece fromRecord(const PieceRecord &record) {
    return {.object = record.object,
            .access = static_cast<Access>(record.access),
            .offset = record.offset,
            .sizeBytes = record.sizeBytes};
}

bool isKnown(ObjectKind kind) {
    return kind == ObjectKind::Memfd || kind == ObjectKind::DmaBuf;
}

bool isKnown(Placement placement) {
    return placement == Placement::Device || placement == Placement::Host;
}

bool isKnown(Access access) {
    return access == Access::None || access == Access::ReadOnly || access == Access::ReadWrite;
}

/// A size or length in a table: at least one granule, whole granules.
bool isWholeGranules(uint64_t sizeBytes) {
    return sizeBytes > 0 && isAligned(sizeBytes, tableGranularityBytes);
}

/// Once this holds, every record that the counts promise is within `bytes`.
Result<void> checkCounts(const TableHeader &header, uint64_t receivedBytes) {
    const uint64_t expected = encodedTableBytes(header.objectCount, header.pieceCount);
    if (receivedBytes != expected) {
        return fail(Status::InvalidArgument,
                    "range table: object count {} and piece count {} make {} bytes, received {}",
                    header.objectCount,
                    header.pieceCount,
                    expected,
                    receivedBytes);
    }
    if (header.reserved != 0) {
        return fail(Status::InvalidArgument,
                    "range table: reserved field is {:#06x}, expected 0",
                    header.reserved);
    }
    if (header.pieceCount == 0) {
        return fail(Status::InvalidArgument, "range table: piece count is 0");
    }
    return {};
}

Result<TableHeader> decodeHeader(std::span<const std::byte> bytes) {
    if (auto checked = checkPrefix("range table", bytes, tableMagic, tableVersion); !checked) {
        return forward(checked);
    }
    if (bytes.size() < sizeof(TableHeader)) {
        return fail(Status::InvalidArgument,
                    "range table: length {} is below the header's {}",
                    bytes.size(),
                    sizeof(TableHeader));
    }
    const auto header = readWire<TableHeader>(bytes, 0);
    if (auto checked = checkCounts(header, bytes.size()); !checked) {
        return forward(checked);
    }
    return header;
}

Result<void> checkObject(const ObjectRecord &record, size_t index) {
    if (!allZero(record.reserved)) {
        return fail(
            Status::InvalidArgument, "range table: object {}: reserved bytes are not 0", index);
    }
    if (!isKnown(static_cast<ObjectKind>(record.kind))) {
        return fail(Status::InvalidArgument,
                    "range table: object {}: kind {} is unknown",
                    index,
                    record.kind);
    }
    if (!isKnown(static_cast<Placement>(record.placement))) {
        return fail(Status::InvalidArgument,
                    "range table: object {}: placement {} is unknown",
                    index,
                    record.placement);
    }
    if (!isWholeGranules(record.sizeBytes)) {
        return fail(Status::InvalidArgument,
                    "range table: object {}: size {} is not a positive multiple of {}",
                    index,
                    record.sizeBytes,
                    tableGranularityBytes);
    }
    return {};
}

Result<std::vector<TableObject>> decodeObjects(std::span<const std::byte> bytes, size_t count) {
    std::vector<TableObject> objects;
    objects.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        const auto record = readWire<ObjectRecord>(bytes, i * sizeof(ObjectRecord));
        if (auto checked = checkObject(record, i); !checked) {
            return forward(checked);
        }
        objects.push_back(fromRecord(record));
    }
    return objects;
}

/// What a piece's own bytes tell, without its object.
Result<void> checkPieceFields(const PieceRecord &record, size_t index) {
    if (!allZero(record.reserved)) {
        return fail(
            Status::InvalidArgument, "range table: piece {}: reserved bytes are not 0", index);
    }
    if (!isKnown(static_cast<Access>(record.access))) {
        return fail(Status::InvalidArgument,
                    "range table: piece {}: access {} is unknown",
                    index,
                    record.access);
    }
    if (!isAligned(record.offset, tableGranularityBytes)) {
        return fail(Status::InvalidArgument,
                    "range table: piece {}: offset {} is not a multiple of {}",
                    index,
                    record.offset,
                    tableGranularityBytes);
    }
    if (!isWholeGranules(record.sizeBytes)) {
        return fail(Status::InvalidArgument,
                    "range table: piece {}: length {} is not a positive multiple of {}",
                    index,
                    record.sizeBytes,
                    tableGranularityBytes);
    }
    return {};
}

Result<void> checkPieceBounds(const PieceRecord &record,
                              size_t index,
                              std::span<const TableObject> objects) {
    if (record.object >= objects.size()) {
        return fail(Status::InvalidArgument,
                    "range table: piece {}: object index {} with object count {}",
                    index,
                    record.object,
                    objects.size());
    }
    const uint64_t objectBytes = objects[record.object].sizeBytes;
    if (!fitsWithin(record.offset, record.sizeBytes, objectBytes)) {
        return fail(Status::InvalidArgument,
                    "range table: piece {}: offset {} and length {} exceed object {}'s size {}",
                    index,
                    record.offset,
                    record.sizeBytes,
                    record.object,
                    objectBytes);
    }
    return {};
}

Result<std::vector<TablePiece>> decodePieces(std::span<const std::byte> bytes,
                                             size_t count,
                                             std::span<const TableObject> objects) {
    std::vector<TablePiece> pieces;
    pieces.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        const auto record = readWire<PieceRecord>(bytes, i * sizeof(PieceRecord));
        if (auto checked = checkPieceFields(record, i); !checked) {
            return forward(checked);
        }
        if (auto checked = checkPieceBounds(record, i, objects); !checked) {
            return forward(checked);
        }
        pieces.push_back(fromRecord(record));
    }
    return pieces;
}

Result<uint64_t> sumOfLengths(std::span<const TablePiece> pieces) {
    uint64_t sum = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
        const auto next = checkedAdd(sum, pieces[i].sizeBytes);
        if (!next) {
            return fail(Status::InvalidArgument,
                        "range table: piece {}: length {} after {} bytes of pieces overflows",
                        i,
                        pieces[i].sizeBytes,
                        sum);
        }
        sum = *next;
    }
    return sum;
}

/// The window begins within the first piece and ends within the last.
Result<void> checkWindow(const RangeTable &table) {
    auto mapped = sumOfLengths(table.pieces);
    if (!mapped) {
        return forward(mapped);
    }
    if (table.windowBytes == 0) {
        return fail(Status::InvalidArgument, "range table: window size is 0");
    }
    if (table.leadBytes >= table.pieces.front().sizeBytes) {
        return fail(Status::InvalidArgument,
                    "range table: lead {} is not below the first piece's length {}",
                    table.leadBytes,
                    table.pieces.front().sizeBytes);
    }
    if (!fitsWithin(table.leadBytes, table.windowBytes, *mapped)) {
        return fail(Status::InvalidArgument,
                    "range table: lead {} and window size {} exceed the pieces' sum {}",
                    table.leadBytes,
                    table.windowBytes,
                    *mapped);
    }
    const uint64_t lastBegins = *mapped - table.pieces.back().sizeBytes;
    if (lastBegins >= table.leadBytes + table.windowBytes) { // fits, so this sum cannot wrap
        return fail(Status::InvalidArgument,
                    "range table: last piece begins at {}, beyond lead {} and window size {}",
                    lastBegins,
                    table.leadBytes,
                    table.windowBytes);
    }
    return {};
}

/// An object without a piece would make the importer fetch a descriptor for nothing.
Result<void> checkEveryObjectUsed(const RangeTable &table) {
    std::vector<bool> used(table.objects.size());
    for (const TablePiece &piece : table.pieces) {
        used[piece.object] = true;
    }
    const auto unused = std::ranges::find(used, false);
    if (unused != used.end()) {
        return fail(Status::InvalidArgument,
                    "range table: object {} of {} is named by no piece",
                    unused - used.begin(),
                    used.size());
    }
    return {};
}

} // namespace

uint64_t RangeTable::mappedBytes() const {
    return std::accumulate(
        pieces.begin(), pieces.end(), uint64_t{0}, [](uint64_t sum, const TablePiece &piece) {
            return sum + piece.sizeBytes;
        });
}

uint64_t encodedTableBytes(uint64_t objects, uint64_t pieces) {
    if (objects > UINT32_MAX || pieces > UINT32_MAX) {
        return UINT64_MAX; // cannot be written down
    }
    return sizeof(TableHeader) + objects * sizeof(ObjectRecord) + pieces * sizeof(PieceRecord);
}

std::vector<std::byte> encodeTable(const RangeTable &table) {
    assert(table.objects.size() <= UINT32_MAX && table.pieces.size() <= UINT32_MAX);
    std::vector<std::byte> bytes(encodedTableBytes(table.objects.size(), table.pieces.size()));
    writeWire(bytes,
              0,
              TableHeader{.objectCount = static_cast<uint32_t>(table.objects.size()),
                          .pieceCount = static_cast<uint32_t>(table.pieces.size()),
                          .windowBytes = table.windowBytes,
                          .leadBytes = table.leadBytes});
    size_t at = sizeof(TableHeader);
    for (const TableObject &object : table.objects) {
        writeWire(bytes, at, toRecord(object));
        at += sizeof(ObjectRecord);
    }
    for (const TablePiece &piece : table.pieces) {
        writeWire(bytes, at, toRecord(piece));
        at += sizeof(PieceRecord);
    }
    return bytes;
}

Result<RangeTable> decodeTable(std::span<const std::byte> bytes) {
    auto header = decodeHeader(bytes);
    if (!header) {
        return forward(header);
    }
    const auto objectBytes = bytes.subspan(sizeof(TableHeader));
    auto objects = decodeObjects(objectBytes, header->objectCount);
    if (!objects) {
        return forward(objects);
    }
    const auto pieceBytes = objectBytes.subspan(objects->size() * sizeof(ObjectRecord));
    auto pieces = decodePieces(pieceBytes, header->pieceCount, *objects);
    if (!pieces) {
        return forward(pieces);
    }
    RangeTable table = {.windowBytes = header->windowBytes,
                        .leadBytes = header->leadBytes,
                        .objects = std::move(*objects),
                        .pieces = std::move(*pieces)};
    if (auto checked = checkWindow(table); !checked) {
        return forward(checked);
    }
    if (auto checked = checkEveryObjectUsed(table); !checked) {
        return forward(checked);
    }
    return table;
}

} // namespace causeway::wire
