#pragma once

#include "shared/base/checked.h"

#include <algorithm>
#include <cstdint>

namespace causeway::copy {

/// Cuts rows of equal width into chunks of about the same size that can be worked on at once: some
/// whole rows where rows are short, parts of a row where they are long. Every byte is in one chunk.
class RowChunks {
  public:
    static constexpr uint64_t pageBytes = 4096;

    struct Chunk {
        uint64_t firstRow = 0;
        uint64_t endRow = 0;
        uint64_t part = 0; ///< which part of firstRow, where it is not whole rows
        bool isWholeRows = true;
    };

    struct Part {
        uint64_t begin = 0; ///< in the row, in bytes
        uint64_t end = 0;
    };

    /// rows * widthBytes does not wrap, neither is 0.
    RowChunks(uint64_t rows, uint64_t widthBytes, uint64_t chunkBytes)
        : rows_(rows)
        , widthBytes_(widthBytes)
        , chunkBytes_(std::max(alignDown(chunkBytes, pageBytes), pageBytes))
        , partsOfRow_(divideUp(widthBytes, chunkBytes_))
        , rowsOfChunk_(std::max(chunkBytes_ / widthBytes, uint64_t{1})) {}

    [[nodiscard]] uint64_t count() const {
        return partsOfRow_ > 1 ? rows_ * partsOfRow_ : divideUp(rows_, rowsOfChunk_);
    }

    /// `index` < count().
    [[nodiscard]] Chunk at(uint64_t index) const {
        if (partsOfRow_ > 1) {
            const uint64_t row = index / partsOfRow_;
            return {.firstRow = row,
                    .endRow = row + 1,
                    .part = index % partsOfRow_,
                    .isWholeRows = false};
        }
        const uint64_t first = index * rowsOfChunk_;
        return {.firstRow = first, .endRow = first + std::min(rowsOfChunk_, rows_ - first)};
    }

    /// Which bytes of its row, which begins at `rowAddress`, a chunk is. Parts end at pages there,
    /// so that no two threads write to one page.
    [[nodiscard]] Part partOf(const Chunk &chunk, uint64_t rowAddress) const {
        if (chunk.isWholeRows) {
            return {.begin = 0, .end = widthBytes_};
        }
        return {.begin = boundary(chunk.part, rowAddress),
                .end = boundary(chunk.part + 1, rowAddress)};
    }

  private:
    static uint64_t divideUp(uint64_t value, uint64_t divisor) {
        return value / divisor + (value % divisor != 0 ? 1 : 0);
    }

    [[nodiscard]] uint64_t boundary(uint64_t part, uint64_t rowAddress) const {
        if (part == 0 || part == partsOfRow_) {
            return part == 0 ? 0 : widthBytes_;
        }
        // A whole chunk from the row's beginning on, so not before it.
        return alignDown(rowAddress + part * chunkBytes_, pageBytes) - rowAddress;
    }

    uint64_t rows_;
    uint64_t widthBytes_;
    uint64_t chunkBytes_;
    uint64_t partsOfRow_;
    uint64_t rowsOfChunk_;
};

} // namespace causeway::copy
