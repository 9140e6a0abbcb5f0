#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

/// The bytes that tests write into objects: derived from the object's number and the offset in it
/// alone, so that every process knows what must be where.
namespace causeway::black_box {

/// The smallest page of device memory; most objects of the tests are this large.
inline constexpr size_t chunk = 65536;

/// The page of the operating system, and of host memory.
inline constexpr size_t smallPage = 4096;

/// The 64-bit word at a multiple of 8 in an object; differs between objects, pages and words.
inline uint64_t patternWord(uint64_t object, uint64_t offset) {
    const uint64_t page = offset / smallPage;
    const uint64_t word = offset % smallPage / sizeof(uint64_t);
    uint64_t mixed = (object << 32) ^ (page << 10) ^ word;
    mixed += 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31);
}

inline uint8_t patternByte(uint64_t object, uint64_t offset) {
    const uint64_t word = patternWord(object, offset & ~uint64_t{7});
    return static_cast<uint8_t>(word >> (8 * (offset & 7)));
}

inline uint64_t loadWord(const void *address) {
    uint64_t word = 0;
    std::memcpy(&word, address, sizeof(word));
    return word;
}

inline void storeWord(void *address, uint64_t word) {
    std::memcpy(address, &word, sizeof(word));
}

/// FNV-1a, one byte at a time: a shifted, swapped or missing byte changes it.
class Checksum {
  public:
    void add(uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001B3ULL; }

    void add(const void *bytes, size_t size) {
        const auto *next = static_cast<const uint8_t *>(bytes);
        for (size_t i = 0; i < size; ++i) {
            add(next[i]);
        }
    }

    [[nodiscard]] uint64_t value() const { return value_; }

  private:
    uint64_t value_ = 0xCBF29CE484222325ULL;
};

inline uint64_t checksumOf(const void *bytes, size_t size) {
    Checksum sum;
    sum.add(bytes, size);
    return sum.value();
}

/// The first and the last word of an object, for tests with very many.
inline void fillEnds(void *address, size_t size, uint64_t object) {
    auto *bytes = static_cast<std::byte *>(address);
    storeWord(bytes, patternWord(object, 0));
    storeWord(bytes + size - sizeof(uint64_t), patternWord(object, size - sizeof(uint64_t)));
}

inline bool hasEnds(const void *address, size_t size, uint64_t object) {
    const auto *bytes = static_cast<const std::byte *>(address);
    const size_t last = size - sizeof(uint64_t);
    return loadWord(bytes) == patternWord(object, 0) &&
           loadWord(bytes + last) == patternWord(object, last);
}

/// Every byte of an object.
inline void fillWhole(void *address, size_t size, uint64_t object) {
    auto *bytes = static_cast<std::byte *>(address);
    for (size_t offset = 0; offset < size; offset += sizeof(uint64_t)) {
        storeWord(bytes + offset, patternWord(object, offset));
    }
}

} // namespace causeway::black_box
