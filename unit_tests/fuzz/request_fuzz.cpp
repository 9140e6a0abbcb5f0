#include "shared/wire/messages.h"
#include "unit_tests/fuzz/fuzz_check.h"

#include <algorithm>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    using namespace causeway;
    const auto bytes = fuzz::bytesOf(data, size);
    const auto request = wire::decodeRequest(bytes);
    fuzz::lastWasAccepted = request.has_value();
    if (!request) {
        fuzz::require(!request.error().message.empty(), "an error says what is wrong");
        return 0;
    }
    fuzz::require(request->count > 0, "a request asks for something");
    fuzz::require(std::ranges::equal(wire::encodeRequest(*request), bytes),
                  "an accepted request re-encodes to its bytes");
    return 0;
}
