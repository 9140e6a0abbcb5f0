#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// What is shared. Both roles compile it in: the exporter builds it, the importer compares with it
/// what it finds behind the 64 bytes.
namespace range_demo {

/// One stretch of the range: the last `sizeBytes` bytes of one object. No two pieces of a scenario
/// show the same object.
struct Piece {
    uint32_t object = 0;
    size_t offset = 0; ///< where in the object the piece begins, in bytes
    size_t sizeBytes = 0;
    ze_memory_access_attribute_t access = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
    ze_memory_type_t placement = ZE_MEMORY_TYPE_DEVICE; ///< DEVICE or HOST

    [[nodiscard]] size_t objectSizeBytes() const { return offset + sizeBytes; }

    [[nodiscard]] bool isWritable() const { return access == ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE; }

    bool operator==(const Piece &) const = default;
};

/// How much of each writable piece the importer changes.
enum class WriteBack : uint8_t { EveryByte, OneWord };

struct Scenario {
    std::string title;
    std::vector<Piece> pieces; ///< in the order of their addresses, without a gap
    WriteBack writeBack = WriteBack::EveryByte;
    bool printsLayout = true;

    [[nodiscard]] size_t sizeBytes() const;

    /// Bytes that the importer writes at the start of `piece`; 0 where it may not write.
    [[nodiscard]] size_t writtenBackBytes(const Piece &piece) const;
};

/// Five objects of different sizes and kinds.
Scenario fiveObjects();

/// `count` device objects of 64 KiB.
Scenario manyObjects(uint32_t count);

} // namespace range_demo
