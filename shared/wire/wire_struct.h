#pragma once

#include "shared/base/result.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

// What the encoders and decoders of this folder share; nobody else includes it.
namespace causeway::wire {

// Structs are copied to and from the wire as they are; another byte order would need swaps here.
static_assert(std::endian::native == std::endian::little);

/// A struct whose memory is its wire form. Implicit padding is excluded: its bytes would be
/// whatever the exporter's stack held, sent to the peer.
template <typename T>
concept WireStruct = std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>;

/// "CWYT" and the like: the characters in the order in which a dump shows them.
consteval uint32_t wireMagic(const char (&text)[5]) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) {
        value |= static_cast<uint32_t>(static_cast<uint8_t>(text[i])) << (8 * i);
    }
    return value;
}

/// The caller has checked that the bytes are there.
template <WireStruct T>
[[nodiscard]] T readWire(std::span<const std::byte> bytes, size_t offset) {
    assert(offset <= bytes.size() && sizeof(T) <= bytes.size() - offset);
    T value = {};
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

template <WireStruct T>
void writeWire(std::span<std::byte> bytes, size_t offset, const T &value) {
    assert(offset <= bytes.size() && sizeof(T) <= bytes.size() - offset);
    std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

/// For explicit padding, where this version writes zeros.
[[nodiscard]] inline bool allZero(std::span<const uint8_t> bytes) {
    return std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; });
}

/// The first bytes of every table and message. No later version may move magic and version, so
/// that each can name the version of what it does not understand, whatever its length.
struct WirePrefix {
    uint32_t magic = 0;
    uint16_t version = 0;
    uint16_t own = 0; ///< the format's and version's own
};

static_assert(sizeof(WirePrefix) == 8);
static_assert(offsetof(WirePrefix, magic) == 0);
static_assert(offsetof(WirePrefix, version) == 4);
static_assert(offsetof(WirePrefix, own) == 6);

/// `what` names the format in the error's sentence.
[[nodiscard]] inline Result<void> checkPrefix(std::string_view what,
                                              std::span<const std::byte> bytes,
                                              uint32_t magic,
                                              uint16_t version) {
    if (bytes.size() < sizeof(WirePrefix)) {
        return fail(Status::InvalidArgument,
                    "{}: length {} is below the {} bytes of magic and version",
                    what,
                    bytes.size(),
                    sizeof(WirePrefix));
    }
    const auto prefix = readWire<WirePrefix>(bytes, 0);
    if (prefix.magic != magic) {
        return fail(Status::InvalidArgument,
                    "{}: magic is {:#010x}, expected {:#010x}",
                    what,
                    prefix.magic,
                    magic);
    }
    if (prefix.version != version) {
        return fail(Status::UnsupportedVersion,
                    "{}: version is {}, this driver understands {}",
                    what,
                    prefix.version,
                    version);
    }
    return {};
}

} // namespace causeway::wire
