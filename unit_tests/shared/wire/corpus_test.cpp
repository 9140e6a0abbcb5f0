#include "unit_tests/fuzz/seeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <variant>

namespace causeway::wire {
namespace {

using fuzz::Seed;
using Bytes = std::vector<std::byte>;

/// What the decoder makes of bytes that it accepts, encoded again; an error otherwise.
using ReEncode = std::function<Result<Bytes>(std::span<const std::byte>)>;

template <typename T>
Result<Bytes> encodedBy(Result<T> decoded, const auto &encode) {
    if (!decoded) {
        return forward(decoded);
    }
    const auto bytes = encode(*decoded);
    return Bytes(bytes.begin(), bytes.end());
}

Result<Bytes> reEncodedTable(std::span<const std::byte> bytes) {
    return encodedBy(decodeTable(bytes), encodeTable);
}

Result<Bytes> reEncodedRequest(std::span<const std::byte> bytes) {
    return encodedBy(decodeRequest(bytes), encodeRequest);
}

Result<Bytes> reEncodedReply(std::span<const std::byte> bytes) {
    return encodedBy(decodeReply(bytes), [](const DecodedReply &reply) {
        return encodeReply(reply.header, reply.inlineTable);
    });
}

/// A handle is always 64 bytes: one that was cut reaches the decoder with zeros behind.
Result<Bytes> reEncodedHandle(std::span<const std::byte> bytes) {
    HandleBytes whole = {};
    std::ranges::copy(bytes, whole.begin());
    auto decoded = decodeHandle(whole);
    if (!decoded) {
        return forward(decoded);
    }
    const auto *handle = std::get_if<IpcHandle>(&*decoded);
    if (handle == nullptr) {
        return fail(Status::InvalidArgument, "descriptor only");
    }
    const HandleBytes encoded = encodeHandle(*handle);
    return Bytes(encoded.begin(), encoded.end());
}

void expectSeed(const Seed &seed, const ReEncode &reEncode) {
    const auto encoded = reEncode(seed.bytes);
    ASSERT_EQ(encoded.has_value(), seed.accepted)
        << (encoded.has_value() ? "accepted" : encoded.error().message);
    if (encoded.has_value()) {
        EXPECT_EQ(*encoded, seed.bytes);
    }
}

void expectNoTruncationAccepted(const Seed &seed, const ReEncode &reEncode) {
    for (size_t length = 0; length < seed.bytes.size(); ++length) {
        // A copy of its own, so that a sanitizer sees any read beyond it.
        const Bytes cut(seed.bytes.begin(),
                        seed.bytes.begin() + static_cast<std::ptrdiff_t>(length));
        EXPECT_FALSE(reEncode(cut).has_value()) << "length " << length;
    }
}

void replay(const std::vector<Seed> &seeds, const ReEncode &reEncode) {
    for (const Seed &seed : seeds) {
        SCOPED_TRACE(seed.name);
        expectSeed(seed, reEncode);
        expectNoTruncationAccepted(seed, reEncode);
    }
}

TEST(CorpusTest, HandleSeedsAndTheirTruncations) {
    replay(fuzz::handleSeeds(), reEncodedHandle);
}

TEST(CorpusTest, TableSeedsAndTheirTruncations) {
    replay(fuzz::tableSeeds(), reEncodedTable);
}

TEST(CorpusTest, RequestSeedsAndTheirTruncations) {
    replay(fuzz::requestSeeds(), reEncodedRequest);
}

TEST(CorpusTest, ReplySeedsAndTheirTruncations) {
    replay(fuzz::replySeeds(), reEncodedReply);
}

TEST(CorpusTest, SeedsOfOneTargetHaveNamesOfTheirOwn) {
    for (const fuzz::Corpus &corpus : fuzz::allCorpora()) {
        std::set<std::string> names;
        for (const Seed &seed : corpus.seeds) {
            EXPECT_TRUE(names.insert(seed.name).second) << corpus.name << '/' << seed.name;
        }
    }
}

} // namespace
} // namespace causeway::wire
