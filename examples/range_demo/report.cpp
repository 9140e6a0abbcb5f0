#include "examples/range_demo/report.h"

#include <sys/resource.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace range_demo {

std::string_view nameOf(Role role) {
    return role == Role::Exporter ? "exporter" : "importer";
}

void printLine(std::string_view text) {
    fmt::print("{}\n", text);
    if (std::fflush(stdout) != 0) {
        throw std::system_error(errno, std::generic_category(), "standard output");
    }
}

std::string_view nameOf(ze_memory_access_attribute_t access) {
    switch (access) {
    case ZE_MEMORY_ACCESS_ATTRIBUTE_NONE:
        return "none";
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE:
        return "read-write";
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY:
        return "read-only";
    default:
        return "?";
    }
}

std::string_view nameOf(ze_memory_type_t placement) {
    switch (placement) {
    case ZE_MEMORY_TYPE_HOST:
        return "host";
    case ZE_MEMORY_TYPE_DEVICE:
        return "device";
    case ZE_MEMORY_TYPE_SHARED:
        return "shared";
    default:
        return "unknown";
    }
}

void printLayout(std::span<const Piece> pieces) {
    constexpr auto *row = "{:10}{:>5}  {:>6}  {:>9}  {:>9}  {:<10}  {}";
    printLine("");
    printLine(fmt::format(
        fmt::runtime(row), "", "piece", "object", "offset", "size", "access", "placement"));
    for (size_t i = 0; i < pieces.size(); ++i) {
        const Piece &piece = pieces[i];
        printLine(fmt::format(fmt::runtime(row),
                              "",
                              i,
                              piece.object,
                              grouped(piece.offset),
                              grouped(piece.sizeBytes),
                              nameOf(piece.access),
                              nameOf(piece.placement)));
    }
    printLine("");
}

std::string grouped(uint64_t number) {
    std::string digits = fmt::format("{}", number);
    for (size_t end = digits.size(); end > 3;) {
        end -= 3;
        digits.insert(end, 1, ',');
    }
    return digits;
}

std::string counted(uint64_t number, std::string_view thing) {
    return fmt::format("{} {}{}", grouped(number), thing, number == 1 ? "" : "s");
}

std::string openFiles() {
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    std::error_code error;
    const std::filesystem::directory_iterator files("/proc/self/fd", error);
    if (error) {
        return fmt::format("? of {}", limit.rlim_cur);
    }
    // The listing is one of them.
    const auto open = std::distance(begin(files), end(files)) - 1;
    return fmt::format("{} of {}", open, limit.rlim_cur);
}

std::string Stopwatch::elapsed() const {
    const auto time = std::chrono::steady_clock::now() - start_;
    const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    return grouped(static_cast<uint64_t>(microseconds)) + " us";
}

} // namespace range_demo
