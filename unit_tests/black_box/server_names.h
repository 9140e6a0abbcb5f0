#pragma once

#include <level_zero/ze_api.h>

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

/// What tells of an exporter's server outside its process.
namespace causeway::black_box {

/// Bytes 16-23 of a handle, as they are in the names of the server's sockets.
inline std::string serverIdOf(const ze_ipc_mem_handle_t &handle) {
    uint64_t id = 0;
    std::copy_n(handle.data + 16, sizeof(id), reinterpret_cast<char *>(&id));
    return fmt::format("{:016x}", id);
}

/// How many named sockets of that server the kernel knows in this network namespace, whoever holds
/// them; connections carry their listener's name and count too.
inline size_t socketsOfServer(const ze_ipc_mem_handle_t &handle) {
    const std::string id = serverIdOf(handle);
    std::ifstream table("/proc/net/unix");
    size_t count = 0;
    for (std::string line; std::getline(table, line);) {
        count += line.find(id) != std::string::npos ? 1 : 0;
    }
    return count;
}

} // namespace causeway::black_box
