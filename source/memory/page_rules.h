#pragma once

#include "source/memory/physical_memory.h"

namespace causeway::memory {

[[nodiscard]] inline kmd::PageRules rulesOf(const PhysicalMemory &object) {
    return object.device().pageRules(object.placement());
}

/// What a query answers for this size, and what reservations of it are aligned to.
[[nodiscard]] inline uint64_t preferredPage(const kmd::PageRules &rules, uint64_t sizeBytes) {
    return sizeBytes >= rules.largeFrom ? rules.preferredLarge : rules.preferredSmall;
}

} // namespace causeway::memory
