#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace causeway {

/// a + b, or nothing where it would wrap.
[[nodiscard]] constexpr std::optional<uint64_t> checkedAdd(uint64_t a, uint64_t b) {
    if (b > UINT64_MAX - a) {
        return std::nullopt;
    }
    return a + b;
}

/// a * b, or nothing where it would wrap.
[[nodiscard]] constexpr std::optional<uint64_t> checkedMultiply(uint64_t a, uint64_t b) {
    if (b != 0 && a > UINT64_MAX / b) {
        return std::nullopt;
    }
    return a * b;
}

/// True where [offset, offset + length) lies within [0, limit); no sum that could wrap.
[[nodiscard]] constexpr bool fitsWithin(uint64_t offset, uint64_t length, uint64_t limit) {
    return offset <= limit && length <= limit - offset;
}

/// `alignment` is a power of two.
[[nodiscard]] constexpr uint64_t alignDown(uint64_t value, uint64_t alignment) {
    return value & ~(alignment - 1);
}

[[nodiscard]] constexpr std::optional<uint64_t> alignUp(uint64_t value, uint64_t alignment) {
    const auto padded = checkedAdd(value, alignment - 1);
    if (!padded) {
        return std::nullopt;
    }
    return alignDown(*padded, alignment);
}

[[nodiscard]] constexpr bool isAligned(uint64_t value, uint64_t alignment) {
    return (value & (alignment - 1)) == 0;
}

[[nodiscard]] constexpr bool isPowerOfTwo(uint64_t value) {
    return std::has_single_bit(value);
}

} // namespace causeway
