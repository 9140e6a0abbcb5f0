#include "source/kmd/soft/object_name.h"

#include <fmt/core.h>

#include <charconv>

namespace causeway::kmd::soft {
namespace {

constexpr size_t uuidDigits = 2 * std::tuple_size_v<DeviceUuid>;

bool cutPrefix(std::string_view &text, std::string_view prefix) {
    if (!text.starts_with(prefix)) {
        return false;
    }
    text.remove_prefix(prefix.size());
    return true;
}

bool cutUuid(std::string_view &text, DeviceUuid &uuid) {
    if (text.size() < uuidDigits) {
        return false;
    }
    for (uint8_t &byte : uuid) {
        const std::string_view digits = text.substr(0, 2);
        const auto [stop, error] = std::from_chars(digits.begin(), digits.end(), byte, 16);
        if (error != std::errc() || stop != digits.end()) {
            return false;
        }
        text.remove_prefix(2);
    }
    return true;
}

} // namespace

std::string objectName(const DeviceUuid &device, Placement placement, bool bank) {
    return fmt::format(
        "causeway-{}-{}-{}", bank ? "bank" : "object", toString(device), toString(placement));
}

std::optional<ObjectName> parseObjectName(std::string_view procLink) {
    ObjectName name;
    if (!cutPrefix(procLink, "/memfd:causeway-")) {
        return std::nullopt;
    }
    name.bank = cutPrefix(procLink, "bank-");
    if (!name.bank && !cutPrefix(procLink, "object-")) {
        return std::nullopt;
    }
    if (!cutUuid(procLink, name.device)) {
        return std::nullopt;
    }
    if (procLink == "-host (deleted)") {
        name.placement = Placement::Host;
    } else if (procLink != "-device (deleted)") {
        return std::nullopt;
    }
    return name;
}

} // namespace causeway::kmd::soft
