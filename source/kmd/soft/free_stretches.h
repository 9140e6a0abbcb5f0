#pragma once

#include "source/kmd/soft/ledger.h"

#include <cstdint>
#include <map>

namespace causeway::kmd::soft {

/// A part of a bank. What is in use carries its share of the device's memory.
struct Stretch {
    uint64_t sizeBytes = 0;
    Charge charge = {};
    bool retired = false; ///< never to be used again
};

/// Stretches by their offset. A stretch changes its state by moving its node from one such map to
/// another, which allocates nothing: destructors do it.
using Stretches = std::map<uint64_t, Stretch>;
using StretchNode = Stretches::node_type;

/// The unused part of a bank: disjoint stretches, never two that touch. The caller locks.
class FreeStretches {
  public:
    explicit FreeStretches(uint64_t sizeBytes);

    /// First fit at a multiple of `alignment` (a power of two); an empty node where nothing fits.
    /// If memory for the bookkeeping runs out (bad_alloc), nothing changed.
    [[nodiscard]] StretchNode take(uint64_t sizeBytes, uint64_t alignment);

    void put(StretchNode node);

  private:
    StretchNode carve(Stretches::iterator from, uint64_t offset, uint64_t sizeBytes);

    Stretches free_;
};

} // namespace causeway::kmd::soft
