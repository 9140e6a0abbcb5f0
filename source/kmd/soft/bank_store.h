#pragma once

#include "shared/base/mutex.h"
#include "source/kmd/soft/bank.h"
#include "source/kmd/soft/bank_slot.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace causeway::kmd::soft {

class SoftDevice;

/// The banks of one pool, kept apart by device and placement. Owned by the pool; the backend knows
/// it in order to sweep. Any thread; locked before a bank's own lock, never after it.
class BankStore : public std::enable_shared_from_this<BankStore> {
  public:
    static constexpr size_t everything = std::numeric_limits<size_t>::max();
    static constexpr uint64_t firstBankBytes = uint64_t{1} << 30;

    BankStore(Os &os, size_t deviceCount);

    /// A zeroed slot, in a new bank if need be. `charge` moves in on success only. Errors:
    /// OutOfHostMemory.
    [[nodiscard]] Result<BankSlot> place(const SoftDevice &device,
                                         Placement placement,
                                         uint64_t sizeBytes,
                                         Charge &charge);

    /// Looks again at slots that peers held: up to `mostPerBank` of each bank.
    void sweep(size_t mostPerBank = everything);

    /// Gives back the files of banks with nothing in them, but keeps the last bank of its kind: an
    /// application that makes and frees one object over and over must not make a bank each time.
    void discardIdle();

  private:
    using Shelf = std::vector<std::shared_ptr<Bank>>;

    [[nodiscard]] std::shared_ptr<Bank> takeIdle();
    [[nodiscard]] BankSlot fit(Shelf &shelf, uint64_t sizeBytes, uint64_t alignment, Charge &charge)
        REQUIRES(mutex_);
    [[nodiscard]] Result<void> addBank(Shelf &shelf, const std::string &name, uint64_t sizeBytes)
        REQUIRES(mutex_);

    Os &os_;
    Mutex mutex_;
    std::vector<Shelf> shelves_ GUARDED_BY(mutex_); ///< two of each device: device memory, host's
};

} // namespace causeway::kmd::soft
