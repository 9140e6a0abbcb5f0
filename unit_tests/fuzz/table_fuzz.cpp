#include "shared/wire/range_table.h"
#include "unit_tests/fuzz/fuzz_check.h"

#include <algorithm>

namespace causeway::fuzz {
namespace {

/// What the importer relies on when it maps; in 128 bits, where nothing wraps.
void requireMappable(const wire::RangeTable &table) {
    __extension__ using Wide = unsigned __int128;
    Wide sum = 0;
    for (const wire::TablePiece &piece : table.pieces) {
        require(piece.object < table.objects.size(), "a piece names an object");
        require(piece.sizeBytes > 0, "a piece has a length");
        require(Wide{piece.offset} + piece.sizeBytes <= table.objects[piece.object].sizeBytes,
                "a piece lies within its object");
        sum += piece.sizeBytes;
    }
    require(sum == table.mappedBytes(), "the sum of lengths does not wrap");
    require(table.windowBytes > 0, "the window has a size");
    require(Wide{table.leadBytes} + table.windowBytes <= sum, "the window lies within the pieces");
}

} // namespace
} // namespace causeway::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    using namespace causeway;
    const auto bytes = fuzz::bytesOf(data, size);
    const auto table = wire::decodeTable(bytes);
    fuzz::lastWasAccepted = table.has_value();
    if (!table) {
        fuzz::require(!table.error().message.empty(), "an error says what is wrong");
        return 0;
    }
    fuzz::require(std::ranges::equal(wire::encodeTable(*table), bytes),
                  "an accepted table re-encodes to its bytes");
    fuzz::requireMappable(*table);
    return 0;
}
