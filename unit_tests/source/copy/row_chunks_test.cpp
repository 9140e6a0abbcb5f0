#include "source/copy/row_chunks.h"

#include <gtest/gtest.h>

namespace causeway::copy {
namespace {

constexpr uint64_t page = RowChunks::pageBytes;

/// Every byte of every row is in one chunk, in order, and parts end at pages.
void expectCoversAll(uint64_t rows, uint64_t width, uint64_t chunkBytes, uint64_t address) {
    const RowChunks chunks(rows, width, chunkBytes);
    uint64_t row = 0;
    uint64_t inRow = 0;
    for (uint64_t i = 0; i < chunks.count(); ++i) {
        const RowChunks::Chunk chunk = chunks.at(i);
        ASSERT_EQ(chunk.firstRow, row);
        if (chunk.isWholeRows) {
            ASSERT_GT(chunk.endRow, row);
            row = chunk.endRow;
            continue;
        }
        const RowChunks::Part part = chunks.partOf(chunk, address);
        ASSERT_EQ(part.begin, inRow);
        ASSERT_GE(part.end, part.begin);
        ASSERT_TRUE(part.end == width || (address + part.end) % page == 0);
        const bool endsRow = part.end == width;
        inRow = endsRow ? 0 : part.end;
        row += endsRow ? 1 : 0;
    }
    EXPECT_EQ(row, rows);
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
