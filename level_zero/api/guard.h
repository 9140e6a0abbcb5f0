#pragma once

#include "shared/base/result.h"

#include <level_zero/ze_api.h>

#include <string_view>

/// The one way in and out of the driver: every entry point runs its body in `guarded`, so that no
/// exception reaches the application and every failure leaves a sentence.
namespace causeway::api {

/// Keeps the sentence and answers the result that belongs to the error.
ze_result_t reportFailure(std::string_view function, const Error &error) noexcept;

/// The same for the exception being handled; only inside a catch block.
ze_result_t reportException(std::string_view function) noexcept;

/// Runs `body`, a callable that returns Result<void>.
template <typename Body>
ze_result_t guarded(std::string_view function, Body &&body) noexcept {
    try {
        const Result<void> result = body();
        return result ? ZE_RESULT_SUCCESS : reportFailure(function, result.error());
    } catch (...) {
        return reportException(function);
    }
}

} // namespace causeway::api
