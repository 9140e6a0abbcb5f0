#pragma once

#include "examples/range_demo/importer.h"

#include <cstdint>

namespace range_demo {

/// Runs the whole demonstration, with an importer process of its own. Part 2 takes `objectCount`
/// objects. Returns the sum of what the importer verified; throws at the first thing that is not as
/// it should be.
Verdict runExporter(uint32_t objectCount);

} // namespace range_demo
