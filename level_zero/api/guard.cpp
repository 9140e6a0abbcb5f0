#include "level_zero/api/guard.h"

#include "level_zero/api/last_error.h"
#include "level_zero/api/result.h"
#include "shared/base/log.h"

#include <exception>
#include <new>

namespace causeway::api {
namespace {

void logFailure(std::string_view function, const Error &error) noexcept {
    try {
        log(LogLevel::Debug, "{}: {}: {}", function, toString(error.status), error.message);
    } catch (...) { // NOLINT(bugprone-empty-catch): a log that cannot be written is lost
    }
}

} // namespace

ze_result_t reportFailure(std::string_view function, const Error &error) noexcept {
    if (error.status == Status::NotReady) {
        return ZE_RESULT_NOT_READY; // no error, and asked for again and again
    }
    setLastError(function, error.message);
    logFailure(function, error);
    return toZeResult(error.status);
}

ze_result_t reportException(std::string_view function) noexcept {
    try {
        throw;
    } catch (const std::bad_alloc &) {
        setLastError(function, "out of host memory");
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    } catch (const std::exception &exception) {
        setLastError(function, exception.what());
        return ZE_RESULT_ERROR_UNKNOWN;
    } catch (...) {
        setLastError(function, "an exception of unknown type");
        return ZE_RESULT_ERROR_UNKNOWN;
    }
}

} // namespace causeway::api
