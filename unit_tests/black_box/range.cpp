#include "unit_tests/black_box/range.h"

#include "unit_tests/black_box/external_memory_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

namespace causeway::black_box {

namespace {

constexpr size_t noObject = SIZE_MAX;

/// Numbers below a million are handed out here; above, tests choose them.
uint64_t unusedNumbers(size_t count) {
    static std::atomic<uint64_t> next = 1;
    return next.fetch_add(count);
}

std::byte *reserveAt(ze_context_handle_t context, const std::byte *hint, size_t size) {
    void *address = nullptr;
    require(zeVirtualMemReserve(context, hint, size, &address), "zeVirtualMemReserve");
    return static_cast<std::byte *>(address);
}

void freeReserved(ze_context_handle_t context, const std::byte *address, size_t size) {
    EXPECT_EQ(zeVirtualMemFree(context, address, size), ZE_RESULT_SUCCESS);
}

} // namespace

std::vector<std::byte *> reserveAdjacent(ze_context_handle_t context,
                                         const std::vector<size_t> &sizes) {
    const size_t total = std::accumulate(sizes.begin(), sizes.end(), size_t{0});
    std::byte *hint = reserveAt(context, nullptr, total);
    if (sizes.size() < 2) {
        return {hint};
    }
    freeReserved(context, hint, total);
    std::vector<std::byte *> addresses;
    for (const size_t size : sizes) {
        addresses.push_back(reserveAt(context, hint, size));
        if (addresses.back() != hint) {
            throw HarnessError("a hint to free address space was not honoured");
        }
        hint += size;
    }
    return addresses;
}

ze_physical_mem_handle_t createObject(ze_context_handle_t context,
                                      size_t size,
                                      Placement placement,
                                      size_t device) {
    ze_physical_mem_handle_t handle = nullptr;
    require(tryCreateObject(context, size, placement, &handle, nullptr, device),
            "zePhysicalMemCreate");
    return handle;
}

Range::Range(ze_context_handle_t context, std::vector<Piece> pieces, const RangeOptions &options)
    : context_(context)
    , pieces_(std::move(pieces))
    , fill_(options.fill)
    , nextNumber_(options.firstObject) {
    if (nextNumber_ == 0) {
        nextNumber_ = unusedNumbers(pieces_.size());
    }
    for (const auto &piece : pieces_) {
        offsets_.push_back(size_);
        size_ += piece.size;
    }
    try {
        reserve(options.reservations);
        for (const auto &piece : pieces_) {
            objectOfPiece_.push_back(makeObject(piece));
            mapPiece(objectOfPiece_.size() - 1);
        }
    } catch (const HarnessError &) {
        freeReservations();
        destroyObjects();
        throw;
    }
}

Range::~Range() {
    freeReservations();
    destroyObjects();
}

void Range::reserve(const std::vector<size_t> &sizes) {
    const auto all = sizes.empty() ? std::vector<size_t>{size_} : sizes;
    const auto addresses = reserveAdjacent(context_, all);
    for (size_t i = 0; i < all.size(); ++i) {
        reservations_.push_back({addresses[i], all[i]});
    }
    base_ = addresses.front();
}

size_t Range::makeObject(const Piece &piece) {
    if (piece.isHole) {
        return noObject;
    }
    if (piece.objectOfPiece) {
        return objectOfPiece_.at(*piece.objectOfPiece);
    }
    objects_.push_back(
        {createObject(context_, piece.objectSize, piece.placement, piece.device), nextNumber_++});
    fillObject(objects_.back(), piece.objectSize);
    return objects_.size() - 1;
}

void Range::fillObject(const Object &object, size_t size) {
    std::byte *scratch = reserveAt(context_, nullptr, size);
    const auto result = zeVirtualMemMap(
        context_, scratch, size, object.handle, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    if (result == ZE_RESULT_SUCCESS) {
        fill_ == Fill::Whole ? fillWhole(scratch, size, object.number)
                             : fillEnds(scratch, size, object.number);
    }
    freeReserved(context_, scratch, size);
    require(result, "zeVirtualMemMap of a whole object");
}

void Range::mapPiece(size_t index) {
    const auto &piece = pieces_[index];
    if (piece.isHole) {
        return;
    }
    require(zeVirtualMemMap(context_,
                            this->piece(index),
                            piece.size,
                            object(index),
                            piece.objectOffset,
                            piece.access),
            "zeVirtualMemMap of a piece");
}

uint64_t Range::objectNumber(size_t piece) const {
    return objects_.at(objectOfPiece_.at(piece)).number;
}

ze_physical_mem_handle_t Range::object(size_t piece) const {
    return objects_.at(objectOfPiece_.at(piece)).handle;
}

ze_ipc_mem_handle_t Range::exportWindow(size_t offset, size_t size) const {
    return exportRange(context_, base_ + offset, size);
}

uint8_t Range::byteAt(size_t piece, size_t offset) const {
    return patternByte(objectNumber(piece), pieces_[piece].objectOffset + offset - offsets_[piece]);
}

uint64_t Range::checksum(size_t offset, size_t size) const {
    Checksum sum;
    const auto after = std::upper_bound(offsets_.begin(), offsets_.end(), offset);
    auto piece = static_cast<size_t>(after - offsets_.begin()) - 1;
    for (size_t at = offset; at < offset + size; ++at) {
        if (at == offsets_[piece] + pieces_[piece].size) {
            ++piece;
        }
        sum.add(byteAt(piece, at));
    }
    return sum.value();
}

void Range::unmapPiece(size_t piece) {
    require(zeVirtualMemUnmap(context_, this->piece(piece), pieces_.at(piece).size),
            "zeVirtualMemUnmap of a piece");
}

void Range::mapNewObject(size_t piece) {
    auto &changed = pieces_.at(piece);
    changed = Piece::of(changed.size).withAccess(changed.access);
    nextNumber_ = unusedNumbers(1);
    objectOfPiece_[piece] = makeObject(changed);
    mapPiece(piece);
}

void Range::destroyObjects() {
    for (const auto &object : objects_) {
        if (object.handle != nullptr) {
            EXPECT_EQ(zePhysicalMemDestroy(context_, object.handle), ZE_RESULT_SUCCESS);
        }
    }
    // Their numbers stay: an exported snapshot still shows their patterns.
    for (auto &object : objects_) {
        object.handle = nullptr;
    }
}

void Range::freeReservations() {
    for (const auto &reservation : reservations_) {
        freeReserved(context_, reservation.address, reservation.size);
    }
    reservations_.clear();
}

} // namespace causeway::black_box
