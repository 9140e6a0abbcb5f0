#pragma once

#include "unit_tests/source/ipc/test_backing.h"

namespace causeway::fuzz {

/// What connection_fuzz serves: one export with an inline table, one with a table in a file.
inline constexpr uint8_t tokenOfFew = 0xA5;
inline constexpr uint8_t tokenOfMany = 0x11;
inline constexpr size_t servedFew = 3;
inline constexpr size_t servedMany = 40;
inline constexpr size_t longTablePieces = 4000;

} // namespace causeway::fuzz
