#include "source/copy/row_chunks.h"

#include <gtest/gtest.h>

namespace causeway::copy {
namespace {

constexpr uint64_t page = RowChunks::pageBytes;

struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;
};

/// What a chunk covers, counting bytes through all rows.
Range rangeOf(const RowChunks &chunks, uint64_t index, uint64_t width, uint64_t address) {
    const RowChunks::Chunk chunk = chunks.at(index);
    const RowChunks::Part part = chunks.partOf(chunk, address);
    const uint64_t lastRow = chunk.endRow - 1;
    return {.begin = chunk.firstRow * width + part.begin, .end = lastRow * width + part.end};
}

/// Every byte of every row is in one chunk, in order, and parts end at pages.
void expectCoversAll(uint64_t rows, uint64_t width, uint64_t chunkBytes, uint64_t address) {
    const RowChunks chunks(rows, width, chunkBytes);
    uint64_t covered = 0;
    for (uint64_t i = 0; i < chunks.count(); ++i) {
        const Range range = rangeOf(chunks, i, width, address);
        ASSERT_EQ(range.begin, covered);
        const uint64_t inRow = range.end % width;
        EXPECT_EQ(inRow == 0 ? 0 : (address + inRow) % page, 0U) << "chunk " << i;
        covered = range.end;
    }
    EXPECT_EQ(covered, rows * width);
}

TEST(RowChunksTest, CoverEveryByteOnce) {
    for (const uint64_t rows : {1U, 2U, 7U, 100U}) {
        for (const uint64_t width :
             {1UL, 100UL, page - 1, page, page + 1, 3 * page, 10 * page + 7}) {
            for (const uint64_t address : {0UL, 1UL, page - 1, 7 * page + 123}) {
                SCOPED_TRACE(testing::Message() << rows << " x " << width << " at " << address);
                expectCoversAll(rows, width, 1, address);
                expectCoversAll(rows, width, 2 * page + 5, address);
            }
        }
    }
}

TEST(RowChunksTest, HoldAboutAsMuchAsAsked) {
    EXPECT_EQ(RowChunks(1, 10 * page, 2 * page).count(), 5U);
    EXPECT_EQ(RowChunks(8, page / 4, page).count(), 2U);
    EXPECT_EQ(RowChunks(8, page, page).count(), 8U);
}

} // namespace
} // namespace causeway::copy
