#include "level_zero/api/last_error.h"

#include <string>

namespace causeway::api {
namespace {

std::string &sentence() noexcept {
    thread_local std::string text;
    return text;
}

} // namespace

const char *lastError() noexcept {
    return sentence().c_str();
}

void setLastError(std::string_view function, std::string_view message) noexcept {
    std::string &text = sentence();
    try {
        text.assign(function).append(": ").append(message);
    } catch (...) {
        text.clear();
    }
}

} // namespace causeway::api
