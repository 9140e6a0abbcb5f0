#pragma once

#include "examples/range_demo/channel.h"

#include <cstdint>

namespace range_demo {

/// The importer's first message: its driver is up.
enum class Ready : uint8_t { Yes };

/// The importer's answer to 64 bytes: all of this was right.
struct Verdict {
    uint64_t verifiedBytes = 0;
    uint64_t verifiedObjects = 0;
};

/// The other role: opens what arrives, compares, writes back and answers, once for each scenario.
/// Throws at the first thing that is not as it should be.
void runImporter(Channel &channel, uint32_t objectCount);

} // namespace range_demo
