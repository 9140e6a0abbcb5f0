#pragma once

#include "source/kmd/kmd.h"

#include <memory>

namespace causeway::memory {

/// A physical memory object as the engine passes it around: whoever can still reach it (an
/// application handle, a mapping, an export) holds a reference, and the last one gives the memory
/// back. Never a copy of a descriptor (architecture.md, idea 2).
using PhysicalMemory = kmd::Memory;
using PhysicalMemoryRef = std::shared_ptr<PhysicalMemory>;

/// A new mapping's, allocation's, import's or object's id, never 0. Never reused in a process:
/// clients validate their caches with it.
[[nodiscard]] uint64_t nextId();

} // namespace causeway::memory
