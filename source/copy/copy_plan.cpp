#include "source/copy/copy_plan.h"

#include "shared/base/checked.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace causeway::copy {
namespace {

/// Bytes from the first to the last of `count` pieces of `sizeBytes` each, `pitch` apart. Nothing
/// where that wraps or pieces overlap.
std::optional<uint64_t> piecesExtent(uint64_t sizeBytes, uint64_t count, uint64_t pitch) {
    if (count == 1) {
        return sizeBytes;
    }
    const auto toLast = checkedMultiply(count - 1, pitch);
    if (!toLast || pitch < sizeBytes) {
        return std::nullopt;
    }
    return checkedAdd(*toLast, sizeBytes);
}

/// Bytes from the first to the last of one side of a region that is not empty. `name` is for the
/// sentence.
Result<uint64_t> extentOf(const CopyRegion &region, const CopySide &side, std::string_view name) {
    const auto slice = piecesExtent(region.widthBytes, region.height, side.rowPitch);
    const auto all = slice ? piecesExtent(*slice, region.depth, side.slicePitch) : std::nullopt;
    if (!all || !checkedAdd(side.address, *all)) {
        return fail(Status::InvalidSize,
                    "{} x {} x {} bytes with pitches {} and {} do not fit the {} at {:#x}",
                    region.widthBytes,
                    region.height,
                    region.depth,
                    side.rowPitch,
                    side.slicePitch,
                    name,
                    side.address);
    }
    return *all;
}

/// Slices of one row are rows; rows without gaps are one row.
void simplify(CopyPlan &plan, uint64_t depth) {
    const auto isDense = [&] {
        return plan.dst.rowPitch == plan.widthBytes && plan.src.rowPitch == plan.widthBytes;
    };
    if (plan.height > 1 && isDense()) {
        plan.widthBytes *= plan.height;
        plan.height = 1;
    }
    if (plan.height == 1) {
        plan.height = depth;
        plan.dst.rowPitch = plan.dst.slicePitch;
        plan.src.rowPitch = plan.src.slicePitch;
        depth = 1;
        if (plan.height > 1 && isDense()) {
            plan.widthBytes *= plan.height;
            plan.height = 1;
        }
    }
    plan.rows = plan.height * depth;
    if (plan.height == 1) {
        plan.dst.rowPitch = plan.src.rowPitch = 0;
    }
    if (depth == 1) {
        plan.dst.slicePitch = plan.src.slicePitch = 0;
    }
}

/// How many rows are looked at for one copy; with more it is taken that some share a byte.
constexpr uint64_t mostRowsLookedAt = uint64_t{1} << 20;

/// Whether a row of `rows` has a byte in [begin, end). Rows lie one behind another: the last that
/// begins before the end reaches furthest.
bool touchesRow(const RowLayout &rows, const CopyPlan &plan, uint64_t begin, uint64_t end) {
    if (end <= rows.address) {
        return false;
    }
    const auto lastAt = [](uint64_t offset, uint64_t count, uint64_t pitch) {
        return pitch == 0 ? 0 : std::min(offset / pitch, count - 1); // 0: there is one
    };
    const uint64_t offset = end - 1 - rows.address;
    const uint64_t slice = lastAt(offset, plan.rows / plan.height, rows.slicePitch);
    const uint64_t inSlice = offset - slice * rows.slicePitch;
    const uint64_t row = lastAt(inSlice, plan.height, rows.rowPitch);
    const uint64_t address = rows.address + slice * rows.slicePitch + row * rows.rowPitch;
    return address + plan.widthBytes > begin;
}

/// Whether the sides share a byte; rows of one may lie between those of the other.
bool sidesMeet(const CopyPlan &plan) {
    const uint64_t dst = plan.dst.address;
    const uint64_t src = plan.src.address;
    if (dst + plan.dstExtent <= src || src + plan.srcExtent <= dst) {
        return false;
    }
    if (plan.rows > mostRowsLookedAt) {
        return true;
    }
    for (uint64_t row = 0; row < plan.rows; ++row) {
        const uint64_t begin = plan.dstOf(row);
        if (touchesRow(plan.src, plan, begin, begin + plan.widthBytes)) {
            return true;
        }
    }
    return false;
}

/// With equal pitches every row moves by the same distance: copied from the end that it moves
/// towards, no row is overwritten before it is read. With others no order is right in general.
RowOrder orderOf(const CopyPlan &plan) {
    if (!sidesMeet(plan)) {
        return RowOrder::Any;
    }
    const bool samePitches =
        plan.dst.rowPitch == plan.src.rowPitch && plan.dst.slicePitch == plan.src.slicePitch;
    return samePitches && plan.dst.address > plan.src.address ? RowOrder::Descending
                                                              : RowOrder::Ascending;
}

} // namespace

Result<CopyPlan> planCopy(const CopyRegion &region) {
    if (region.widthBytes == 0 || region.height == 0 || region.depth == 0) {
        return CopyPlan{};
    }
    auto dstExtent = extentOf(region, region.dst, "destination");
    if (!dstExtent) {
        return forward(dstExtent);
    }
    auto srcExtent = extentOf(region, region.src, "source");
    if (!srcExtent) {
        return forward(srcExtent);
    }
    const auto layoutOf = [](const CopySide &side) {
        return RowLayout{side.address, side.rowPitch, side.slicePitch};
    };
    CopyPlan plan = {.dst = layoutOf(region.dst),
                     .src = layoutOf(region.src),
                     .widthBytes = region.widthBytes,
                     .height = region.height,
                     .dstExtent = *dstExtent,
                     .srcExtent = *srcExtent};
    simplify(plan, region.depth);
    plan.order = orderOf(plan);
    return plan;
}

} // namespace causeway::copy
