#pragma once

#include "unit_tests/fakes/forwarding_os.h"

#include <atomic>
#include <cstdint>

namespace causeway {

/// May have a descriptor limit of its own.
class LimitedOs final : public fakes::ForwardingOs {
  public:
    using ForwardingOs::ForwardingOs;

    uint64_t descriptorLimit() override {
        const uint64_t own = limit;
        return own != 0 ? own : os_.descriptorLimit();
    }

    std::atomic<uint64_t> limit = 0; ///< 0: the process's
};

} // namespace causeway
