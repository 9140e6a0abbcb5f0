#pragma once

#include <level_zero/ze_ddi_common.h>

namespace causeway::core {

/// What the handle of an object that is never destroyed points to: the object itself. A loader that
/// knows ZE_extension_driver_ddi_handles takes the dispatch tables from the first four pointers, so
/// this is the first base, and such a class has no virtual functions (a vtable pointer would come
/// first).
class Dispatchable {
  protected:
    explicit Dispatchable(const ze_handle_t &dispatch) : dispatch_(dispatch) {}

  private:
    ze_handle_t dispatch_;
};

} // namespace causeway::core
