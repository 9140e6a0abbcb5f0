#pragma once

#include <cstddef>

/// Touches memory in a forked process and tells how that ended.
namespace causeway::black_box {

/// The signal that ended the fork, or 0 where the access went well.
int signalOfRead(const std::byte *address);

/// Writes a zero byte.
int signalOfWrite(std::byte *address);

} // namespace causeway::black_box
