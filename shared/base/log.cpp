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

void write(FILE *file, const std::string &line) {
    // One fwrite of one line: stdio's own lock keeps lines of several threads apart.
    std::fwrite(line.data(), 1, line.size(), file);
    std::fflush(file);
}

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
        const std::string path(value.substr(colon + 1));
        if (FILE *file = std::fopen(path.c_str(), "ae")) {
            target.file = file;
        } else {
            write(stderr, fmt::format("causeway warn: CAUSEWAY_LOG: {} cannot be opened\n", path));
        }
    }
    if (!known) {
        write(target.file,
              fmt::format("causeway warn: CAUSEWAY_LOG={} is not a level; using warn\n", text));
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
    write(target().file,
          fmt::format(
              "causeway[{}] {}: {}\n", ::getpid(), levelNames[static_cast<size_t>(level)], text));
}

} // namespace causeway
