#pragma once

#include "shared/base/status.h"

#include <level_zero/ze_api.h>

namespace causeway::api {

/// The one translation of the engine's statuses.
[[nodiscard]] ze_result_t toZeResult(Status status);

} // namespace causeway::api
