#include "shared/wire/messages.h"
#include "shared/wire/range_table.h"
#include "unit_tests/fuzz/fuzz_check.h"

#include <algorithm>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    using namespace causeway;
    const auto bytes = fuzz::bytesOf(data, size);
    const auto reply = wire::decodeReply(bytes);
    fuzz::lastWasAccepted = reply.has_value();
    if (!reply) {
        fuzz::require(!reply.error().message.empty(), "an error says what is wrong");
        return 0;
    }
    const uint32_t fdCount = reply->header.fdCount + (reply->header.tableInFile ? 1 : 0);
    fuzz::require(fdCount <= wire::maxFdsPerMessage, "one message can carry the descriptors");
    fuzz::require(std::ranges::equal(wire::encodeReply(reply->header, reply->inlineTable), bytes),
                  "an accepted reply re-encodes to its bytes");
    const auto table = wire::decodeTable(reply->inlineTable); // as an importer goes on
    fuzz::require(!table || wire::encodeTable(*table).size() == reply->header.tableBytes,
                  "an accepted table is as long as the reply says");
    return 0;
}
