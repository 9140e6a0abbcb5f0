#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace causeway::ipc {

struct IpcConfig {
    /// CAUSEWAY_IPC_TIMEOUT_MS: how long one side waits for the next sign of life of the other.
    std::chrono::milliseconds timeout{10000};
    /// CAUSEWAY_IPC_DIR: a folder that processes share which do not share a network namespace.
    /// Empty: none.
    std::string folder;
};

/// How long a whole conversation about so many objects may take, however well it seems to go on: a
/// peer that hands out one descriptor each timeout must not hold the other side for days.
[[nodiscard]] inline std::chrono::milliseconds conversationBudget(std::chrono::milliseconds timeout,
                                                                  uint64_t objects) {
    // Some thousand times what an object takes.
    constexpr std::chrono::milliseconds perObject{10};
    return 2 * timeout + perObject * static_cast<int64_t>(objects);
}

} // namespace causeway::ipc
