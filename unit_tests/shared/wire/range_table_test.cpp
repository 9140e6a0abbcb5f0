#include "shared/wire/range_table.h"

#include "shared/base/checked.h"
#include "unit_tests/shared/wire/wire_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace causeway::wire {
namespace {

constexpr uint64_t page = 4096;

DeviceUuid uuidOf(uint8_t value) {
    DeviceUuid uuid = {};
    uuid.fill(value);
    return uuid;
}

/// Two files, three pieces: 2 + 4 + 1 pages, the window 100 bytes in and 50 bytes short.
RangeTable sampleTable() {
    return {.windowBytes = 7 * page - 150,
            .leadBytes = 100,
            .objects = {{.kind = ObjectKind::Memfd,
                         .placement = Placement::Device,
                         .sizeBytes = 16 * page,
                         .device = uuidOf(0xd1)},
                        {.kind = ObjectKind::DmaBuf,
                         .placement = Placement::Host,
                         .sizeBytes = 4 * page,
                         .device = uuidOf(0xd2)}},
            .pieces = {
                {.object = 0, .access = Access::ReadWrite, .offset = page, .sizeBytes = 2 * page},
                {.object = 1, .access = Access::ReadOnly, .offset = 0, .sizeBytes = 4 * page},
                {.object = 0, .access = Access::None, .offset = 8 * page, .sizeBytes = page}}};
}

// clang-format off
const std::vector<std::byte> goldenBytes = bytesOf({
    'C', 'W', 'Y', 'T', 0x01, 0x00, 0x00, 0x00,                 // magic, version, padding
    0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00,             // counts
    0x6a, 0x6f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,             // window
    0x64, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,             // lead
    0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,             // object 0: memfd, device
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,             // size
    0xd1, 0xd1, 0xd1, 0xd1, 0xd1, 0xd1, 0xd1, 0xd1,             // uuid
    0xd1, 0xd1, 0xd1, 0xd1, 0xd1, 0xd1, 0xd1, 0xd1,
    0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,             // object 1: dma-buf, host
    0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0xd2, 0xd2, 0xd2, 0xd2, 0xd2, 0xd2, 0xd2, 0xd2,
    0xd2, 0xd2, 0xd2, 0xd2, 0xd2, 0xd2, 0xd2, 0xd2,
    0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,             // piece 0: object, access, padding
    0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,             // offset
    0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,             // length
    0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,             // piece 1
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,             // piece 2
    0x00, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
});
// clang-format on

void expectError(std::span<const std::byte> bytes,
                 std::string_view words,
                 Status status = Status::InvalidArgument) {
    const auto decoded = decodeTable(bytes);
    ASSERT_FALSE(decoded.has_value());
    EXPECT_EQ(toString(decoded.error().status), toString(status));
    EXPECT_NE(decoded.error().message.find(words), std::string::npos) << decoded.error().message;
}

void expectError(const RangeTable &table, std::string_view words) {
    expectError(encodeTable(table), words);
}

void expectRoundTrip(const RangeTable &table) {
    const auto bytes = encodeTable(table);
    EXPECT_EQ(bytes.size(), encodedTableBytes(table.objects.size(), table.pieces.size()));
    const auto decoded = decodeTable(bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    EXPECT_TRUE(*decoded == table);
}

/// One object, one piece of it, the window all of it.
RangeTable singleTable(uint64_t sizeBytes) {
    return {.windowBytes = sizeBytes,
            .objects = {{.sizeBytes = sizeBytes, .device = uuidOf(1)}},
            .pieces = {{.sizeBytes = sizeBytes}}};
}

TEST(RangeTableTest, KnownTableHasItsGoldenBytes) {
    EXPECT_TRUE(std::ranges::equal(encodeTable(sampleTable()), goldenBytes));
}

TEST(RangeTableTest, GoldenBytesAreTheKnownTable) {
    const auto decoded = decodeTable(goldenBytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    EXPECT_TRUE(*decoded == sampleTable());
    EXPECT_EQ(decoded->mappedBytes(), 7 * page);
}

TEST(RangeTableTest, SmallestAndLargestSingleObjectSurviveARoundTrip) {
    expectRoundTrip(singleTable(page));
    expectRoundTrip(singleTable(UINT64_MAX - (page - 1)));
}

TEST(RangeTableTest, WindowOfOneByteSurvivesARoundTrip) {
    RangeTable table = singleTable(page);
    table.windowBytes = 1;
    table.leadBytes = page - 1;
    expectRoundTrip(table);
}

TEST(RangeTableTest, PiecesMayShowTheSameBytesTwice) {
    RangeTable table = singleTable(page);
    table.pieces.push_back(table.pieces.front());
    table.windowBytes = 2 * page;
    expectRoundTrip(table);
}

TEST(RangeTableTest, HundredThousandPiecesSurviveARoundTrip) {
    constexpr uint32_t count = 100'000;
    RangeTable table;
    for (uint32_t i = 0; i < count; ++i) {
        table.objects.push_back({.sizeBytes = 2 * page, .device = uuidOf(3)});
        table.pieces.push_back({.object = count - 1 - i, .offset = page, .sizeBytes = page});
    }
    table.windowBytes = count * page;
    expectRoundTrip(table);
}

TEST(RangeTableTest, EncodedSizeIsHeaderPlusRecords) {
    EXPECT_EQ(encodedTableBytes(0, 0), 32U);
    EXPECT_EQ(encodedTableBytes(1, 0), 64U);
    EXPECT_EQ(encodedTableBytes(0, 1), 56U);
    EXPECT_EQ(encodedTableBytes(2, 3), goldenBytes.size());
    EXPECT_EQ(encodedTableBytes(UINT32_MAX, UINT32_MAX), 32 + 56 * uint64_t{UINT32_MAX});
}

TEST(RangeTableTest, CountsThatNoTableCanHoldHaveNoEncodedSize) {
    EXPECT_EQ(encodedTableBytes(uint64_t{UINT32_MAX} + 1, 0), UINT64_MAX);
    EXPECT_EQ(encodedTableBytes(0, uint64_t{UINT32_MAX} + 1), UINT64_MAX);
    EXPECT_EQ(encodedTableBytes(UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

TEST(RangeTableTest, TruncatedAtEveryLengthIsInvalid) {
    for (size_t length = 0; length < goldenBytes.size(); ++length) {
        SCOPED_TRACE(length);
        // A copy of its own, so that a sanitizer sees any read beyond it.
        expectError(std::vector(goldenBytes.begin(),
                                goldenBytes.begin() + static_cast<std::ptrdiff_t>(length)),
                    "range table: ");
    }
}

TEST(RangeTableTest, TrailingBytesAreInvalid) {
    for (const size_t extra : {1U, 24U, 32U}) {
        auto bytes = goldenBytes;
        bytes.resize(bytes.size() + extra);
        expectError(bytes, "object count 2 and piece count 3");
    }
}

TEST(RangeTableTest, AllZeroAndAllOnesAreInvalid) {
    expectError(std::vector(goldenBytes.size(), std::byte{0}), "magic");
    expectError(std::vector(goldenBytes.size(), std::byte{0xff}), "magic");
}

TEST(RangeTableTest, RandomBytesBehindTheCountsAreInvalid) {
    std::mt19937_64 engine(20250103); // fixed: repeatable
    auto bytes = goldenBytes;
    for (int i = 0; i < 10'000; ++i) {
        for (size_t at = 16; at < bytes.size(); at += 8) {
            poke(bytes, at, 8, engine());
        }
        expectError(bytes, "range table: ");
    }
}

TEST(RangeTableTest, OtherVersionIsUnsupportedWhateverTheLength) {
    for (const uint64_t version : {uint64_t{0}, uint64_t{tableVersion} + 1, uint64_t{0xffff}}) {
        auto bytes = goldenBytes;
        poke(bytes, 4, 2, version);
        expectError(bytes, std::to_string(version), Status::UnsupportedVersion);
        bytes.push_back(std::byte{0});
        expectError(bytes, std::to_string(version), Status::UnsupportedVersion);
        bytes.resize(8);
        expectError(bytes, std::to_string(version), Status::UnsupportedVersion);
    }
}

TEST(RangeTableTest, ExtremeFieldIsRefusedUnlessItMakesAnotherValidTable) {
    const auto check = [](const Bytes &bytes, bool accepted) {
        const auto decoded = decodeTable(bytes);
        EXPECT_EQ(decoded.has_value(), accepted);
        if (decoded.has_value()) {
            EXPECT_TRUE(encodeTable(*decoded) == bytes);
        }
    };
    constexpr uint64_t most = UINT64_MAX;
    const std::vector<Field> fields = {
        {"magic", 0, 4, {}},
        {"version", 4, 2, {1}},
        {"reserved", 6, 2, {0}},
        {"object count", 8, 4, {}},
        {"piece count", 12, 4, {}},
        {"window bytes", 16, 8, {}},
        {"lead bytes", 24, 8, {0, 1}},
        {"object 0 kind", 32, 1, {1}},
        {"object 0 placement", 33, 1, {1}},
        {"object 0 reserved first", 34, 1, {0}},
        {"object 0 reserved last", 39, 1, {0}},
        {"object 0 size", 40, 8, {}},
        {"object 0 uuid low", 48, 8, {0, 1, most - 1, most}},
        {"object 0 uuid high", 56, 8, {0, 1, most - 1, most}},
        {"object 1 kind", 64, 1, {1}},
        {"object 1 placement", 65, 1, {1}},
        {"object 1 size", 72, 8, {}},
        {"piece 0 object", 96, 4, {0, 1}},
        {"piece 0 access", 100, 1, {0, 1}},
        {"piece 0 reserved first", 101, 1, {0}},
        {"piece 0 reserved last", 103, 1, {0}},
        {"piece 0 offset", 104, 8, {0}},
        {"piece 0 length", 112, 8, {}},
        {"piece 1 object", 120, 4, {1}}, // 0 would leave object 1 without a piece
        {"piece 1 access", 124, 1, {0, 1}},
        {"piece 1 offset", 128, 8, {0}},
        {"piece 1 length", 136, 8, {}},
        {"piece 2 object", 144, 4, {0}}, // beyond object 1's end
        {"piece 2 access", 148, 1, {0, 1}},
        {"piece 2 offset", 152, 8, {0}},
        {"piece 2 length", 160, 8, {}},
    };
    for (const Field &field : fields) {
        forEachExtreme(field, goldenBytes, check);
    }
}

TEST(RangeTableTest, GreatestCountsAreJudgedAgainstTheLength) {
    auto bytes = goldenBytes;
    poke(bytes, 8, 4, UINT32_MAX);
    poke(bytes, 12, 4, UINT32_MAX);
    expectError(bytes, "240518168552"); // 32 + 32 x (2^32 - 1) + 24 x (2^32 - 1)
}

TEST(RangeTableTest, CountsWhoseSizeWrapsIn32BitsAreInvalid) {
    auto bytes = goldenBytes;
    poke(bytes, 8, 4, 2 + (1U << 27)); // 32 bytes each: 2^32 more
    expectError(bytes, "object count 134217730");

    bytes = goldenBytes;
    poke(bytes, 12, 4, 3 + (1U << 29)); // 24 bytes each: 3 x 2^32 more
    expectError(bytes, "piece count 536870915");
}

TEST(RangeTableTest, TableWithoutPiecesIsInvalid) {
    RangeTable table = singleTable(page);
    table.pieces.clear();
    expectError(table, "piece count is 0");
    table.objects.clear();
    expectError(table, "piece count is 0");
}

TEST(RangeTableTest, TableWithoutObjectsIsInvalid) {
    RangeTable table = singleTable(page);
    table.objects.clear();
    expectError(table, "piece 0: object index 0 with object count 0");
}

TEST(RangeTableTest, ObjectIndexAtTheCountIsInvalid) {
    RangeTable table = sampleTable();
    table.pieces[1].object = 2;
    expectError(table, "piece 1: object index 2 with object count 2");
}

TEST(RangeTableTest, ObjectWithoutAPieceIsInvalid) {
    RangeTable table = sampleTable();
    table.objects.push_back(table.objects.front());
    expectError(table, "object 2 of 3");
}

TEST(RangeTableTest, SizesInPartsOfAPageAreInvalid) {
    RangeTable table = sampleTable();
    table.objects[1].sizeBytes += 1;
    expectError(table, "object 1: size 16385");

    table = sampleTable();
    table.pieces[2].offset += page / 2;
    expectError(table, "piece 2: offset 34816");

    table = sampleTable();
    table.pieces[0].sizeBytes -= 1;
    expectError(table, "piece 0: length 8191");
}

TEST(RangeTableTest, EmptyObjectOrPieceIsInvalidWhereTheRestWouldFit) {
    RangeTable table = sampleTable();
    table.pieces.insert(table.pieces.begin() + 1, {.object = 1, .sizeBytes = 0});
    expectError(table, "piece 1: length 0");

    table = sampleTable();
    table.objects.push_back({.sizeBytes = 0});
    expectError(table, "object 2: size 0");
}

TEST(RangeTableTest, PieceOnePageBeyondItsObjectIsInvalid) {
    RangeTable table = sampleTable();
    table.pieces[1].offset = page;
    expectError(table, "piece 1: offset 4096 and length 16384 exceed object 1's size 16384");
}

TEST(RangeTableTest, OffsetPlusLengthThatWrapsIsInvalid) {
    RangeTable table = sampleTable();
    table.pieces[2].offset = UINT64_MAX - (page - 1);
    expectError(table, "piece 2: offset 18446744073709547520");
}

TEST(RangeTableTest, SumOfLengthsThatWrapsIsInvalid) {
    constexpr uint64_t half = uint64_t{1} << 63;
    RangeTable table = singleTable(half);
    table.pieces.push_back(table.pieces.front());
    table.pieces.push_back({.sizeBytes = page});
    expectError(table, "piece 1: length 9223372036854775808");
}

TEST(RangeTableTest, LeadMustEndWithinTheFirstPiece) {
    RangeTable table = sampleTable();
    table.windowBytes = 5 * page;
    table.leadBytes = 2 * page - 1;
    expectRoundTrip(table);
    table.leadBytes = 2 * page;
    expectError(table, "lead 8192 is not below");
}

TEST(RangeTableTest, WindowMustEndWithinThePieces) {
    RangeTable table = sampleTable();
    table.windowBytes = 7 * page - table.leadBytes;
    expectRoundTrip(table);
    table.windowBytes += 1;
    expectError(table, "exceed the pieces' sum 28672");
    table.windowBytes = UINT64_MAX;
    expectError(table, "exceed the pieces' sum 28672");
}

TEST(RangeTableTest, WindowMustReachTheLastPiece) {
    RangeTable table = sampleTable();
    table.windowBytes = 6 * page - table.leadBytes + 1;
    expectRoundTrip(table);
    table.windowBytes -= 1;
    expectError(table, "last piece begins at 24576");
    table.windowBytes = 0;
    expectError(table, "window size is 0");
}

TEST(RangeTableTest, FlippedBitIsRefusedOrMakesAnotherValidTable) {
    for (size_t bit = 0; bit < 8 * goldenBytes.size(); ++bit) {
        auto bytes = goldenBytes;
        flipBit(bytes, bit);
        const auto decoded = decodeTable(bytes);
        if (decoded.has_value()) {
            EXPECT_TRUE(encodeTable(*decoded) == bytes) << "bit " << bit;
        }
    }
}

} // namespace
} // namespace causeway::wire
