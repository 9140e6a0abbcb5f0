#include "source/kmd/soft/soft_pool.h"

#include "source/kmd/soft/import_check.h"
#include "source/kmd/soft/object_name.h"
#include "source/kmd/soft/sealed_file.h"
#include "source/kmd/soft/soft_memory.h"

#include <limits>
#include <utility>

namespace causeway::kmd::soft {
namespace {

constexpr size_t sweptPerCreation = 16;
constexpr uint64_t noLimit = std::numeric_limits<uint64_t>::max();

const SoftDevice &soft(const Device &device) {
    return static_cast<const SoftDevice &>(device); // of the same backend, as the contract says
}

} // namespace

SoftPool::SoftPool(Os &os, FilePolicy &policy, std::shared_ptr<BankStore> banks)
    : os_(os), policy_(policy), banks_(std::move(banks)) {}

Result<std::shared_ptr<Memory>> SoftPool::create(const Device &device, const CreateInfo &info) {
    banks_->sweep(sweptPerCreation);
    auto bytes = charge(soft(device), info.placement, info.sizeBytes);
    if (!bytes) {
        return forward(bytes);
    }
    auto own = tryOwnFile(soft(device), info);
    if (!own) {
        return forward(own);
    }
    std::optional<OwnFileParts> parts = std::move(*own);
    if (!parts) {
        return createInBank(soft(device), info, std::move(*bytes));
    }
    auto backing = std::make_shared<OwnFile>(os_,
                                             std::move(parts->file),
                                             info.sizeBytes,
                                             std::move(*bytes),
                                             std::move(parts->descriptor));
    return std::make_shared<SoftMemory>(device, info, std::move(backing));
}

Result<Charge> SoftPool::charge(const SoftDevice &device, Placement placement, uint64_t sizeBytes) {
    auto bytes = device.charge(placement, sizeBytes);
    if (bytes) {
        return bytes;
    }
    banks_->sweep();
    return device.charge(placement, sizeBytes);
}

uint64_t SoftPool::ownFileLimit() const {
    if (policy_.ownFileBudget) {
        return *policy_.ownFileBudget;
    }
    // Read each time: the application may change its limit.
    return policy_.dedicatedOnly ? noLimit : os_.descriptorLimit() / 2;
}

/// Nothing where the object must go to a bank.
Result<std::optional<SoftPool::OwnFileParts>> SoftPool::tryOwnFile(const SoftDevice &device,
                                                                   const CreateInfo &info) {
    const bool asked = info.file == FileNeed::OfItsOwn;
    auto descriptor = policy_.ownFiles.take(1, asked ? noLimit : ownFileLimit());
    if (!descriptor) {
        if (policy_.dedicatedOnly) {
            return fail(Status::OutOfHostMemory,
                        "{} objects have a file of their own, no more may, and banks are off",
                        policy_.ownFiles.inUse());
        }
        return std::nullopt;
    }
    auto file = makeSealedFile(
        os_, objectName(device.properties().uuid, info.placement, false), info.sizeBytes);
    if (file) {
        return OwnFileParts{std::move(*file), std::move(*descriptor)};
    }
    if (isDescriptorShortage(file.error()) && !policy_.dedicatedOnly && !asked) {
        return std::nullopt;
    }
    return failWith(file.error(),
                    fmt::format("making a file of {} bytes for an object", info.sizeBytes),
                    info.placement == Placement::Device ? Scarce::Device : Scarce::Host);
}

Result<std::shared_ptr<Memory>> SoftPool::createInBank(const SoftDevice &device,
                                                       const CreateInfo &info,
                                                       Charge charge) {
    auto slot = banks_->place(device, info.placement, info.sizeBytes, charge);
    if (!slot) {
        return forward(slot);
    }
    auto bank = slot->bank();
    return std::make_shared<SoftMemory>(device, info, std::move(bank), std::move(*slot));
}

/// For an imported descriptor that stays open; nothing where it does not.
std::optional<Charge> SoftPool::chargeKept(KeepDescriptor keep) {
    switch (keep) {
    case KeepDescriptor::IfItFits:
        return policy_.ownFiles.take(1, ownFileLimit());
    case KeepDescriptor::Always: // new objects go to banks the sooner
        return policy_.ownFiles.take(1, noLimit);
    case KeepDescriptor::UntilDropped:
        break;
    }
    return std::nullopt;
}

Result<std::shared_ptr<Memory>> SoftPool::importObject(const Device &device,
                                                       UniqueFd fd,
                                                       const ImportInfo &info) {
    const auto sizeBytes = checkImport(os_, fd.get(), info);
    if (!sizeBytes) {
        return std::unexpected(sizeBytes.error());
    }
    auto backing = std::make_shared<ImportedFile>(
        os_, info.kind, std::move(fd), *sizeBytes, chargeKept(info.keep));
    return std::make_shared<SoftMemory>(device, info, std::move(backing));
}

} // namespace causeway::kmd::soft
