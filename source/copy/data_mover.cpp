#include "source/copy/data_mover.h"

#include "shared/base/address.h"
#include "shared/base/checked.h"
#include "source/copy/copy_plan.h"
#include "source/copy/row_chunks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

namespace causeway::copy {
namespace {

void moveRow(const CopyPlan &plan, uint64_t row) {
    std::memmove(toPointer(plan.dstOf(row)), toPointer(plan.srcOf(row)), plan.widthBytes);
}

void copyInOrder(const CopyPlan &plan) {
    for (uint64_t i = 0; i < plan.rows; ++i) {
        moveRow(plan, plan.order == RowOrder::Descending ? plan.rows - 1 - i : i);
    }
}

/// Writes bytes [begin, end) of a fill. Copies of a tile of many patterns are faster than copies of
/// one pattern.
void fillPart(const Fill &fill, uint64_t begin, uint64_t end) {
    const auto pattern = fill.pattern.bytes();
    if (pattern.size() == 1) {
        std::memset(toPointer(fill.address + begin), std::to_integer<int>(pattern[0]), end - begin);
        return;
    }
    std::array<std::byte, 16 * FillPattern::longest> tile = {};
    static_assert(isPowerOfTwo(tile.size()), "a multiple of every pattern");
    const size_t used = std::min<uint64_t>(tile.size(), end - begin);
    for (size_t i = 0; i < used; ++i) {
        tile[i] = pattern[(begin + i) % pattern.size()];
    }
    for (uint64_t at = begin; at < end;) {
        const size_t length = std::min<uint64_t>(tile.size(), end - at);
        std::memcpy(toPointer(fill.address + at), tile.data(), length);
        at += length;
    }
}

} // namespace

MoverLimits DataMover::limitsOfMachine() {
    return {.threads = std::clamp(std::thread::hardware_concurrency(), 1U, 8U)};
}

DataMover::DataMover(Os &os, const MoverLimits &limits)
    : limits_(limits), pool_(os, std::max(limits.threads, 1U) - 1) {}

bool DataMover::isWorthSharing(uint64_t rows, uint64_t widthBytes) const {
    // No wrap: rows do not overlap, so that their bytes fit the address space.
    return limits_.threads > 1 && rows * widthBytes >= limits_.splitFromBytes;
}

Result<void> DataMover::copy(const CopyRegion &region) {
    auto plan = planCopy(region);
    if (!plan) {
        return forward(plan);
    }
    if (plan->order == RowOrder::Any && isWorthSharing(plan->rows, plan->widthBytes)) {
        copyShared(*plan);
    } else {
        copyInOrder(*plan);
    }
    return {};
}

void DataMover::copyShared(const CopyPlan &plan) {
    const RowChunks chunks(plan.rows, plan.widthBytes, limits_.chunkBytes);
    pool_.run(chunks.count(), [&](uint64_t index) {
        const RowChunks::Chunk chunk = chunks.at(index);
        if (chunk.isWholeRows) {
            for (uint64_t row = chunk.firstRow; row < chunk.endRow; ++row) {
                moveRow(plan, row);
            }
            return;
        }
        const uint64_t dst = plan.dstOf(chunk.firstRow);
        const auto part = chunks.partOf(chunk, dst);
        std::memcpy(toPointer(dst + part.begin),
                    toPointer(plan.srcOf(chunk.firstRow) + part.begin),
                    part.end - part.begin);
    });
}

Result<void> DataMover::fill(const Fill &fill) {
    if (!checkedAdd(fill.address, fill.sizeBytes)) {
        return fail(Status::InvalidSize,
                    "{} bytes from {:#x} on reach beyond the address space",
                    fill.sizeBytes,
                    fill.address);
    }
    if (!isWorthSharing(1, fill.sizeBytes)) {
        fillPart(fill, 0, fill.sizeBytes);
        return {};
    }
    const RowChunks chunks(1, fill.sizeBytes, limits_.chunkBytes);
    pool_.run(chunks.count(), [&](uint64_t index) {
        const auto part = chunks.partOf(chunks.at(index), fill.address);
        fillPart(fill, part.begin, part.end);
    });
    return {};
}

} // namespace causeway::copy
