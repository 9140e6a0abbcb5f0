#pragma once

#include <level_zero/ze_api.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

/// Entry points that only say that there is no such thing here: a loader's own answer to a missing
/// one differs from mode to mode, and explains nothing.
namespace causeway::api {

/// Text that can be an argument of a template.
template <size_t N>
struct FixedText {
    // NOLINTNEXTLINE(google-explicit-constructor, *-avoid-c-arrays): written as a literal
    constexpr FixedText(const char (&literal)[N]) { std::copy_n(literal, N, text); }

    [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }

    char text[N] = {}; // NOLINT(*-avoid-c-arrays)
};

/// UNSUPPORTED_FEATURE with the sentence "<function>: <why>"; UNINITIALIZED before zeInit.
ze_result_t refuse(std::string_view function, std::string_view why) noexcept;

template <FixedText Function, FixedText Why, typename... Arguments>
ze_result_t ZE_APICALL refused(Arguments...) noexcept {
    return refuse(Function.view(), Why.view());
}

} // namespace causeway::api
