#pragma once

#include "shared/wire/ipc_handle.h"
#include "shared/wire/messages.h"
#include "shared/wire/range_table.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Starting points for the fuzz targets: one seed for each kind of thing that an encoder can write,
/// and a few that no decoder may accept. Made by the encoders, so that they follow a new version.
namespace causeway::fuzz {

struct Seed {
    std::string name;
    std::vector<std::byte> bytes;
    bool accepted = true; ///< as a handle, table, request or reply
};

/// The same bytes under the next version. Version numbers are small: their low byte is enough.
inline Seed nextVersion(Seed seed, size_t versionOffset) {
    seed.name += "_next_version";
    seed.bytes[versionOffset] =
        static_cast<std::byte>(std::to_integer<int>(seed.bytes[versionOffset]) + 1);
    seed.accepted = false;
    return seed;
}

inline Seed handleSeed(std::string name, const wire::IpcHandle &handle, bool accepted = true) {
    const wire::HandleBytes bytes = wire::encodeHandle(handle);
    return {std::move(name), {bytes.begin(), bytes.end()}, accepted};
}

inline wire::IpcHandle sampleHandle(wire::HandleKind kind) {
    wire::IpcHandle handle = {.fd = 5,
                              .rendezvousFd = 6,
                              .kind = kind,
                              .serverId = 0x0102030405060708,
                              .sizeBytes = 2 << 20,
                              .fdIdentity = wire::fileIdentity(1, 2),
                              .pid = 1234};
    handle.token.fill(0x42);
    return handle;
}

inline std::vector<Seed> handleSeeds() {
    wire::IpcHandle withoutFd = sampleHandle(wire::HandleKind::Range);
    withoutFd.fd = -1;
    withoutFd.fdIdentity = 0;
    wire::IpcHandle flagged = sampleHandle(wire::HandleKind::Range);
    flagged.flags = 1;
    wire::IpcHandle empty = sampleHandle(wire::HandleKind::Range);
    empty.sizeBytes = 0;
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): a peer may send any value
    const auto unknownKind = static_cast<wire::HandleKind>(9);
    const Seed range = handleSeed("range", sampleHandle(wire::HandleKind::Range));
    return {handleSeed("single_device", sampleHandle(wire::HandleKind::SingleDevice)),
            handleSeed("single_host", sampleHandle(wire::HandleKind::SingleHost)),
            range,
            handleSeed("without_descriptor", withoutFd),
            handleSeed("unknown_flag", flagged, false),
            handleSeed("unknown_kind", sampleHandle(unknownKind), false),
            handleSeed("size_zero", empty, false),
            nextVersion(range, 12),
            {"zeros", std::vector<std::byte>(sizeof(wire::HandleBytes)), false}};
}

/// `count` objects of 64 KiB, each shown in two pieces that skip its first page.
inline wire::RangeTable sampleTable(uint32_t count) {
    constexpr uint64_t page = wire::tableGranularityBytes;
    wire::RangeTable table = {.windowBytes = uint64_t{count} * 6 * page - 300,
                              .leadBytes = 200,
                              .objects = {},
                              .pieces = {}};
    for (uint32_t i = 0; i < count; ++i) {
        const bool odd = i % 2 != 0;
        table.objects.push_back({.kind = odd ? ObjectKind::DmaBuf : ObjectKind::Memfd,
                                 .placement = odd ? Placement::Host : Placement::Device,
                                 .sizeBytes = 16 * page,
                                 .device = {0xca, 0x5e}});
        table.pieces.push_back({.object = i, .offset = page, .sizeBytes = 2 * page});
        table.pieces.push_back(
            {.object = i, .access = Access::ReadOnly, .offset = 8 * page, .sizeBytes = 4 * page});
    }
    return table;
}

inline Seed tableSeed(std::string name, const wire::RangeTable &table, bool accepted = true) {
    return {std::move(name), wire::encodeTable(table), accepted};
}

inline std::vector<Seed> tableSeeds() {
    wire::RangeTable wrapping = sampleTable(1);
    wrapping.pieces[0].offset = UINT64_MAX - (wire::tableGranularityBytes - 1);
    wire::RangeTable unused = sampleTable(2);
    unused.pieces.resize(2);
    const Seed one = tableSeed("one_object", sampleTable(1));
    return {one,
            tableSeed("two_objects", sampleTable(2)),
            tableSeed("many_objects", sampleTable(20)),
            tableSeed("wrapping_offset", wrapping, false),
            tableSeed("unused_object", unused, false),
            tableSeed("empty", {}, false),
            nextVersion(one, 4)};
}

inline Seed requestSeed(std::string name, const wire::Request &request, bool accepted = true) {
    const wire::RequestBytes bytes = wire::encodeRequest(request);
    return {std::move(name), {bytes.begin(), bytes.end()}, accepted};
}

inline std::vector<Seed> requestSeeds() {
    wire::Request open = {.type = wire::RequestType::Open, .count = 252};
    open.token.fill(0x42);
    const wire::Request fetch = {.type = wire::RequestType::Fetch, .first = 252, .count = 253};
    wire::Request openInside = open;
    openInside.first = 1;
    wire::Request fetchWithToken = fetch;
    fetchWithToken.token.fill(0x42);
    return {requestSeed("open", open),
            requestSeed("fetch", fetch),
            requestSeed("open_with_first", openInside, false),
            requestSeed("fetch_with_token", fetchWithToken, false),
            requestSeed("count_zero", {.count = 0}, false),
            nextVersion(requestSeed("open", open), 4)};
}

inline Seed replySeed(std::string name,
                      const wire::Reply &reply,
                      const std::vector<std::byte> &inlineTable = {},
                      bool accepted = true) {
    return {std::move(name), wire::encodeReply(reply, inlineTable), accepted};
}

inline std::vector<Seed> replySeeds() {
    const auto table = wire::encodeTable(sampleTable(2));
    const Seed open = replySeed("open_inline", {.fdCount = 2, .tableBytes = table.size()}, table);
    return {open,
            replySeed("open_in_file", {.tableInFile = true, .fdCount = 252, .tableBytes = 1 << 20}),
            replySeed("fetch", {.first = 252, .fdCount = 253}),
            replySeed("unknown_token", {.status = wire::ReplyStatus::UnknownToken}),
            replySeed("exhausted", {.status = wire::ReplyStatus::Exhausted, .first = 7}),
            replySeed("too_many_descriptors", {.fdCount = 254}, {}, false),
            replySeed("failed_with_descriptors",
                      {.status = wire::ReplyStatus::Failed, .fdCount = 1},
                      {},
                      false),
            nextVersion(open, 4)};
}

struct Corpus {
    std::string_view name; ///< of the target: unit_tests/fuzz/<name>_fuzz.cpp
    std::vector<Seed> seeds;
};

inline std::vector<Corpus> allCorpora() {
    return {{"handle", handleSeeds()},
            {"table", tableSeeds()},
            {"request", requestSeeds()},
            {"reply", replySeeds()}};
}

} // namespace causeway::fuzz
