#pragma once

#include "shared/base/result.h"
#include "source/copy/commands.h"

#include <cstdint>

namespace causeway::copy {

/// In which order the rows of a copy must be copied.
enum class RowOrder : uint8_t {
    Any,       ///< the sides share no byte: rows, and parts of rows, in any order or at once
    Ascending, ///< one after the other from the first, each as memmove does
    Descending,
};

/// Rows at equal distances, in slices at equal distances.
struct RowLayout {
    uint64_t address = 0;
    uint64_t rowPitch = 0;
    uint64_t slicePitch = 0;
};

/// A copy whose arithmetic has been checked, in its simplest form: rows without gaps between them
/// are one row.
struct CopyPlan {
    RowLayout dst;
    RowLayout src;
    uint64_t widthBytes = 0; ///< of a row
    uint64_t height = 0;     ///< rows of a slice
    uint64_t rows = 0;       ///< of all slices; 0: nothing to copy
    uint64_t dstExtent = 0;  ///< bytes from the first to the last of the destination
    uint64_t srcExtent = 0;
    RowOrder order = RowOrder::Any;

    /// The sides share bytes, and no order is right.
    [[nodiscard]] bool isUnspecified() const {
        return order != RowOrder::Any &&
               (dst.rowPitch != src.rowPitch || dst.slicePitch != src.slicePitch);
    }

    /// `row` < rows.
    [[nodiscard]] uint64_t dstOf(uint64_t row) const { return addressOf(dst, row); }

    [[nodiscard]] uint64_t srcOf(uint64_t row) const { return addressOf(src, row); }

  private:
    [[nodiscard]] uint64_t addressOf(const RowLayout &layout, uint64_t row) const {
        return layout.address + row / height * layout.slicePitch + row % height * layout.rowPitch;
    }
};

/// Errors: InvalidSize where the region reaches beyond the address space, or its rows or slices
/// overlap each other.
Result<CopyPlan> planCopy(const CopyRegion &region);

} // namespace causeway::copy
