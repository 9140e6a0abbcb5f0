#pragma once

#include "shared/base/result.h"
#include "shared/wire/ipc_handle.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace causeway::wire {

inline constexpr uint16_t messageVersion = 1;

/// SCM_MAX_FD: descriptors that one message can carry.
inline constexpr uint32_t maxFdsPerMessage = 253;

/// A table up to this size travels inside the reply; a longer one in a sealed memfd.
inline constexpr size_t maxInlineTableBytes = size_t{64} * 1024;

// As wide as its field: a narrowing cast could turn an unknown value into a known one.
// NOLINTNEXTLINE(performance-enum-size)
enum class RequestType : uint16_t { Open = 1, Fetch = 2 };

/// What an importer asks. Always requestBytes long.
struct Request {
    RequestType type = RequestType::Open;
    Token token = {};   ///< Open only, else zero
    uint32_t first = 0; ///< Fetch: index of the first object wanted; Open: 0
    uint32_t count = 0; ///< most descriptors wanted in the reply (> 0); the server caps it

    bool operator==(const Request &) const = default;
};

inline constexpr size_t requestBytes = 32;
using RequestBytes = std::array<std::byte, requestBytes>;

/// Writes what it is given; judges nothing.
[[nodiscard]] RequestBytes encodeRequest(const Request &request);

/// Errors: UnsupportedVersion for another version under a right magic, whatever its length;
/// InvalidArgument for anything that Request's comments do not permit. That `first` exists in the
/// export is the server's to judge.
[[nodiscard]] Result<Request> decodeRequest(std::span<const std::byte> bytes);

// As wide as its field, likewise.
// NOLINTNEXTLINE(performance-enum-size)
enum class ReplyStatus : uint16_t {
    Ok = 0,
    UnknownToken = 1,
    UnsupportedVersion = 2,
    BadRequest = 3,
    Exhausted = 4, ///< the exporter has no descriptor left to make one with
    Failed = 5,
};

/// The fixed part of every reply. Descriptors ride on the same message: first the table's memfd
/// where tableInFile, then those of the objects first, first + 1, ..., first + fdCount - 1.
struct Reply {
    ReplyStatus status = ReplyStatus::Ok;
    bool tableInFile = false;
    uint32_t first = 0;
    uint32_t fdCount = 0;    ///< of objects; the table's own not counted
    uint64_t tableBytes = 0; ///< Open only: inline behind the header, or in the memfd; else 0

    bool operator==(const Reply &) const = default;
};

inline constexpr size_t replyHeaderBytes = 32;
inline constexpr size_t maxReplyBytes = replyHeaderBytes + maxInlineTableBytes;

/// Header followed by `inlineTable` (empty for Fetch or where the table is in a file). The caller
/// has set reply.tableBytes: the inline table's size, or that of the table in the file.
[[nodiscard]] std::vector<std::byte> encodeReply(const Reply &reply,
                                                 std::span<const std::byte> inlineTable);

struct DecodedReply {
    Reply header;
    std::span<const std::byte> inlineTable; ///< into the bytes given
};

/// Judges a whole untrusted message: magic, version (UnsupportedVersion, whatever the length of the
/// rest), zero padding, known status, fdCount at most maxFdsPerMessage (less one with a table in a
/// file), first + fdCount at most UINT32_MAX, an error reply without table and descriptors,
/// tableBytes > 0 with a table in a file, inline at most maxInlineTableBytes, length exactly header
/// plus inline table. Other errors: InvalidArgument.
/// The caller compares fdCount with the descriptors that arrived, first with what it asked for, and
/// tableBytes with the file's size before it allocates anything of that size.
[[nodiscard]] Result<DecodedReply> decodeReply(std::span<const std::byte> bytes);

} // namespace causeway::wire
