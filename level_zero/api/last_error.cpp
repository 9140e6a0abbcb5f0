#include "level_zero/api/last_error.h"

#include <array>

namespace causeway::api {
namespace {

/// Without a destructor: a thread's own are run before its exit handlers and, in the main thread,
/// before static ones, and those of an application may still make calls that fail.
struct Sentence {
    std::array<char, 1024> text;

    /// Cut where it does not fit; always terminated.
    void append(std::string_view part, size_t &length) {
        length += part.copy(text.data() + length, text.size() - 1 - length);
        text[length] = '\0';
    }
};

constinit thread_local Sentence sentence = {};

} // namespace

const char *lastError() noexcept {
    return sentence.text.data();
}

void setLastError(std::string_view function, std::string_view message) noexcept {
    size_t length = 0;
    sentence.append(function, length);
    sentence.append(": ", length);
    sentence.append(message, length);
}

} // namespace causeway::api
