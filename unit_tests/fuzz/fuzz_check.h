#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace causeway::fuzz {

/// Like assert, but also in a build with NDEBUG: libFuzzer reports the abort with its input.
inline void require(bool holds, const char *what) {
    if (!holds) {
        std::fprintf(stderr, "does not hold: %s\n", what);
        std::abort();
    }
}

/// Whether the target took the input of the last run for what it should be: a replay compares it
/// with its seeds.
inline bool lastWasAccepted = false;

inline std::span<const std::byte> bytesOf(const uint8_t *data, size_t size) {
    return std::as_bytes(std::span(data, size));
}

} // namespace causeway::fuzz
