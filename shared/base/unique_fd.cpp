#include "shared/base/unique_fd.h"

#include <unistd.h>

#include <cerrno>

namespace causeway {

void UniqueFd::reset() {
    if (fd_ < 0) {
        return;
    }
    // Callers read errno of the call that failed, not of our clean-up.
    const int saved = errno;
    ::close(std::exchange(fd_, -1));
    errno = saved;
}

} // namespace causeway
