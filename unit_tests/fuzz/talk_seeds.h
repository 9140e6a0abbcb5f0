#pragma once

#include "shared/os/linux_os.h"
#include "source/kmd/soft/soft_backend.h"
#include "unit_tests/fuzz/import_input.h"
#include "unit_tests/fuzz/opened_files.h"
#include "unit_tests/fuzz/seeds.h"
#include "unit_tests/fuzz/served_exports.h"

/// Seeds of the targets that talk to the driver's classes.
namespace causeway::fuzz {

/// `count` objects of the soft device of this machine, one piece each.
inline wire::RangeTable reachableTable(uint32_t count) {
    const kmd::soft::SoftBackend backend(linuxOs(), {});
    wire::RangeTable table;
    for (uint32_t i = 0; i < count; ++i) {
        table.objects.push_back(
            {.sizeBytes = objectBytes, .device = backend.devices()[0]->properties().uuid});
        table.pieces.push_back({.object = i, .sizeBytes = objectBytes});
    }
    table.windowBytes = count * objectBytes;
    return table;
}

inline Message replyMessage(const wire::Reply &reply,
                            const std::vector<std::byte> &inlineTable = {}) {
    const uint32_t fds = reply.fdCount + (reply.tableInFile ? 1 : 0);
    return {.fdCount = static_cast<uint8_t>(fds), .bytes = wire::encodeReply(reply, inlineTable)};
}

/// All objects come with the table.
inline ImportInput honestImport(const wire::RangeTable &table) {
    const auto bytes = wire::encodeTable(table);
    return {.windowBytes = table.windowBytes,
            .talk = {replyMessage({.fdCount = static_cast<uint32_t>(table.objects.size()),
                                   .tableBytes = bytes.size()},
                                  bytes)}};
}

/// The table first, then one object with each answer.
inline ImportInput slowImport(const wire::RangeTable &table) {
    const auto bytes = wire::encodeTable(table);
    ImportInput input = {.windowBytes = table.windowBytes,
                         .descriptorLimit = 8, // batches of one
                         .talk = {replyMessage({.tableBytes = bytes.size()}, bytes)}};
    for (uint32_t i = 0; i < table.objects.size(); ++i) {
        input.talk.push_back(replyMessage({.first = i, .fdCount = 1}));
    }
    return input;
}

inline ImportInput importWithTableFile(const wire::RangeTable &table) {
    const auto bytes = wire::encodeTable(table);
    ImportInput input = {.windowBytes = table.windowBytes};
    input.talk.push_back(replyMessage({.tableInFile = true,
                                       .fdCount = static_cast<uint32_t>(table.objects.size()),
                                       .tableBytes = bytes.size()}));
    input.talk[0].oddKind = FdKind::TableFile;
    input.talk.push_back({.bytes = bytes});
    return input;
}

inline Seed importSeed(std::string name, const ImportInput &input, bool accepted = true) {
    return {std::move(name), writeImport(input), accepted};
}

inline constexpr std::string_view damagedField = "field_";

/// Each field of a table, one after the other, as 0, 1 and its two greatest values.
inline std::vector<Seed> damagedTableSeeds() {
    const ImportInput honest = honestImport(reachableTable(1));
    const size_t tableAt = wire::replyHeaderBytes;
    const size_t tableBytes = honest.talk[0].bytes.size() - tableAt;
    std::vector<Seed> seeds;
    for (const size_t width : {size_t{1}, size_t{2}, size_t{4}, size_t{8}}) {
        for (size_t at = 0; at + width <= tableBytes; at += width) {
            for (const int value : {0, 1, -1, -2}) {
                ImportInput damaged = honest;
                auto &bytes = damaged.talk[0].bytes;
                std::memset(&bytes[tableAt + at], value < 0 ? 0xFF : 0, width);
                bytes[tableAt + at] = static_cast<std::byte>(value);
                seeds.push_back(importSeed(std::string(damagedField) + std::to_string(at) + "_" +
                                               std::to_string(8 * width) + "_" +
                                               std::to_string(value),
                                           damaged));
            }
        }
    }
    return seeds;
}

inline std::vector<Seed> importSeeds() {
    std::vector<Seed> seeds = {importSeed("inline", honestImport(reachableTable(3))),
                               importSeed("in_batches", slowImport(reachableTable(3))),
                               importSeed("table_in_file", importWithTableFile(reachableTable(4))),
                               importSeed("silent", {.windowBytes = objectBytes}, false)};
    for (uint8_t kind = 1; kind < static_cast<uint8_t>(FdKind::Count); ++kind) {
        ImportInput odd = honestImport(reachableTable(3));
        odd.talk[0].oddKind = static_cast<FdKind>(kind);
        odd.talk[0].oddAt = 1;
        seeds.push_back(importSeed("wrong_file_" + std::to_string(kind), odd, false));
    }
    ImportInput unsealedTable = importWithTableFile(reachableTable(4));
    unsealedTable.talk[0].oddKind = FdKind::Unsealed;
    seeds.push_back(importSeed("unsealed_table", unsealedTable, false));
    const auto damaged = damagedTableSeeds();
    seeds.insert(seeds.end(), damaged.begin(), damaged.end());
    return seeds;
}

inline Message requestMessage(const wire::Request &request) {
    const auto bytes = wire::encodeRequest(request);
    return {.bytes = {bytes.begin(), bytes.end()}};
}

inline Message openMessage(uint8_t tokenByte, uint32_t count) {
    wire::Request open = {.type = wire::RequestType::Open, .count = count};
    open.token.fill(tokenByte);
    return requestMessage(open);
}

inline Message fetchMessage(uint32_t first, uint32_t count) {
    return requestMessage({.type = wire::RequestType::Fetch, .first = first, .count = count});
}

inline std::vector<Seed> connectionSeeds() {
    Message withDescriptors = openMessage(tokenOfFew, 1);
    withDescriptors.fdCount = 3;
    const auto seed = [](std::string name, const std::vector<Message> &talk, bool accepted = true) {
        return Seed{std::move(name), writeTalk(talk), accepted};
    };
    return {
        seed("all_at_once", {openMessage(tokenOfFew, 253)}),
        seed("one_by_one", {openMessage(tokenOfFew, 1), fetchMessage(1, 1), fetchMessage(2, 253)}),
        seed("long_table", {openMessage(tokenOfMany, 8), fetchMessage(7, 200)}),
        seed("other_token_later", {openMessage(tokenOfFew, 1), openMessage(tokenOfMany, 1)}),
        seed("fetch_first", {fetchMessage(0, 1), openMessage(tokenOfFew, 1)}, false),
        seed("unknown_token", {openMessage(0x77, 1), fetchMessage(0, 1)}, false),
        seed("beyond_the_end", {openMessage(tokenOfFew, 1), fetchMessage(3, 1)}),
        seed("descriptors_on_a_request", {withDescriptors, fetchMessage(0, 3)})};
}

inline std::vector<Seed> openSeeds() {
    std::vector<Seed> seeds = handleSeeds();
    for (Seed &seed : seeds) {
        seed.accepted = false; // of exporters that are not there
    }
    const auto own = [&](std::string name, std::vector<std::byte> patch, bool accepted) {
        patch.insert(patch.begin(), ownHandleMark);
        seeds.push_back({std::move(name), std::move(patch), accepted});
    };
    own("own", {}, true);
    own("own_moved", {std::byte{0}, static_cast<std::byte>(ticketFd), {}, {}, {}}, true);
    own("own_zero_rest", std::vector<std::byte>(1 + 60), true);
    seeds.back().bytes[1] = std::byte{4};
    for (int fd = firstKnownFd; fd <= ticketFd; ++fd) {
        std::vector<std::byte> alone(sizeof(wire::HandleBytes));
        alone[0] = static_cast<std::byte>(fd);
        // Of objects' files and tickets the importer learns all that it needs.
        const bool isMemory = fd == firstKnownFd || fd == ticketFd;
        seeds.push_back({"descriptor_" + std::to_string(fd), alone, isMemory});
    }
    return seeds;
}

inline std::vector<Corpus> wholeCorpora() {
    auto corpora = allCorpora();
    corpora.push_back({"import", importSeeds()});
    corpora.push_back({"connection", connectionSeeds()});
    corpora.push_back({"open", openSeeds()});
    return corpora;
}

} // namespace causeway::fuzz
