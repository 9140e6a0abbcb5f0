#pragma once

#include "shared/os/os.h"
#include "source/kmd/kmd.h"
#include "source/kmd/soft/ledger.h"

#include <cstdint>

namespace causeway::kmd::soft {

/// Memory of the host, shared by all soft devices. Outlives them.
struct HostMemory {
    Ledger ledger;
    uint64_t limitBytes = 0;
};

/// A device that is this machine's CPU and RAM. Owns the account of its memory. Any thread.
class SoftDevice final : public Device {
  public:
    SoftDevice(DeviceProperties properties, uint32_t index, uint64_t pageBytes, HostMemory &host);

    [[nodiscard]] const DeviceProperties &properties() const override { return properties_; }

    [[nodiscard]] PageRules pageRules(Placement placement) const override;
    [[nodiscard]] uint64_t freeBytes() const override;

    [[nodiscard]] uint32_t index() const { return index_; }

    /// Errors: OutOfDeviceMemory, OutOfHostMemory for host placement.
    [[nodiscard]] Result<Charge> charge(Placement placement, uint64_t sizeBytes) const;

  private:
    DeviceProperties properties_;
    uint32_t index_;
    uint64_t pageBytes_;
    HostMemory &host_;
    mutable Ledger ledger_; ///< the account of a device that is constant otherwise
};

/// The uuid of soft device `index` of the boot with this id. All uuids of one boot differ in
/// `index` only.
[[nodiscard]] DeviceUuid softDeviceUuid(const std::array<uint8_t, 16> &bootId, uint32_t index);

/// Whether two uuids are of soft devices of the same boot.
[[nodiscard]] bool sameBoot(const DeviceUuid &a, const DeviceUuid &b);

} // namespace causeway::kmd::soft
