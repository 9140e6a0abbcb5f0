#include "shared/wire/messages.h"

#include "shared/base/checked.h"
#include "shared/wire/wire_struct.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

namespace causeway::wire {
namespace {

constexpr uint32_t requestMagic = wireMagic("CWYQ");
constexpr uint32_t replyMagic = wireMagic("CWYR");

struct RequestLayout {
    uint32_t magic = requestMagic;
    uint16_t version = messageVersion;
    uint16_t type = 0;
    Token token = {};
    uint32_t first = 0;
    uint32_t count = 0;
};

static_assert(WireStruct<RequestLayout>);
static_assert(sizeof(RequestLayout) == requestBytes);
static_assert(offsetof(RequestLayout, magic) == offsetof(WirePrefix, magic));
static_assert(offsetof(RequestLayout, version) == offsetof(WirePrefix, version));
static_assert(offsetof(RequestLayout, type) == 6);
static_assert(offsetof(RequestLayout, token) == 8);
static_assert(offsetof(RequestLayout, first) == 24);
static_assert(offsetof(RequestLayout, count) == 28);

struct ReplyLayout {
    uint32_t magic = replyMagic;
    uint16_t version = messageVersion;
    uint16_t status = 0;
    uint8_t tableInFile = 0;
    std::array<uint8_t, 3> reserved = {};
    uint32_t first = 0;
    uint32_t fdCount = 0;
    std::array<uint8_t, 4> reserved2 = {};
    uint64_t tableBytes = 0;
};

static_assert(WireStruct<ReplyLayout>);
static_assert(sizeof(ReplyLayout) == replyHeaderBytes);
static_assert(offsetof(ReplyLayout, magic) == offsetof(WirePrefix, magic));
static_assert(offsetof(ReplyLayout, version) == offsetof(WirePrefix, version));
static_assert(offsetof(ReplyLayout, status) == 6);
static_assert(offsetof(ReplyLayout, tableInFile) == 8);
static_assert(offsetof(ReplyLayout, reserved) == 9);
static_assert(offsetof(ReplyLayout, first) == 12);
static_assert(offsetof(ReplyLayout, fdCount) == 16);
static_assert(offsetof(ReplyLayout, reserved2) == 20);
static_assert(offsetof(ReplyLayout, tableBytes) == 24);

bool isKnown(RequestType type) {
    return type == RequestType::Open || type == RequestType::Fetch;
}

bool isKnown(ReplyStatus status) {
    switch (status) {
    case ReplyStatus::Ok:
    case ReplyStatus::UnknownToken:
    case ReplyStatus::UnsupportedVersion:
    case ReplyStatus::BadRequest:
    case ReplyStatus::Exhausted:
    case ReplyStatus::Failed:
        return true;
    }
    return false;
}

Result<void> checkRequest(const RequestLayout &layout) {
    if (!isKnown(static_cast<RequestType>(layout.type))) {
        return fail(Status::InvalidArgument, "request: type {} is unknown", layout.type);
    }
    const bool isOpen = static_cast<RequestType>(layout.type) == RequestType::Open;
    if (isOpen && layout.first != 0) {
        return fail(
            Status::InvalidArgument, "request: first is {} in an Open, expected 0", layout.first);
    }
    if (!isOpen && !allZero(layout.token)) {
        // Not printed: it may be a permission that a confused peer holds.
        return fail(Status::InvalidArgument, "request: token is not zero in a Fetch");
    }
    if (layout.count == 0) {
        return fail(Status::InvalidArgument, "request: count is 0");
    }
    return {};
}

Result<void> checkReplyPadding(const ReplyLayout &layout) {
    if (allZero(layout.reserved) && allZero(layout.reserved2)) {
        return {};
    }
    return fail(Status::InvalidArgument, "reply: reserved bytes are not 0");
}

Result<void> checkReplyEnums(const ReplyLayout &layout) {
    if (!isKnown(static_cast<ReplyStatus>(layout.status))) {
        return fail(Status::InvalidArgument, "reply: status {} is unknown", layout.status);
    }
    if (layout.tableInFile > 1) {
        return fail(Status::InvalidArgument,
                    "reply: table-in-file is {}, expected 0 or 1",
                    layout.tableInFile);
    }
    return {};
}

Result<void> checkReplyFds(const ReplyLayout &layout) {
    const uint32_t limit = maxFdsPerMessage - layout.tableInFile;
    if (layout.fdCount > limit) {
        return fail(Status::InvalidArgument,
                    "reply: descriptor count {} exceeds {}",
                    layout.fdCount,
                    limit);
    }
    if (!fitsWithin(layout.first, layout.fdCount, UINT32_MAX)) {
        return fail(Status::InvalidArgument,
                    "reply: first {} and descriptor count {} overflow",
                    layout.first,
                    layout.fdCount);
    }
    return {};
}

Result<void> checkErrorReplyIsEmpty(const ReplyLayout &layout) {
    if (static_cast<ReplyStatus>(layout.status) == ReplyStatus::Ok) {
        return {};
    }
    if (layout.tableInFile != 0 || layout.tableBytes != 0 || layout.fdCount != 0) {
        return fail(Status::InvalidArgument,
                    "reply: status {} with table-in-file {}, table size {}, descriptor count {}",
                    layout.status,
                    layout.tableInFile,
                    layout.tableBytes,
                    layout.fdCount);
    }
    return {};
}

Result<void> checkReplyTable(const ReplyLayout &layout, size_t receivedBytes) {
    if (layout.tableInFile != 0 && layout.tableBytes == 0) {
        return fail(Status::InvalidArgument, "reply: table size is 0 with the table in a file");
    }
    const uint64_t inlineBytes = layout.tableInFile != 0 ? 0 : layout.tableBytes;
    if (inlineBytes > maxInlineTableBytes) {
        return fail(Status::InvalidArgument,
                    "reply: inline table size {} exceeds {}",
                    inlineBytes,
                    maxInlineTableBytes);
    }
    const uint64_t expected = replyHeaderBytes + inlineBytes;
    if (receivedBytes != expected) {
        return fail(Status::InvalidArgument,
                    "reply: length {}, expected {} with an inline table of {}",
                    receivedBytes,
                    expected,
                    inlineBytes);
    }
    return {};
}

Result<void> checkReply(const ReplyLayout &layout, size_t receivedBytes) {
    if (auto checked = checkReplyPadding(layout); !checked) {
        return checked;
    }
    if (auto checked = checkReplyEnums(layout); !checked) {
        return checked;
    }
    if (auto checked = checkReplyFds(layout); !checked) {
        return checked;
    }
    if (auto checked = checkErrorReplyIsEmpty(layout); !checked) {
        return checked;
    }
    return checkReplyTable(layout, receivedBytes);
}

} // namespace

RequestBytes encodeRequest(const Request &request) {
    return std::bit_cast<RequestBytes>(RequestLayout{.type = static_cast<uint16_t>(request.type),
                                                     .token = request.token,
                                                     .first = request.first,
                                                     .count = request.count});
}

Result<Request> decodeRequest(std::span<const std::byte> bytes) {
    if (auto checked = checkPrefix("request", bytes, requestMagic, messageVersion); !checked) {
        return forward(checked);
    }
    if (bytes.size() != requestBytes) {
        return fail(
            Status::InvalidArgument, "request: length {}, expected {}", bytes.size(), requestBytes);
    }
    const auto layout = readWire<RequestLayout>(bytes, 0);
    if (auto checked = checkRequest(layout); !checked) {
        return forward(checked);
    }
    return Request{.type = static_cast<RequestType>(layout.type),
                   .token = layout.token,
                   .first = layout.first,
                   .count = layout.count};
}

std::vector<std::byte> encodeReply(const Reply &reply, std::span<const std::byte> inlineTable) {
    assert(inlineTable.size() == (reply.tableInFile ? 0 : reply.tableBytes));
    assert(inlineTable.size() <= maxInlineTableBytes);
    std::vector<std::byte> bytes(replyHeaderBytes + inlineTable.size());
    writeWire(bytes,
              0,
              ReplyLayout{.status = static_cast<uint16_t>(reply.status),
                          .tableInFile = static_cast<uint8_t>(reply.tableInFile ? 1 : 0),
                          .first = reply.first,
                          .fdCount = reply.fdCount,
                          .tableBytes = reply.tableBytes});
    std::ranges::copy(inlineTable, bytes.begin() + replyHeaderBytes);
    return bytes;
}

Result<DecodedReply> decodeReply(std::span<const std::byte> bytes) {
    if (auto checked = checkPrefix("reply", bytes, replyMagic, messageVersion); !checked) {
        return forward(checked);
    }
    if (bytes.size() < replyHeaderBytes) {
        return fail(Status::InvalidArgument,
                    "reply: length {} is below the header's {}",
                    bytes.size(),
                    replyHeaderBytes);
    }
    const auto layout = readWire<ReplyLayout>(bytes, 0);
    if (auto checked = checkReply(layout, bytes.size()); !checked) {
        return forward(checked);
    }
    const Reply header = {.status = static_cast<ReplyStatus>(layout.status),
                          .tableInFile = layout.tableInFile != 0,
                          .first = layout.first,
                          .fdCount = layout.fdCount,
                          .tableBytes = layout.tableBytes};
    return DecodedReply{.header = header, .inlineTable = bytes.subspan(replyHeaderBytes)};
}

} // namespace causeway::wire
