#pragma once

#include <cstdint>

namespace causeway::core {

/// CAUSEWAY_VERSION_* come from the build: the project's version.
inline constexpr uint32_t driverVersion =
    (CAUSEWAY_VERSION_MAJOR << 24) | (CAUSEWAY_VERSION_MINOR << 16) | CAUSEWAY_VERSION_PATCH;
static_assert(driverVersion != 0, "applications take 0 for no driver");

} // namespace causeway::core
