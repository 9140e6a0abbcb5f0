#pragma once

#include <level_zero/ze_ddi_common.h>

namespace causeway::ddi {

/// What each handle begins with: pointers to this driver's own tables, complete for the API version
/// it was built with. Tables without entries are there, zeroed. Valid for the life of the process.
[[nodiscard]] const ze_handle_t &dispatch();

} // namespace causeway::ddi
