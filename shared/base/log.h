#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace causeway {

enum class LogLevel : uint8_t { None, Error, Warn, Info, Debug };

/// The level of CAUSEWAY_LOG (`error`, `warn`, `info`, `debug`, optionally `:file`), read once.
/// Unset: Warn, to stderr.
[[nodiscard]] LogLevel logLevel();

/// Writes one whole line; any thread. Never fails towards the caller: a log that cannot be written
/// is lost.
void logLine(LogLevel level, std::string_view text);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args &&...args) {
    if (level <= logLevel()) {
        logLine(level, fmt::format(format, std::forward<Args>(args)...));
    }
}

} // namespace causeway
