#pragma once

#include <span>
#include <string_view>

namespace causeway::api {

struct NamedFunction {
    std::string_view name;
    void *address = nullptr;
};

/// Every entry point that the driver implements, for zeDriverGetExtensionFunctionAddress: an
/// application behind an older loader reaches the newer ones by name.
[[nodiscard]] std::span<const NamedFunction> namedFunctions();

/// Null for a name that is not among them.
[[nodiscard]] void *findFunction(std::string_view name);

} // namespace causeway::api
