#pragma once

#include "examples/range_demo/scenario.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// What a person sees. Each line is flushed at once, since two processes share the output.
/// Throws where the standard output cannot be written.
namespace range_demo {

enum class Role : uint8_t { Exporter, Importer };

std::string_view nameOf(Role role);

/// Prints a line as it is.
void printLine(std::string_view text);

/// "exporter  mapped ..."
template <typename... Args>
void say(Role role, fmt::format_string<Args...> format, Args &&...args) {
    printLine(
        fmt::format("{:<10}{}", nameOf(role), fmt::format(format, std::forward<Args>(args)...)));
}

/// A table with one row a piece.
void printLayout(std::span<const Piece> pieces);

/// "read-write", "device": as the table spells them.
std::string_view nameOf(ze_memory_access_attribute_t access);
std::string_view nameOf(ze_memory_type_t placement);

/// "4,096"
std::string grouped(uint64_t number);

/// "4,096 objects", "1 object"
std::string counted(uint64_t number, std::string_view thing);

/// "26 of 64": open files of this process and how many it may have.
std::string openFiles();

class Stopwatch {
  public:
    /// "412 us" since the construction.
    [[nodiscard]] std::string elapsed() const;

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace range_demo
