#pragma once

#include "shared/base/memory_kinds.h"
#include "shared/base/result.h"

#include <cstdint>
#include <utility>

namespace causeway::memory {

class MemoryManager;

/// Addresses that recorded or running commands work on (MemoryManager::use). An allocation or an
/// imported range that is freed meanwhile stays where it is until the last use ends. What is mapped
/// in a reservation the application can unmap at any time: of that this holds nothing. check()
/// tells whether the addresses still permit what the command needs.
///
/// Movable; its manager outlives it. Threads: const members from any.
class AddressUse {
  public:
    AddressUse(AddressUse &&other) noexcept
        : manager_(std::exchange(other.manager_, nullptr))
        , region_(other.region_)
        , window_(other.window_) {}

    AddressUse &operator=(AddressUse &&) = delete;
    AddressUse(const AddressUse &) = delete;
    AddressUse &operator=(const AddressUse &) = delete;
    ~AddressUse();

    /// Whether it is memory of the manager; false for anything else in the process.
    [[nodiscard]] bool isOurs() const { return manager_ != nullptr; }

    /// Errors: DeviceLost where addresses were unmapped or lost their access since.
    [[nodiscard]] Result<void> check() const;

  private:
    friend class MemoryManager;

    struct Window {
        uint64_t address = 0;
        uint64_t sizeBytes = 0;
        Access needed = Access::ReadOnly;
    };

    AddressUse() = default;

    MemoryManager *manager_ = nullptr;
    uint64_t region_ = 0; ///< start of the allocation or import that it keeps; 0: a reservation
    Window window_;       ///< to check; empty where nothing about it can change
};

} // namespace causeway::memory
