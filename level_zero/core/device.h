#pragma once

#include "level_zero/core/dispatchable.h"
#include "source/kmd/kmd.h"

namespace causeway::core {

/// A device as the application sees it: a handle on a kmd::Device, which outlives it. Immutable.
class Device : public Dispatchable {
  public:
    Device(const ze_handle_t &dispatch, const kmd::Device &device)
        : Dispatchable(dispatch), device_(device) {}

    [[nodiscard]] const kmd::Device &kmd() const { return device_; }

    [[nodiscard]] const kmd::DeviceProperties &properties() const { return device_.properties(); }

  private:
    const kmd::Device &device_;
};

} // namespace causeway::core
