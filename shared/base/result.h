#pragma once

#include "shared/base/status.h"

#include <fmt/core.h>

#include <expected>
#include <string>
#include <utility>

namespace causeway {

/// A failure: what kind, and one sentence for the person who reads
/// zeDriverGetLastErrorDescription (what was asked, what was found, where).
struct Error {
    Status status = Status::Unknown;
    std::string message;
};

/// Errors are values and cannot be dropped.
template <typename T>
class [[nodiscard]] Result : public std::expected<T, Error> {
  public:
    using std::expected<T, Error>::expected;
};

/// `return fail(Status::InvalidSize, "size {} is not a multiple of {}", size, page);`
template <typename... Args>
[[nodiscard]] std::unexpected<Error> fail(Status status,
                                          fmt::format_string<Args...> format,
                                          Args &&...args) {
    return std::unexpected(Error{status, fmt::format(format, std::forward<Args>(args)...)});
}

/// The answer to a look at what is not done yet; without a sentence, since it is polled for.
[[nodiscard]] inline std::unexpected<Error> notReady() {
    return std::unexpected(Error{Status::NotReady, {}});
}

/// Passes another result's error on: `return forward(result);`
template <typename T>
[[nodiscard]] std::unexpected<Error> forward(Result<T> &result) {
    return std::unexpected(std::move(result.error()));
}

/// The same with the place put in front: "<context>: <message>".
template <typename T>
[[nodiscard]] std::unexpected<Error> forward(Result<T> &result, std::string_view context) {
    return fail(result.error().status, "{}: {}", context, result.error().message);
}

} // namespace causeway
