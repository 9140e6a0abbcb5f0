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

/// Writes one whole line; any thread.
void logLine(LogLevel level, std::string_view text);

/// Never fails towards the caller, who may be a destructor: a line that cannot be made or written
/// is lost.
template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args &&...args) noexcept {
    try {
        if (level <= logLevel()) {
            logLine(level, fmt::format(format, std::forward<Args>(args)...));
        }
    } catch (...) { // NOLINT(bugprone-empty-catch)
    }
}

} // namespace causeway
