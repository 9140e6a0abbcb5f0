#include "examples/range_demo/pattern.h"

#include <fmt/core.h>

#include <stdexcept>

namespace range_demo {

namespace {

constexpr unsigned positionBits = 40;
constexpr unsigned objectBits = 16;

[[noreturn]] void throwMismatch(const Word &word, uint64_t found) {
    throw std::runtime_error(fmt::format("object {}, byte {}: expected {:#018x}, found {:#018x}",
                                         word.object,
                                         word.position,
                                         encode(word),
                                         found));
}

} // namespace

uint64_t encode(const Word &word) {
    return (uint64_t{static_cast<uint8_t>(word.author)} << (positionBits + objectBits)) |
           (uint64_t{word.object} << positionBits) | word.position;
}

Word decode(uint64_t bits) {
    return {.author = static_cast<Author>(bits >> (positionBits + objectBits)),
            .object = static_cast<uint32_t>(bits >> positionBits) & maximumObject,
            .position = bits & ((uint64_t{1} << positionBits) - 1)};
}

void fill(void *memory, size_t sizeBytes, Word word) {
    auto *words = static_cast<uint64_t *>(memory);
    for (size_t i = 0; i < sizeBytes / wordBytes; ++i) {
        words[i] = encode(word);
        word.position += wordBytes;
    }
}

size_t verify(const void *memory, size_t sizeBytes, Word word) {
    const auto *words = static_cast<const uint64_t *>(memory);
    size_t verifiedBytes = 0;
    for (size_t i = 0; i < sizeBytes / wordBytes; ++i) {
        if (words[i] != encode(word)) {
            throwMismatch(word, words[i]);
        }
        word.position += wordBytes;
        verifiedBytes += wordBytes;
    }
    return verifiedBytes;
}

} // namespace range_demo
