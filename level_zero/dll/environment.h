#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace causeway::dll {

/// What the environment asks of the driver. The initial values are the defaults.
struct Settings {
    uint32_t softDevices = 1;                    ///< CAUSEWAY_DEVICES=soft:N, CAUSEWAY_SOFT_DEVICES
    uint64_t softMemoryBytes = 0;                ///< CAUSEWAY_SOFT_MEMORY; 0: the back end's choice
    bool softDedicated = false;                  ///< CAUSEWAY_SOFT_DEDICATED
    std::chrono::milliseconds ipcTimeout{10000}; ///< CAUSEWAY_IPC_TIMEOUT_MS
    std::string ipcFolder;                       ///< CAUSEWAY_IPC_DIR
    std::string affinityMask;                    ///< ZE_AFFINITY_MASK, not yet judged

    bool operator==(const Settings &) const = default;
};

/// std::getenv, or a test's stand-in: null for an unset variable.
using Lookup = std::function<const char *(const char *name)>;

/// Reads all variables. One that is set to something else than README.md allows keeps its default
/// and adds a sentence to `warnings`; an empty one counts as unset.
[[nodiscard]] Settings readSettings(const Lookup &lookup, std::vector<std::string> &warnings);

/// Which of `deviceCount` devices ZE_AFFINITY_MASK shows: indices in ascending order, as the order
/// of devices does not depend on the mask. `mask` is a comma list of indices; empty shows all. What
/// it names and does not exist (a larger index, `D.S`: there are no sub-devices) is not shown; what
/// is no list shows all. Both add a sentence to `warnings`.
[[nodiscard]] std::vector<uint32_t> visibleDevices(std::string_view mask,
                                                   uint32_t deviceCount,
                                                   std::vector<std::string> &warnings);

} // namespace causeway::dll
