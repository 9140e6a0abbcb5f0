#include "source/copy/fence.h"

#include "source/copy/failure_latch.h"
#include "source/copy/word_wait.h"

namespace causeway::copy {

Result<bool> Fence::wait(uint64_t timeoutNs) const {
    auto ended = waitUntilSet(os_, ended_, Deadline::after(os_, timeoutNs));
    if (!ended || !*ended) {
        return ended;
    }
    const MutexLock lock(mutex_);
    if (error_) {
        return std::unexpected(*error_);
    }
    return true;
}

void Fence::reset() {
    const MutexLock lock(mutex_);
    ended_ = 0;
    error_.reset();
}

void Fence::signal() {
    setAndWake(os_, ended_, 1);
}

void Fence::fail(const Error &error) noexcept {
    {
        const MutexLock lock(mutex_);
        error_ = copyOf(error);
    }
    setAndWake(os_, ended_, 1);
}

} // namespace causeway::copy
