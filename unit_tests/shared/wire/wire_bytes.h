#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <span>
#include <vector>

namespace causeway::wire {

using Bytes = std::vector<std::byte>;

/// A peer's bytes, spelled out.
inline Bytes bytesOf(std::initializer_list<int> values) {
    Bytes bytes;
    bytes.reserve(values.size());
    for (const int value : values) {
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

/// Overwrites `width` bytes at `offset`, least significant byte first.
inline void poke(std::span<std::byte> bytes, size_t offset, size_t width, uint64_t value) {
    for (size_t i = 0; i < width; ++i) {
        bytes[offset + i] = static_cast<std::byte>(value >> (8 * i));
    }
}

inline Bytes poked(Bytes bytes, size_t offset, size_t width, uint64_t value) {
    poke(bytes, offset, width, value);
    return bytes;
}

inline void flipBit(std::span<std::byte> bytes, size_t bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
}

struct Field {
    const char *name;
    size_t offset;
    size_t width;
    std::set<uint64_t> accepted; ///< of 0, 1, greatest - 1 and greatest, those that are in order
};

/// Calls check(bytes, whether they are to be accepted) for `valid` with the field at each extreme.
void forEachExtreme(const Field &field, const Bytes &valid, const auto &check) {
    const uint64_t greatest = UINT64_MAX >> (8 * (8 - field.width));
    for (const uint64_t value : {uint64_t{0}, uint64_t{1}, greatest - 1, greatest}) {
        SCOPED_TRACE(testing::Message() << field.name << " = " << value);
        check(poked(valid, field.offset, field.width, value), field.accepted.contains(value));
    }
}

} // namespace causeway::wire
