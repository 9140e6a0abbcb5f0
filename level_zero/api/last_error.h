#pragma once

#include <string_view>

namespace causeway::api {

/// The sentence of this thread's last failed call, for zeDriverGetLastErrorDescription. Never null,
/// empty before the first failure, valid until the thread's next failed call.
[[nodiscard]] const char *lastError() noexcept;

/// Stores "<function>: <message>", cut to 1023 bytes.
void setLastError(std::string_view function, std::string_view message) noexcept;

} // namespace causeway::api
