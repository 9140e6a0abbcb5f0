#pragma once

#include "shared/os/linux_os.h"
#include "unit_tests/fakes/forwarding_os.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace causeway {

/// Stands before a FaultyOs and remembers the address space that could not be given back, so that a
/// test of such a failure can show that nothing else is left. May have a descriptor limit of its
/// own.
class RecoveringOs final : public fakes::ForwardingOs {
  public:
    using ForwardingOs::ForwardingOs;

    OsResult<void> unmap(uint64_t address, uint64_t sizeBytes) override {
        auto result = os_.unmap(address, sizeBytes);
        if (!result) {
            leaked_ = {address, sizeBytes};
        }
        return result;
    }

    uint64_t descriptorLimit() override {
        const uint64_t own = limit;
        return own != 0 ? own : os_.descriptorLimit();
    }

    /// Gives back what the last failing unmap left.
    void recover() {
        if (const auto leaked = std::exchange(leaked_, std::nullopt)) {
            EXPECT_TRUE(linuxOs().unmap(leaked->first, leaked->second));
        }
    }

    std::atomic<uint64_t> limit = 0; ///< 0: the process's

  private:
    std::optional<std::pair<uint64_t, uint64_t>> leaked_;
};

} // namespace causeway
