#pragma once

#include <bit>
#include <cstdint>

namespace causeway {

/// Addresses of this process are numbers wherever they are reckoned with.
[[nodiscard]] inline uint64_t toAddress(const void *pointer) {
    return std::bit_cast<uint64_t>(pointer);
}

[[nodiscard]] inline void *toPointer(uint64_t address) {
    return std::bit_cast<void *>(address);
}

} // namespace causeway
