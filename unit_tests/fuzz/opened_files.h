#pragma once

#include "unit_tests/fuzz/talk.h"

#include <cstddef>

namespace causeway::fuzz {

/// The numbers at which open_fuzz has a file of each kind (FdKind), and behind them a ticket.
inline constexpr int firstKnownFd = 100;
inline constexpr int ticketFd = firstKnownFd + static_cast<int>(FdKind::TableFile);

inline constexpr uint64_t sharedBytes = uint64_t{128} * 1024;
inline constexpr std::byte ownHandleMark{'o'};

} // namespace causeway::fuzz
