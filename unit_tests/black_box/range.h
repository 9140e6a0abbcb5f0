#pragma once

#include "unit_tests/black_box/ipc_calls.h"
#include "unit_tests/black_box/patterns.h"
#include "unit_tests/black_box/ze_calls.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace causeway::black_box {

enum class Placement : uint8_t { Device, Host };

/// One stretch of a range to build: a window of a physical object, or a hole.
struct Piece {
    size_t size = 0;
    size_t objectSize = 0;
    size_t objectOffset = 0;
    ze_memory_access_attribute_t access = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
    Placement placement = Placement::Device;
    size_t device = 0;                        ///< index of the device whose memory it is
    std::optional<size_t> objectOfPiece = {}; ///< maps the object of an earlier piece once more
    bool isHole = false;

    /// A new object, mapped whole.
    static Piece of(size_t size) { return {.size = size, .objectSize = size}; }

    /// A new object of which only a part is mapped.
    static Piece window(size_t objectSize, size_t objectOffset, size_t size) {
        return {.size = size, .objectSize = objectSize, .objectOffset = objectOffset};
    }

    static Piece again(size_t piece, size_t objectOffset, size_t size) {
        return {.size = size, .objectOffset = objectOffset, .objectOfPiece = piece};
    }

    static Piece hole(size_t size) { return {.size = size, .isHole = true}; }

    [[nodiscard]] Piece onHost() const {
        Piece piece = *this;
        piece.placement = Placement::Host;
        return piece;
    }

    [[nodiscard]] Piece onDevice(size_t index) const {
        Piece piece = *this;
        piece.device = index;
        return piece;
    }

    [[nodiscard]] Piece withAccess(ze_memory_access_attribute_t wanted) const {
        Piece piece = *this;
        piece.access = wanted;
        return piece;
    }

    [[nodiscard]] Piece readOnly() const { return withAccess(ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY); }

    [[nodiscard]] Piece noAccess() const { return withAccess(ZE_MEMORY_ACCESS_ATTRIBUTE_NONE); }
};

/// `count` device objects of `size` bytes.
inline std::vector<Piece> manyPieces(size_t count, size_t size = chunk) {
    return std::vector<Piece>(count, Piece::of(size));
}

enum class Fill : uint8_t { Whole, Ends };

struct RangeOptions {
    std::vector<size_t> reservations = {}; ///< adjacent ones of these sizes; empty: one for all
    Fill fill = Fill::Whole;
    uint64_t firstObject = 0; ///< number of the first object; 0: numbers not used before
};

/// Adjacent reservations of these sizes. Throws HarnessError where the driver does not honour a
/// hint that names free address space.
std::vector<std::byte *> reserveAdjacent(ze_context_handle_t context,
                                         const std::vector<size_t> &sizes);

ze_physical_mem_handle_t createObject(ze_context_handle_t context,
                                      size_t size,
                                      Placement placement = Placement::Device,
                                      size_t device = 0);

/// A virtual range built of physical objects, each filled with its own pattern throughout (also
/// where it is not mapped) before its piece is mapped with the final access. Knows from the layout
/// and the patterns what every byte of the range is, without looking at the memory.
///
/// Owns the reservations and the objects; gives back what is left of them at the end.
class Range {
  public:
    Range(ze_context_handle_t context, std::vector<Piece> pieces, const RangeOptions &options = {});
    ~Range();
    Range(const Range &) = delete;
    Range &operator=(const Range &) = delete;
    Range(Range &&) = delete;
    Range &operator=(Range &&) = delete;

    [[nodiscard]] std::byte *base() const { return base_; }

    [[nodiscard]] size_t size() const { return size_; }

    [[nodiscard]] size_t offsetOf(size_t piece) const { return offsets_.at(piece); }

    [[nodiscard]] std::byte *piece(size_t piece) const { return base_ + offsetOf(piece); }

    [[nodiscard]] uint64_t objectNumber(size_t piece) const;
    [[nodiscard]] ze_physical_mem_handle_t object(size_t piece) const;

    [[nodiscard]] ze_ipc_mem_handle_t exportWhole() const { return exportWindow(0, size_); }

    [[nodiscard]] ze_ipc_mem_handle_t exportWindow(size_t offset, size_t size) const;

    /// Of the bytes that must be at [offset, offset + size).
    [[nodiscard]] uint64_t checksum(size_t offset, size_t size) const;

    [[nodiscard]] uint64_t checksum() const { return checksum(0, size_); }

    void unmapPiece(size_t piece);
    /// Puts a new object with its own pattern in the place of an unmapped piece.
    void mapNewObject(size_t piece);
    void destroyObjects();
    void freeReservations();

  private:
    struct Object {
        ze_physical_mem_handle_t handle = nullptr;
        uint64_t number = 0;
    };

    struct Reservation {
        std::byte *address = nullptr;
        size_t size = 0;
    };

    void reserve(const std::vector<size_t> &sizes);
    size_t makeObject(const Piece &piece);
    void fillObject(const Object &object, size_t size);
    void mapPiece(size_t index);
    [[nodiscard]] uint8_t byteAt(size_t piece, size_t offset) const;

    ze_context_handle_t context_;
    std::vector<Piece> pieces_;
    Fill fill_;
    uint64_t nextNumber_;
    std::vector<size_t> offsets_;
    std::vector<size_t> objectOfPiece_; ///< index into objects_
    std::vector<Object> objects_;
    std::vector<Reservation> reservations_;
    std::byte *base_ = nullptr;
    size_t size_ = 0;
};

} // namespace causeway::black_box
