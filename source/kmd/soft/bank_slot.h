#pragma once

#include <cstdint>
#include <memory>

namespace causeway::kmd::soft {

class Bank;
class BankStore;

/// Owns one slot of a bank; the default owns none. Its destruction gives the slot back, or leaves
/// it to the bank's next sweep while a peer holds a lease on it.
class BankSlot {
  public:
    BankSlot() = default;
    BankSlot(std::shared_ptr<Bank> bank, uint64_t offset, std::weak_ptr<BankStore> store);
    BankSlot(BankSlot &&) noexcept = default;
    BankSlot &operator=(BankSlot &&) = delete;
    BankSlot(const BankSlot &) = delete;
    BankSlot &operator=(const BankSlot &) = delete;
    ~BankSlot();

    [[nodiscard]] const std::shared_ptr<Bank> &bank() const { return bank_; }

    [[nodiscard]] uint64_t offset() const { return offset_; }

  private:
    std::shared_ptr<Bank> bank_; // null: owns nothing
    uint64_t offset_ = 0;
    std::weak_ptr<BankStore> store_; // the pool's; memory may outlive it
};

} // namespace causeway::kmd::soft
