#pragma once

#include "shared/base/mutex.h"
#include "shared/os/os.h"
#include "source/kmd/kmd.h"
#include "source/kmd/soft/map_budget.h"

#include <cstdint>
#include <span>
#include <vector>

namespace causeway::kmd::soft {

/// This process's own address space: reservations are PROT_NONE mappings, bindings are shared
/// mappings of the objects' files. Remembers nothing of them, so all that is left of a failed undo
/// is address inside its reservation, gone with its release. `budget` outlives it. Any thread, as
/// the contract says.
class SoftAddressSpace final : public AddressSpace {
  public:
    SoftAddressSpace(Os &os, MapBudget &budget);
    SoftAddressSpace(const SoftAddressSpace &) = delete;
    SoftAddressSpace &operator=(const SoftAddressSpace &) = delete;

    ~SoftAddressSpace() override { giveLeftoversBack(); }

    [[nodiscard]] Result<uint64_t> reserve(uint64_t hint,
                                           uint64_t sizeBytes,
                                           uint64_t alignment) override;
    [[nodiscard]] Result<void> release(uint64_t va, uint64_t sizeBytes) override;
    void discard(uint64_t va, uint64_t sizeBytes) noexcept override;
    [[nodiscard]] Result<void> bind(std::span<const Binding> bindings) override;
    [[nodiscard]] Result<void> unbind(uint64_t va, uint64_t sizeBytes) override;
    [[nodiscard]] Result<void> protect(uint64_t va, uint64_t sizeBytes, Access access) override;

  private:
    /// Bindings that become one mapping.
    struct Run {
        uint64_t va = 0;
        uint64_t sizeBytes = 0;
        uint64_t fileOffset = 0;
        const Backing *backing = nullptr;
        int fd = -1;
        Access access = Access::None;
    };

    [[nodiscard]] Result<uint64_t> reservePadded(uint64_t sizeBytes, uint64_t alignment);
    void giveLeftoversBack() noexcept;
    [[nodiscard]] static Result<std::vector<Run>> joinRuns(std::span<const Binding> bindings);
    [[nodiscard]] static uint64_t mapsOf(std::span<const Run> runs);
    void undo(std::span<const Run> bound);
    void mend(const Run &failed);

    struct Stretch {
        uint64_t va = 0;
        uint64_t sizeBytes = 0;
    };

    Os &os_;
    MapBudget &budget_;
    Mutex mutex_;
    std::vector<Stretch> leftovers_ GUARDED_BY(mutex_); ///< nobody's, to be given back
};

} // namespace causeway::kmd::soft
