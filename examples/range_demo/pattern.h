#pragma once

#include "examples/range_demo/scenario.h"

#include <cstddef>
#include <cstdint>

/// The bytes that travel. Every 8-byte word says who wrote it, in which object and at which
/// position there, so no two words of a range are equal, and a piece that was mapped in the wrong
/// place gives itself away.
///
/// The program touches all memory from the CPU, which Causeway's soft device allows for device
/// memory too. With a device whose memory the CPU cannot reach, these functions would be copies
/// in a command list.
namespace range_demo {

enum class Author : uint8_t { Exporter = 'E', Importer = 'I' };

constexpr size_t wordBytes = sizeof(uint64_t);

/// The highest object number that a word can hold.
constexpr uint32_t maximumObject = 0xffff;

struct Word {
    Author author = Author::Exporter;
    uint32_t object = 0; ///< up to maximumObject
    size_t position = 0; ///< in bytes from the start of the object, below 2^40
};

uint64_t encode(const Word &word);
Word decode(uint64_t bits);

/// Writes `sizeBytes` at `memory`, which shows the object from `word.position` on.
void fill(void *memory, size_t sizeBytes, Word word);

/// Reads `sizeBytes` at `memory` and returns how many bytes it compared: all of them. Throws at the
/// first word that is not as fill() would have left it.
size_t verify(const void *memory, size_t sizeBytes, Word word);

} // namespace range_demo
