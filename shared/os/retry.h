#pragma once

#include "shared/os/os.h"
#include "shared/os/public_numbers.h"

#include <cerrno>

namespace causeway {

/// Calls `call` until it is not interrupted; -1 becomes errno.
template <typename Call>
[[nodiscard]] auto retry(Call call) -> OsResult<decltype(call())> {
    for (;;) {
        const auto result = call();
        if (result != decltype(result)(-1)) {
            return result;
        }
        if (errno != EINTR) {
            return std::unexpected(Errno{errno});
        }
    }
}

template <typename Call>
[[nodiscard]] OsResult<void> retryVoid(Call call) {
    const auto result = retry(call);
    if (!result) {
        return std::unexpected(result.error());
    }
    return {};
}

template <typename Call>
[[nodiscard]] OsResult<UniqueFd> retryFd(Call call) {
    const auto result = retry(call);
    if (!result) {
        return std::unexpected(result.error());
    }
    UniqueFd fd(static_cast<int>(*result));
    PublicNumbers::ofProcess().given(fd.get());
    return fd;
}

} // namespace causeway
