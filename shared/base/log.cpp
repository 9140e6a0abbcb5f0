#include "shared/base/log.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace causeway {
namespace {

constexpr std::array<std::string_view, 5> levelNames = {"none", "error", "warn", "info", "debug"};

struct LogTarget {
    LogLevel level = LogLevel::Warn;
    FILE *file = stderr;
};

LogTarget readEnvironment() {
    LogTarget target;
    const char *text = std::getenv("CAUSEWAY_LOG");
    if (text == nullptr || *text == '\0') {
        return target;
    }
    const std::string_view value(text);
    const auto colon = value.find(':');
    const std::string_view name = value.substr(0, colon);
    bool known = false;
    for (size_t i = 0; i < levelNames.size(); ++i) {
        if (name == levelNames[i]) {
            target.level = static_cast<LogLevel>(i);
            known = true;
        }
    }
    if (colon != std::string_view::npos) {
        // "e": the file must not leak into programs that the application starts.
        FILE *file = std::fopen(std::string(value.substr(colon + 1)).c_str(), "ae");
        if (file != nullptr) {
            target.file = file;
        }
    }
    if (!known) {
        fmt::print(
            target.file, "causeway warn: CAUSEWAY_LOG={} is not a level; using warn\n", text);
    }
    return target;
}

const LogTarget &target() {
    static const LogTarget instance = readEnvironment();
    return instance;
}

} // namespace

LogLevel logLevel() {
    return target().level;
}

void logLine(LogLevel level, std::string_view text) {
    // One fwrite of one line: stdio's own lock keeps lines of several threads apart.
    const std::string line = fmt::format(
        "causeway[{}] {}: {}\n", ::getpid(), levelNames[static_cast<size_t>(level)], text);
    std::fwrite(line.data(), 1, line.size(), target().file);
    std::fflush(target().file);
}

} // namespace causeway
