#pragma once

#include "source/kmd/kmd.h"

#include <cstdint>
#include <utility>

namespace causeway::memory {

/// Reserved address space that belongs to nobody yet: what goes wrong before keep() gives it back,
/// with all that is bound in it. Its address space outlives it.
class ReservedAddress {
  public:
    ReservedAddress(kmd::AddressSpace &space, uint64_t va, uint64_t sizeBytes)
        : space_(&space), va_(va), sizeBytes_(sizeBytes) {}

    ReservedAddress(ReservedAddress &&other) noexcept
        : space_(std::exchange(other.space_, nullptr))
        , va_(other.va_)
        , sizeBytes_(other.sizeBytes_) {}

    ReservedAddress &operator=(ReservedAddress &&) = delete;
    ReservedAddress(const ReservedAddress &) = delete;
    ReservedAddress &operator=(const ReservedAddress &) = delete;

    ~ReservedAddress() {
        if (space_ != nullptr) {
            space_->discard(va_, sizeBytes_);
        }
    }

    [[nodiscard]] uint64_t va() const { return va_; }

    [[nodiscard]] uint64_t sizeBytes() const { return sizeBytes_; }

    void keep() { space_ = nullptr; }

  private:
    kmd::AddressSpace *space_; ///< null once kept or moved from
    uint64_t va_;
    uint64_t sizeBytes_;
};

} // namespace causeway::memory
