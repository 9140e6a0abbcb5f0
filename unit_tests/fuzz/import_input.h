#pragma once

#include "unit_tests/fuzz/talk.h"

#include <cstring>

namespace causeway::fuzz {

/// The handle's size, the importer's limit of descriptors in eights, and what the exporter says.
struct ImportInput {
    uint64_t windowBytes = 0;
    uint64_t descriptorLimit = 1024;
    std::vector<Message> talk = {};
};

inline constexpr size_t importHeaderBytes = 9;

inline ImportInput parseImport(std::span<const std::byte> input) {
    ImportInput parsed;
    if (input.size() >= importHeaderBytes) {
        std::memcpy(&parsed.windowBytes, input.data(), sizeof(parsed.windowBytes));
        parsed.descriptorLimit = 8 * std::to_integer<uint64_t>(input[8]);
        parsed.talk = parseTalk(input.subspan(importHeaderBytes));
    }
    return parsed;
}

inline std::vector<std::byte> writeImport(const ImportInput &input) {
    std::vector<std::byte> bytes(importHeaderBytes);
    std::memcpy(bytes.data(), &input.windowBytes, sizeof(input.windowBytes));
    bytes[8] = static_cast<std::byte>(input.descriptorLimit / 8);
    const auto talk = writeTalk(input.talk);
    bytes.insert(bytes.end(), talk.begin(), talk.end());
    return bytes;
}

} // namespace causeway::fuzz
