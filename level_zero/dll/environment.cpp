#include "level_zero/dll/environment.h"

#include <fmt/core.h>

#include <charconv>
#include <numeric>
#include <optional>
#include <set>

namespace causeway::dll {
namespace {

constexpr uint64_t maxSoftDevices = 64;
constexpr uint64_t maxTimeoutMs = 24ULL * 60 * 60 * 1000;

/// A plain decimal number within [min, max], nothing around it.
std::optional<uint64_t> parseNumber(std::string_view text, uint64_t min, uint64_t max) {
    uint64_t value = 0;
    const char *begin = text.data();
    const char *end = begin + text.size();
    const auto parsed = std::from_chars(begin, end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end || value < min || value > max) {
        return std::nullopt;
    }
    return value;
}

class Reader {
  public:
    Reader(const Lookup &lookup, std::vector<std::string> &warnings)
        : lookup_(lookup), warnings_(warnings) {}

    /// Nothing for an unset or empty variable.
    [[nodiscard]] std::optional<std::string_view> text(const char *name) const {
        const char *value = lookup_(name);
        if (value == nullptr || *value == '\0') {
            return std::nullopt;
        }
        return value;
    }

    /// Nothing, and a warning, for anything but a number within [min, max].
    std::optional<uint64_t> number(const char *name, uint64_t min, uint64_t max) {
        const auto value = text(name);
        if (!value) {
            return std::nullopt;
        }
        const auto parsed = parseNumber(*value, min, max);
        if (!parsed) {
            warnings_.push_back(fmt::format(
                "{}={} is not a number from {} to {}; using the default", name, *value, min, max));
        }
        return parsed;
    }

    /// "0" and "1".
    std::optional<bool> flag(const char *name) {
        const auto value = number(name, 0, 1);
        return value ? std::optional(*value == 1) : std::nullopt;
    }

    /// CAUSEWAY_DEVICES: `soft`, or `soft:N`, which says N.
    std::optional<uint64_t> deviceList(const char *name) {
        const auto value = text(name);
        if (!value || *value == "soft") {
            return std::nullopt;
        }
        constexpr std::string_view prefix = "soft:";
        const auto count = value->starts_with(prefix)
                               ? parseNumber(value->substr(prefix.size()), 1, maxSoftDevices)
                               : std::nullopt;
        if (!count) {
            warnings_.push_back(
                fmt::format("{}={} is neither soft nor soft:N with N from 1 to {}; using soft",
                            name,
                            *value,
                            maxSoftDevices));
        }
        return count;
    }

  private:
    const Lookup &lookup_;
    std::vector<std::string> &warnings_;
};

std::vector<uint32_t> allDevices(uint32_t deviceCount) {
    std::vector<uint32_t> all(deviceCount);
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

/// An entry of the mask: `D` or `D.S`.
struct MaskEntry {
    uint64_t device = 0;
    bool subDevice = false;
};

std::optional<MaskEntry> parseMaskEntry(std::string_view text) {
    const auto dot = text.find('.');
    const auto device = parseNumber(text.substr(0, dot), 0, UINT32_MAX);
    if (!device) {
        return std::nullopt;
    }
    if (dot == std::string_view::npos) {
        return MaskEntry{.device = *device};
    }
    if (!parseNumber(text.substr(dot + 1), 0, UINT32_MAX)) {
        return std::nullopt;
    }
    return MaskEntry{.device = *device, .subDevice = true};
}

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string_view> splitList(std::string_view text) {
    std::vector<std::string_view> parts;
    for (size_t start = 0; start <= text.size();) {
        const size_t comma = std::min(text.find(',', start), text.size());
        parts.push_back(trim(text.substr(start, comma - start)));
        start = comma + 1;
    }
    return parts;
}

} // namespace

Settings readSettings(const Lookup &lookup, std::vector<std::string> &warnings) {
    Settings settings;
    Reader reader(lookup, warnings);
    // The number in CAUSEWAY_DEVICES is the more specific one.
    const auto listed = reader.deviceList("CAUSEWAY_DEVICES");
    const auto counted = reader.number("CAUSEWAY_SOFT_DEVICES", 1, maxSoftDevices);
    settings.softDevices =
        static_cast<uint32_t>(listed.value_or(counted.value_or(settings.softDevices)));
    settings.softMemoryBytes =
        reader.number("CAUSEWAY_SOFT_MEMORY", 1, INT64_MAX).value_or(settings.softMemoryBytes);
    settings.softDedicated =
        reader.flag("CAUSEWAY_SOFT_DEDICATED").value_or(settings.softDedicated);
    if (const auto timeout = reader.number("CAUSEWAY_IPC_TIMEOUT_MS", 1, maxTimeoutMs)) {
        settings.ipcTimeout = std::chrono::milliseconds(*timeout);
    }
    settings.ipcFolder = reader.text("CAUSEWAY_IPC_DIR").value_or("");
    settings.affinityMask = reader.text("ZE_AFFINITY_MASK").value_or("");
    return settings;
}

std::vector<uint32_t> visibleDevices(std::string_view mask,
                                     uint32_t deviceCount,
                                     std::vector<std::string> &warnings) {
    if (mask.empty()) {
        return allDevices(deviceCount);
    }
    std::set<uint32_t> shown;
    for (const std::string_view part : splitList(mask)) {
        const auto entry = parseMaskEntry(part);
        if (!entry) {
            warnings.push_back(fmt::format(
                "ZE_AFFINITY_MASK={} is not a comma list of device indices; showing all devices",
                mask));
            return allDevices(deviceCount);
        }
        if (entry->subDevice || entry->device >= deviceCount) {
            warnings.push_back(
                fmt::format("ZE_AFFINITY_MASK names {}, which does not exist", part));
            continue;
        }
        shown.insert(static_cast<uint32_t>(entry->device));
    }
    return {shown.begin(), shown.end()};
}

} // namespace causeway::dll
