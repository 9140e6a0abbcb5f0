#pragma once

#include "shared/base/mutex.h"
#include "shared/os/os.h"
#include "source/kmd/kmd.h"
#include "source/kmd/soft/bank_store.h"
#include "source/kmd/soft/map_budget.h"
#include "source/kmd/soft/soft_device.h"
#include "source/kmd/soft/soft_pool.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace causeway::kmd::soft {

struct SoftConfig {
    uint32_t deviceCount = 1;
    uint64_t memoryBytes = 0;   ///< of each device; 0: half of the machine's memory
    bool dedicatedOnly = false; ///< every object its own file, no banks
    /// How many objects may have a file of their own. Unset: half of the soft RLIMIT_NOFILE, or as
    /// many as can be had with dedicatedOnly.
    std::optional<uint64_t> ownFileBudget = std::nullopt;
};

/// Soft devices: memory is memfd files, addresses are this process's own. Owns the devices, the
/// accounts and the map budget; outlives the pools, address spaces and memory made of it. Any
/// thread.
class SoftBackend final : public Backend {
  public:
    SoftBackend(Os &os, const SoftConfig &config);

    [[nodiscard]] std::span<const std::unique_ptr<Device>> devices() const override {
        return devices_;
    }

    /// Soft devices of one boot reach one another, also those that this process does not have.
    [[nodiscard]] bool canReach(const Device &device, const DeviceUuid &uuid) const override;
    [[nodiscard]] Result<FoundObject> identify(UniqueFd file) const override;
    [[nodiscard]] Result<std::unique_ptr<MemoryPool>> createPool() override;
    [[nodiscard]] Result<std::unique_ptr<AddressSpace>> createAddressSpace() override;
    void reclaim() override;

  private:
    Os &os_;
    HostMemory host_;
    FilePolicy files_;
    MapBudget maps_;
    std::vector<std::unique_ptr<Device>> devices_;
    Mutex mutex_;
    std::vector<std::weak_ptr<BankStore>> stores_ GUARDED_BY(mutex_); ///< of the living pools
};

} // namespace causeway::kmd::soft
