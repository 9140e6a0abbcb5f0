#include "source/copy/failure_latch.h"

#include <new>

namespace causeway::copy {

Error copyOf(const Error &error) noexcept {
    try {
        return error;
    } catch (const std::bad_alloc &) {
        return {error.status, {}};
    }
}

void FailureLatch::set(const Error &error) noexcept {
    const MutexLock lock(mutex_);
    if (!error_) {
        error_ = copyOf(error);
        isSet_ = true;
    }
}

Result<void> FailureLatch::check() const {
    if (!isSet_) {
        return {};
    }
    const MutexLock lock(mutex_);
    return std::unexpected(*error_);
}

} // namespace causeway::copy
