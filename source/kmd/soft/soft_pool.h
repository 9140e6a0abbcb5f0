#pragma once

#include "shared/os/os.h"
#include "source/kmd/kmd.h"
#include "source/kmd/soft/bank_store.h"
#include "source/kmd/soft/ledger.h"
#include "source/kmd/soft/soft_device.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace causeway::kmd::soft {

/// How objects get files; shared by all pools of a backend, which owns it.
struct FilePolicy {
    Ledger ownFiles; ///< live objects that have a file of their own open
    std::optional<uint64_t> ownFileBudget = std::nullopt; ///< unset: half of the descriptor limit
    bool dedicatedOnly = false;                           ///< no banks
};

/// The pool of one context. Owns its banks; `policy` and the devices outlive it. Any thread.
///
/// An object gets its own file while the budget lasts and a descriptor can be had, else a slot of a
/// bank. Each creation looks at a few slots that peers held; before a new bank is made or a failure
/// is reported, at all of them.
class SoftPool final : public MemoryPool {
  public:
    SoftPool(Os &os, FilePolicy &policy, std::shared_ptr<BankStore> banks);

    [[nodiscard]] Result<std::shared_ptr<Memory>> create(const Device &device,
                                                         const CreateInfo &info) override;

    [[nodiscard]] Result<std::shared_ptr<Memory>> importObject(const Device &device,
                                                               UniqueFd fd,
                                                               const ImportInfo &info) override;

  private:
    struct OwnFileParts {
        UniqueFd file;
        Charge descriptor;
    };

    [[nodiscard]] Result<Charge> charge(const SoftDevice &device,
                                        Placement placement,
                                        uint64_t sizeBytes);
    [[nodiscard]] Result<std::optional<OwnFileParts>> tryOwnFile(const SoftDevice &device,
                                                                 const CreateInfo &info);
    [[nodiscard]] uint64_t ownFileLimit() const;
    [[nodiscard]] std::optional<Charge> chargeKept(KeepDescriptor keep);
    [[nodiscard]] Result<std::shared_ptr<Memory>> createInBank(const SoftDevice &device,
                                                               const CreateInfo &info,
                                                               Charge charge);

    Os &os_;
    FilePolicy &policy_;
    std::shared_ptr<BankStore> banks_;
};

} // namespace causeway::kmd::soft
