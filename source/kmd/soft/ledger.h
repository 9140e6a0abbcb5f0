#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace causeway::kmd::soft {

class Ledger;

/// A share of a Ledger, given back by its destruction. The Ledger outlives it.
class Charge {
  public:
    Charge() = default;

    Charge(Charge &&other) noexcept
        : ledger_(std::exchange(other.ledger_, nullptr))
        , amount_(std::exchange(other.amount_, 0)) {}

    Charge &operator=(Charge &&other) noexcept {
        if (this != &other) {
            giveBack();
            ledger_ = std::exchange(other.ledger_, nullptr);
            amount_ = std::exchange(other.amount_, 0);
        }
        return *this;
    }

    Charge(const Charge &) = delete;
    Charge &operator=(const Charge &) = delete;

    ~Charge() { giveBack(); }

    void giveBack();

  private:
    friend class Ledger;

    Charge(Ledger &ledger, uint64_t amount) : ledger_(&ledger), amount_(amount) {}

    Ledger *ledger_ = nullptr;
    uint64_t amount_ = 0;
};

/// Counts what is in use of something limited: bytes of a device, descriptors. Any thread.
class Ledger {
  public:
    [[nodiscard]] uint64_t inUse() const { return inUse_.load(std::memory_order_relaxed); }

    /// Nothing where `amount` more would exceed `limit`.
    [[nodiscard]] std::optional<Charge> take(uint64_t amount, uint64_t limit) {
        uint64_t now = inUse();
        do {
            if (now > limit || amount > limit - now) {
                return std::nullopt;
            }
        } while (!inUse_.compare_exchange_weak(now, now + amount, std::memory_order_relaxed));
        return Charge(*this, amount);
    }

  private:
    friend class Charge;

    std::atomic<uint64_t> inUse_ = 0;
};

inline void Charge::giveBack() {
    if (ledger_ != nullptr) {
        ledger_->inUse_.fetch_sub(amount_, std::memory_order_relaxed);
        ledger_ = nullptr;
    }
}

} // namespace causeway::kmd::soft
