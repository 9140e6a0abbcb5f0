#include "source/ipc/piece_index.h"

#include <gtest/gtest.h>

namespace causeway::ipc {
namespace {

constexpr uint64_t page = 4096;

TEST(PieceIndexTest, FindsThePiecesOfAnObjectAndWhereTheyLie) {
    wire::RangeTable table;
    table.objects.resize(3);
    table.pieces = {{.object = 2, .access = Access::ReadOnly, .offset = 0, .sizeBytes = page},
                    {.object = 0, .offset = 5 * page, .sizeBytes = 2 * page},
                    {.object = 2, .offset = page, .sizeBytes = 3 * page},
                    {.object = 1, .offset = 0, .sizeBytes = page}};
    const PieceIndex index(table);
    const auto origin = std::make_shared<const wire::IpcHandle>();
    std::vector<memory::ImportTransaction::Piece> pieces;

    index.addPiecesOf(2, nullptr, origin, pieces);
    index.addPiecesOf(1, nullptr, origin, pieces);

    ASSERT_EQ(pieces.size(), 3U);
    EXPECT_EQ(pieces[0].position, 0U);
    EXPECT_EQ(pieces[0].access, Access::ReadOnly);
    EXPECT_EQ(pieces[1].position, 3 * page);
    EXPECT_EQ(pieces[1].offset, page);
    EXPECT_EQ(pieces[1].sizeBytes, 3 * page);
    EXPECT_EQ(pieces[1].origin.handle, origin);
    EXPECT_EQ(pieces[1].origin.object, 2U);
    EXPECT_EQ(pieces[2].position, 6 * page);
    EXPECT_EQ(pieces[2].origin.object, 1U);
}

TEST(PieceIndexTest, AnObjectWithoutPiecesAddsNone) {
    wire::RangeTable table;
    table.objects.resize(2);
    table.pieces = {{.object = 0, .sizeBytes = page}};
    std::vector<memory::ImportTransaction::Piece> pieces;

    PieceIndex(table).addPiecesOf(1, nullptr, nullptr, pieces);

    EXPECT_TRUE(pieces.empty());
}

} // namespace
} // namespace causeway::ipc
