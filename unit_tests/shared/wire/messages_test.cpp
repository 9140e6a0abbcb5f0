#include "shared/wire/messages.h"

#include "unit_tests/shared/wire/wire_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace causeway::wire {
namespace {

Request openRequest() {
    Request request = {.type = RequestType::Open, .count = 252};
    request.token.fill(0x5a);
    return request;
}

Request fetchRequest() {
    return {.type = RequestType::Fetch, .first = 252, .count = 100};
}

// clang-format off
const Bytes goldenOpen = bytesOf({
    'C', 'W', 'Y', 'Q', 0x01, 0x00, 0x01, 0x00,     // magic, version, type
    0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, // token
    0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a,
    0x00, 0x00, 0x00, 0x00, 0xfc, 0x00, 0x00, 0x00, // first, count
});

const Bytes goldenFetch = bytesOf({
    'C', 'W', 'Y', 'Q', 0x01, 0x00, 0x02, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0xfc, 0x00, 0x00, 0x00, 0x64, 0x00, 0x00, 0x00,
});

/// The answer to an Open, a table of three bytes inline.
const Bytes goldenReply = bytesOf({
    'C', 'W', 'Y', 'R', 0x01, 0x00, 0x00, 0x00,     // magic, version, status
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // in file, padding, first
    0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // count, padding
    0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // table size
    0xaa, 0xbb, 0xcc,
});

/// The answer to an Open, the table in a memfd.
const Bytes goldenFileReply = bytesOf({
    'C', 'W', 'Y', 'R', 0x01, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x04, 0x03, 0x02, 0x01,
    0xfc, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
});
// clang-format on

Reply fileReply() {
    return {
        .tableInFile = true, .first = 0x01020304, .fdCount = 252, .tableBytes = 0x1122334455667788};
}

Bytes fetchReply(uint32_t first, uint32_t fdCount) {
    return encodeReply({.first = first, .fdCount = fdCount}, {});
}

template <typename T>
void expectError(const Result<T> &decoded,
                 std::string_view words,
                 Status status = Status::InvalidArgument) {
    ASSERT_FALSE(decoded.has_value());
    EXPECT_EQ(toString(decoded.error().status), toString(status));
    EXPECT_NE(decoded.error().message.find(words), std::string::npos) << decoded.error().message;
}

Bytes randomBytes(std::mt19937_64 &engine, size_t length) {
    Bytes bytes(length);
    for (size_t at = 0; at < length; at += 8) {
        poke(bytes, at, 8, engine());
    }
    return bytes;
}

constexpr uint64_t most4 = UINT32_MAX;

TEST(RequestTest, KnownRequestsHaveTheirGoldenBytes) {
    EXPECT_TRUE(std::ranges::equal(encodeRequest(openRequest()), goldenOpen));
    EXPECT_TRUE(std::ranges::equal(encodeRequest(fetchRequest()), goldenFetch));
}

TEST(RequestTest, GoldenBytesAreTheKnownRequests) {
    EXPECT_EQ(decodeRequest(goldenOpen), openRequest());
    EXPECT_EQ(decodeRequest(goldenFetch), fetchRequest());
}

TEST(RequestTest, ExtremeFetchSurvivesARoundTrip) {
    const Request request = {.type = RequestType::Fetch, .first = UINT32_MAX, .count = UINT32_MAX};
    EXPECT_EQ(decodeRequest(encodeRequest(request)), request);
}

TEST(RequestTest, AnyOtherLengthIsInvalid) {
    for (size_t length = 0; length < 3 * requestBytes; ++length) {
        if (length != requestBytes) {
            SCOPED_TRACE(length);
            Bytes bytes = goldenOpen;
            bytes.resize(length);
            bytes.shrink_to_fit(); // so that a sanitizer sees any read beyond it
            expectError(decodeRequest(bytes), "length " + std::to_string(length));
        }
    }
}

TEST(RequestTest, AllZeroAllOnesAndRandomBytesAreInvalid) {
    expectError(decodeRequest(Bytes(requestBytes, std::byte{0})), "magic");
    expectError(decodeRequest(Bytes(requestBytes, std::byte{0xff})), "magic");
    std::mt19937_64 engine(20250104); // fixed: repeatable
    for (int i = 0; i < 10'000; ++i) {
        expectError(decodeRequest(randomBytes(engine, requestBytes)), "magic");
    }
}

TEST(RequestTest, OtherVersionIsUnsupportedWhateverTheLength) {
    for (const uint64_t version : {uint64_t{0}, uint64_t{messageVersion} + 1, uint64_t{0xffff}}) {
        Bytes bytes = poked(goldenOpen, 4, 2, version);
        expectError(decodeRequest(bytes), std::to_string(version), Status::UnsupportedVersion);
        bytes.push_back(std::byte{0});
        expectError(decodeRequest(bytes), std::to_string(version), Status::UnsupportedVersion);
    }
}

TEST(RequestTest, ExtremeFieldOfAnOpenIsRefusedUnlessItMakesAnotherValidRequest) {
    const auto check = [](const Bytes &bytes, bool accepted) {
        const auto decoded = decodeRequest(bytes);
        EXPECT_EQ(decoded.has_value(), accepted);
        if (decoded.has_value()) {
            EXPECT_TRUE(std::ranges::equal(encodeRequest(*decoded), bytes));
        }
    };
    forEachExtreme({"magic", 0, 4, {}}, goldenOpen, check);
    forEachExtreme({"version", 4, 2, {1}}, goldenOpen, check);
    forEachExtreme({"type", 6, 2, {1}}, goldenOpen, check);
    forEachExtreme({"token", 8, 8, {0, 1, UINT64_MAX - 1, UINT64_MAX}}, goldenOpen, check);
    forEachExtreme({"first", 24, 4, {0}}, goldenOpen, check);
    forEachExtreme({"count", 28, 4, {1, most4 - 1, most4}}, goldenOpen, check);
}

TEST(RequestTest, UnknownTypeIsInvalid) {
    expectError(decodeRequest(poked(goldenOpen, 6, 2, 3)), "type 3");
    expectError(decodeRequest(poked(goldenOpen, 6, 2, 0x0101)), "type 257");
}

TEST(RequestTest, FirstInAnOpenIsInvalid) {
    expectError(decodeRequest(poked(goldenOpen, 24, 4, 5)), "first is 5");
}

TEST(RequestTest, TokenInAFetchIsInvalidAndNotRepeated) {
    for (size_t at = 8; at < 24; ++at) {
        const auto decoded = decodeRequest(poked(goldenFetch, at, 1, 0x5a));
        expectError(decoded, "token");
        EXPECT_EQ(decoded.error().message.find("5a"), std::string::npos);
    }
}

TEST(RequestTest, CountZeroIsInvalid) {
    expectError(decodeRequest(poked(goldenOpen, 28, 4, 0)), "count is 0");
    expectError(decodeRequest(poked(goldenFetch, 28, 4, 0)), "count is 0");
}

void expectReply(const Bytes &bytes, const Reply &header, std::span<const std::byte> inlineTable) {
    const auto decoded = decodeReply(bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    EXPECT_EQ(decoded->header, header);
    EXPECT_TRUE(std::ranges::equal(decoded->inlineTable, inlineTable));
}

TEST(ReplyTest, KnownRepliesHaveTheirGoldenBytes) {
    const Bytes table = bytesOf({0xaa, 0xbb, 0xcc});
    EXPECT_EQ(encodeReply({.fdCount = 7, .tableBytes = 3}, table), goldenReply);
    EXPECT_EQ(encodeReply(fileReply(), {}), goldenFileReply);
}

TEST(ReplyTest, GoldenBytesAreTheKnownReplies) {
    expectReply(goldenReply, {.fdCount = 7, .tableBytes = 3}, bytesOf({0xaa, 0xbb, 0xcc}));
    expectReply(goldenFileReply, fileReply(), {});
}

TEST(ReplyTest, InlineTableLiesWithinTheBytesGiven) {
    const auto decoded = decodeReply(goldenReply);
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(decoded->inlineTable.data(), goldenReply.data() + replyHeaderBytes);
}

TEST(ReplyTest, EveryErrorStatusSurvivesARoundTrip) {
    for (const ReplyStatus status : {ReplyStatus::UnknownToken,
                                     ReplyStatus::UnsupportedVersion,
                                     ReplyStatus::BadRequest,
                                     ReplyStatus::Exhausted,
                                     ReplyStatus::Failed}) {
        const Reply reply = {.status = status, .first = 12};
        expectReply(encodeReply(reply, {}), reply, {});
    }
}

TEST(ReplyTest, GreatestInlineTableSurvivesARoundTripAndOneByteMoreIsInvalid) {
    Bytes bytes = encodeReply({.tableBytes = maxInlineTableBytes}, Bytes(maxInlineTableBytes));
    EXPECT_EQ(bytes.size(), maxReplyBytes);
    expectReply(bytes, {.tableBytes = maxInlineTableBytes}, Bytes(maxInlineTableBytes));

    bytes.push_back(std::byte{0});
    expectError(decodeReply(bytes), "length 65569");
    poke(bytes, 24, 8, maxInlineTableBytes + 1);
    expectError(decodeReply(bytes), "inline table size 65537");
}

TEST(ReplyTest, TruncatedAtEveryLengthIsInvalid) {
    for (size_t length = 0; length < goldenReply.size(); ++length) {
        SCOPED_TRACE(length);
        Bytes bytes = goldenReply;
        bytes.resize(length);
        bytes.shrink_to_fit(); // so that a sanitizer sees any read beyond it
        expectError(decodeReply(bytes), "length " + std::to_string(length));
    }
}

TEST(ReplyTest, TrailingByteIsInvalid) {
    for (Bytes bytes : {goldenReply, goldenFileReply, fetchReply(3, 4)}) {
        bytes.push_back(std::byte{0});
        expectError(decodeReply(bytes), "length " + std::to_string(bytes.size()));
    }
}

TEST(ReplyTest, TableSizeThatWrapsTheLengthIsInvalid) {
    // 2^64 - 32: with the header's 32 bytes a sum of 0; then one that sums to the length received.
    expectError(decodeReply(poked(fetchReply(0, 0), 24, 8, UINT64_MAX - 31)), "inline table size");
    Bytes bytes = fetchReply(0, 0);
    bytes.resize(replyHeaderBytes + 8);
    expectError(decodeReply(poked(bytes, 24, 8, (uint64_t{1} << 32) + 8)), "inline table size");
}

TEST(ReplyTest, AllZeroAllOnesAndRandomBytesAreInvalid) {
    expectError(decodeReply(Bytes(replyHeaderBytes, std::byte{0})), "magic");
    expectError(decodeReply(Bytes(replyHeaderBytes, std::byte{0xff})), "magic");
    std::mt19937_64 engine(20250105); // fixed: repeatable
    for (int i = 0; i < 10'000; ++i) {
        expectError(decodeReply(randomBytes(engine, 2 * replyHeaderBytes)), "magic");
    }
}

TEST(ReplyTest, OtherVersionIsUnsupportedWhateverTheLength) {
    for (const uint64_t version : {uint64_t{0}, uint64_t{messageVersion} + 1, uint64_t{0xffff}}) {
        Bytes bytes = poked(goldenReply, 4, 2, version);
        expectError(decodeReply(bytes), std::to_string(version), Status::UnsupportedVersion);
        bytes.resize(8);
        expectError(decodeReply(bytes), std::to_string(version), Status::UnsupportedVersion);
    }
}

TEST(ReplyTest, ExtremeFieldIsRefusedUnlessItMakesAnotherValidReply) {
    const auto check = [](const Bytes &bytes, bool accepted) {
        const auto decoded = decodeReply(bytes);
        EXPECT_EQ(decoded.has_value(), accepted);
        if (decoded.has_value()) {
            EXPECT_EQ(encodeReply(decoded->header, decoded->inlineTable), bytes);
        }
    };
    forEachExtreme({"magic", 0, 4, {}}, goldenReply, check);
    forEachExtreme({"version", 4, 2, {1}}, goldenReply, check);
    forEachExtreme({"status", 6, 2, {0}}, goldenReply, check); // an error carries no table
    forEachExtreme({"in file", 8, 1, {0}}, goldenReply, check);
    for (const size_t padding : {9U, 10U, 11U, 20U, 21U, 22U, 23U}) {
        forEachExtreme({"padding", padding, 1, {0}}, goldenReply, check);
    }
    forEachExtreme({"first", 12, 4, {0, 1}}, goldenReply, check);
    forEachExtreme({"count", 16, 4, {0, 1}}, goldenReply, check);
    forEachExtreme({"table size", 24, 8, {}}, goldenReply, check);

    const Bytes fetch = fetchReply(3, 0);
    forEachExtreme({"status", 6, 2, {0, 1}}, fetch, check);
    forEachExtreme({"first", 12, 4, {0, 1, most4 - 1, most4}}, fetch, check);
    forEachExtreme({"in file", 8, 1, {0}}, fetch, check);           // 1 with table size 0
    forEachExtreme({"in file", 8, 1, {1}}, goldenFileReply, check); // 0: not inline
    forEachExtreme({"table size", 24, 8, {1, UINT64_MAX - 1, UINT64_MAX}}, goldenFileReply, check);
}

TEST(ReplyTest, UnknownStatusIsInvalid) {
    expectError(decodeReply(poked(fetchReply(0, 0), 6, 2, 6)), "status 6");
    expectError(decodeReply(poked(fetchReply(0, 0), 6, 2, 0x0100)), "status 256");
}

TEST(ReplyTest, TableInFileIsZeroOrOne) {
    expectError(decodeReply(poked(goldenFileReply, 8, 1, 2)), "table-in-file is 2");
}

TEST(ReplyTest, TableInFileOfSizeZeroIsInvalid) {
    expectError(decodeReply(poked(goldenFileReply, 24, 8, 0)), "table size is 0");
}

TEST(ReplyTest, DescriptorsAreAtMostWhatOneMessageCarries) {
    expectReply(fetchReply(5, 253), {.first = 5, .fdCount = 253}, {});
    expectError(decodeReply(fetchReply(5, 254)), "descriptor count 254 exceeds 253");
    expectError(decodeReply(poked(goldenFileReply, 16, 4, 253)),
                "descriptor count 253 exceeds 252");
}

TEST(ReplyTest, LastDescriptorsIndexMustNotOverflow) {
    expectReply(fetchReply(UINT32_MAX - 2, 2), {.first = UINT32_MAX - 2, .fdCount = 2}, {});
    expectError(decodeReply(fetchReply(UINT32_MAX - 2, 3)), "first 4294967293");
}

TEST(ReplyTest, ErrorCarriesNeitherTableNorDescriptors) {
    expectError(decodeReply(poked(fetchReply(0, 1), 6, 2, 4)), "status 4");
    const Bytes inlineReply = encodeReply({.tableBytes = 3}, bytesOf({1, 2, 3}));
    expectError(decodeReply(poked(inlineReply, 6, 2, 5)), "status 5");
    const Bytes failed = encodeReply({.status = ReplyStatus::Failed}, {});
    expectError(decodeReply(poked(failed, 8, 1, 1)), "status 5");
}

} // namespace
} // namespace causeway::wire
