#include "examples/range_demo/scenario.h"

#include "examples/range_demo/pattern.h"
#include "examples/range_demo/report.h"

#include <fmt/core.h>

namespace range_demo {

namespace {

constexpr size_t kib = 1024;
constexpr auto readWrite = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
constexpr auto readOnly = ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY;
constexpr auto onDevice = ZE_MEMORY_TYPE_DEVICE;
constexpr auto onHost = ZE_MEMORY_TYPE_HOST;

} // namespace

size_t Scenario::sizeBytes() const {
    size_t sum = 0;
    for (const Piece &piece : pieces) {
        sum += piece.sizeBytes;
    }
    return sum;
}

size_t Scenario::writtenBackBytes(const Piece &piece) const {
    if (!piece.isWritable()) {
        return 0;
    }
    return writeBack == WriteBack::EveryByte ? piece.sizeBytes : wordBytes;
}

// Sizes are multiples of what zeVirtualMemQueryPageSize answers for them: 64 KiB, and 2 MiB from
// 2 MiB on. The largest object comes first, so that its address is a multiple of 2 MiB too.
Scenario fiveObjects() {
    return {.title = "five objects of different kinds in one range",
            .pieces = {{0, 0, 2048 * kib, readWrite, onDevice},
                       {1, 0, 64 * kib, readWrite, onDevice},
                       {2, 128 * kib, 256 * kib, readWrite, onDevice},
                       {3, 0, 192 * kib, readWrite, onHost},
                       {4, 0, 512 * kib, readOnly, onDevice}},
            .writeBack = WriteBack::EveryByte,
            .printsLayout = true};
}

Scenario manyObjects(uint32_t count) {
    Scenario scenario = {.title =
                             fmt::format("{} of 64 KiB in one range", counted(count, "object")),
                         .pieces = {},
                         .writeBack = WriteBack::OneWord,
                         .printsLayout = false};
    scenario.pieces.reserve(count);
    for (uint32_t object = 0; object < count; ++object) {
        scenario.pieces.push_back({object, 0, 64 * kib, readWrite, onDevice});
    }
    return scenario;
}

} // namespace range_demo
