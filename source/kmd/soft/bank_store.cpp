#include "source/kmd/soft/bank_store.h"

#include "shared/base/checked.h"
#include "source/kmd/soft/object_name.h"
#include "source/kmd/soft/sealed_file.h"
#include "source/kmd/soft/soft_device.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

namespace causeway::kmd::soft {
namespace {

/// Where doubling ends; a larger object still gets a bank of its own size.
constexpr uint64_t largestRegularBank = uint64_t{1} << 44;

uint64_t nextBankBytes(std::span<const std::shared_ptr<Bank>> banks, uint64_t sizeBytes) {
    uint64_t next = BankStore::firstBankBytes;
    for (const auto &bank : banks) {
        // Each twice as large as the one before: their number, and so that of their descriptors,
        // grows with the logarithm of the memory in use.
        next = std::max(next, std::min(bank->sizeBytes(), largestRegularBank / 2) * 2);
    }
    return std::max(next, sizeBytes);
}

} // namespace

BankSlot::BankSlot(std::shared_ptr<Bank> bank, uint64_t offset, std::weak_ptr<BankStore> store)
    : bank_(std::move(bank)), offset_(offset), store_(std::move(store)) {}

BankSlot::~BankSlot() {
    if (bank_ == nullptr) {
        return;
    }
    bank_->release(offset_);
    if (!bank_->idle()) {
        return;
    }
    if (const auto store = store_.lock()) {
        store->discardIdle();
    }
}

BankStore::BankStore(Os &os, size_t deviceCount) : os_(os), shelves_(2 * deviceCount) {}

Result<BankSlot> BankStore::place(const SoftDevice &device,
                                  Placement placement,
                                  uint64_t sizeBytes,
                                  Charge &charge) {
    // Large objects begin where huge pages do.
    const PageRules rules = device.pageRules(placement);
    const uint64_t alignment =
        sizeBytes >= rules.largeFrom ? rules.preferredLarge : rules.granularity;
    const size_t index = 2 * device.index() + (placement == Placement::Host ? 1 : 0);
    {
        const MutexLock lock(mutex_);
        BankSlot slot = fit(shelves_[index], sizeBytes, alignment, charge);
        if (slot.bank() != nullptr) {
            return slot;
        }
    }
    sweep();
    const MutexLock lock(mutex_);
    Shelf &shelf = shelves_[index];
    BankSlot slot = fit(shelf, sizeBytes, alignment, charge);
    if (slot.bank() == nullptr) {
        auto added =
            addBank(shelf, objectName(device.properties().uuid, placement, true), sizeBytes);
        if (!added) {
            return forward(added);
        }
        return fit(shelf, sizeBytes, alignment, charge);
    }
    return slot;
}

BankSlot BankStore::fit(Shelf &shelf, uint64_t sizeBytes, uint64_t alignment, Charge &charge) {
    for (const auto &bank : shelf) {
        const auto offset = bank->take(sizeBytes, alignment, charge);
        if (offset) {
            return {bank, *offset, weak_from_this()};
        }
    }
    return {};
}

Result<void> BankStore::addBank(Shelf &shelf, const std::string &name, uint64_t sizeBytes) {
    shelf.reserve(shelf.size() + 1);
    uint64_t bankBytes = nextBankBytes(shelf, sizeBytes);
    auto file = makeSealedFile(os_, name, bankBytes);
    // RLIMIT_FSIZE may be far below what banks like to be.
    while (!file && file.error().value == EFBIG && bankBytes / 2 >= sizeBytes) {
        bankBytes /= 2;
        file = makeSealedFile(os_, name, bankBytes);
    }
    if (!file) {
        return failWith(file.error(), fmt::format("making a bank of {} bytes", bankBytes));
    }
    shelf.push_back(std::make_shared<Bank>(os_, std::move(*file), bankBytes));
    return {};
}

void BankStore::sweep(size_t mostPerBank) {
    std::vector<std::shared_ptr<Bank>> waiting;
    {
        const MutexLock lock(mutex_);
        for (const Shelf &shelf : shelves_) {
            std::ranges::copy_if(shelf, std::back_inserter(waiting), &Bank::hasPending);
        }
    }
    for (const auto &bank : waiting) {
        bank->sweep(mostPerBank);
    }
    if (!waiting.empty()) {
        discardIdle();
    }
}

void BankStore::discardIdle() {
    while (takeIdle() != nullptr) {
        // Each is closed here, without the lock: it gives memory back to the kernel.
    }
}

std::shared_ptr<Bank> BankStore::takeIdle() {
    const MutexLock lock(mutex_);
    for (Shelf &shelf : shelves_) {
        const auto idle = std::ranges::find_if(shelf, &Bank::idle);
        if (shelf.size() > 1 && idle != shelf.end()) {
            auto taken = std::move(*idle);
            shelf.erase(idle);
            return taken;
        }
    }
    return nullptr;
}

} // namespace causeway::kmd::soft
