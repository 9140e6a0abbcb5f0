#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

/// What this process holds, as the kernel tells it. The descriptor of the look itself is left out.
namespace causeway::black_box {

/// Number and what it points at ("/memfd:name (deleted)", "socket:[123]").
std::map<int, std::string> openDescriptors();

/// Mappings of memory files: objects, banks, and whatever else the driver makes of memfds.
size_t memoryFileMappings();

/// All mappings (lines of /proc/self/maps).
size_t allMappings();

/// Threads of this process.
size_t threads();

/// Sockets of this process that have a name in the file system or in this network namespace: its
/// own and what it has accepted.
size_t namedSockets();

/// Shared memory in use in the whole system, in bytes: that of others too.
uint64_t sharedMemoryOfTheSystem();

/// Size of the whole address space in use, reservations included (VmSize).
uint64_t addressSpaceBytes();

/// True when this process has no child left, not even one to reap.
bool hasNoChildren();

/// Lines "number -> target" of what `now` has more or less than `before`; empty when equal.
std::string difference(const std::map<int, std::string> &before,
                       const std::map<int, std::string> &now);

} // namespace causeway::black_box
