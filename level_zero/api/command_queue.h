#pragma once

#include "level_zero/core/command_queue.h"
#include "shared/base/result.h"

#include <level_zero/ze_api.h>

namespace causeway::api {

/// Errors: InvalidNullPointer, InvalidEnumeration (flags, mode, priority), InvalidArgument (no such
/// group or queue).
[[nodiscard]] Result<core::QueueShape> readQueueDescriptor(const ze_command_queue_desc_t *desc,
                                                           std::string_view name);

/// Errors: InvalidArgument: there is one group of queues.
[[nodiscard]] Result<void> checkOrdinal(uint32_t ordinal);

} // namespace causeway::api
