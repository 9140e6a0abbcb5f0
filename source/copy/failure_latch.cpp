#include "source/copy/failure_latch.h"

#include <new>
#include <string>

namespace causeway::copy {

Error errorOf(Status status, std::string_view message) noexcept {
    try {
        return {status, std::string(message)};
    } catch (const std::bad_alloc &) {
        return {status, {}};
    }
}

Error copyOf(const Error &error) noexcept {
    return errorOf(error.status, error.message);
}

void FailureLatch::set(const Error &error) noexcept {
    const MutexLock lock(mutex_);
    if (!error_) {
        error_ = copyOf(error);
        isSet_ = true;
    }
}

Result<void> FailureLatch::check() const noexcept {
    if (!isSet_) {
        return {};
    }
    const MutexLock lock(mutex_);
    return error_ ? std::unexpected(copyOf(*error_)) : Result<void>();
}

} // namespace causeway::copy
