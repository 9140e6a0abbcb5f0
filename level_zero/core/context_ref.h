#pragma once

#include "level_zero/core/context.h"

#include <level_zero/ze_api.h>

#include <memory>

namespace causeway::core {

/// The context in which an object was made: the object keeps it alive, and knows by which handle
/// the application does.
struct ContextRef {
    std::shared_ptr<Context> context;
    ze_context_handle_t handle = nullptr;
};

} // namespace causeway::core
