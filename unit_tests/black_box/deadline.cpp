#include "unit_tests/black_box/deadline.h"

#include <cstdlib>

namespace causeway::black_box {

std::chrono::milliseconds defaultWait() {
    constexpr std::chrono::milliseconds usual(10'000);
    const char *text = std::getenv("CAUSEWAY_TEST_DEADLINE_MS");
    const long given = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
    return given > 0 ? std::chrono::milliseconds(given) : usual;
}

} // namespace causeway::black_box
