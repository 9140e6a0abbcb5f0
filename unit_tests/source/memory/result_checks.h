#pragma once

#include "shared/base/result.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace causeway {

/// The value of a result that must be there: otherwise the test ends with the error's sentence.
template <typename T>
[[nodiscard]] T must(Result<T> result) {
    if (!result) {
        throw std::runtime_error(
            fmt::format("{}: {}", toString(result.error().status), result.error().message));
    }
    return std::move(*result);
}

inline void must(const Result<void> &result) {
    if (!result) {
        throw std::runtime_error(
            fmt::format("{}: {}", toString(result.error().status), result.error().message));
    }
}

/// EXPECT_TRUE(failsWith(manager.reserve(0, 0), Status::UnsupportedSize, "multiple of"));
/// Every error must have a sentence; `text` must be a part of it.
template <typename T>
[[nodiscard]] ::testing::AssertionResult failsWith(const Result<T> &result,
                                                   Status status,
                                                   std::string_view text = "") {
    if (result) {
        return ::testing::AssertionFailure() << "it succeeded";
    }
    const Error &error = result.error();
    if (error.status != status) {
        return ::testing::AssertionFailure() << toString(error.status) << " instead of "
                                             << toString(status) << ": " << error.message;
    }
    if (error.message.empty() || error.message.find(text) == std::string::npos) {
        return ::testing::AssertionFailure()
               << "the sentence \"" << error.message << "\" does not say \"" << text << '"';
    }
    return ::testing::AssertionSuccess();
}

template <typename T>
[[nodiscard]] ::testing::AssertionResult succeeds(const Result<T> &result) {
    if (result) {
        return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure()
           << toString(result.error().status) << ": " << result.error().message;
}

} // namespace causeway
