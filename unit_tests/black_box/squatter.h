#pragma once

#include "unit_tests/black_box/protocol.h"

namespace causeway::black_box {

/// Listens under the name of the handle's server, in a thread of its own that lasts as long as the
/// process. Throws HarnessError where the name is taken.
void squat(const ze_ipc_mem_handle_t &handle, Squatter kind);

} // namespace causeway::black_box
