#pragma once

#include "shared/base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace causeway::wire {

/// The bytes of a ze_ipc_mem_handle_t (ZE_MAX_IPC_HANDLE_SIZE). Byte table: shared/wire/README.md.
using HandleBytes = std::array<std::byte, 64>;

enum class HandleKind : uint8_t { SingleDevice = 1, SingleHost = 2, Range = 3 };

/// 128 random bits: names an export and is the permission to open it.
using Token = std::array<uint8_t, 16>;

inline constexpr uint8_t handleVersion = 1;

/// The decoded handle. Fields that a client may overwrite (fd, rendezvousFd) are outside the CRC.
struct IpcHandle {
    int32_t fd = -1; ///< bytes 0-3: a descriptor in the exporter, or what a client put there
    int32_t rendezvousFd = -1; ///< bytes 4-7: a hint
    HandleKind kind = HandleKind::Range;
    uint16_t flags = 0; ///< none defined in version 1: others are UnsupportedVersion
    uint64_t serverId = 0;
    Token token = {};
    uint64_t sizeBytes = 0;  ///< of the shared window
    uint64_t fdIdentity = 0; ///< fileIdentity() of the exporter's fd, 0 when fd is -1
    int32_t pid = 0;         ///< a hint only: means nothing in another pid namespace

    bool operator==(const IpcHandle &) const = default;
};

/// A client kept the descriptor alone (libfabric, oneCCL: rest zero; ze_peer: rest garbage).
struct DescriptorOnly {
    int32_t fd = -1;
};

using DecodedHandle = std::variant<IpcHandle, DescriptorOnly>;

/// A 64-bit mix of st_dev and st_ino; never 0. Exporter and importer compare its values, so how it
/// mixes is part of the handle's version.
[[nodiscard]] uint64_t fileIdentity(uint64_t device, uint64_t inode);

/// Writes what it is given, with its CRC; judges nothing.
[[nodiscard]] HandleBytes encodeHandle(const IpcHandle &handle);

/// Judges 64 untrusted bytes (ipc.md, Opening, step 1):
///  - bytes 8-63 all zero, or wrong magic and a CRC that fails also with the magic restored:
///    DescriptorOnly (even a negative fd; the caller judges it);
///  - wrong magic whose CRC holds once the magic is restored, or right magic and wrong CRC:
///    InvalidArgument (damaged);
///  - unknown version under a right magic: UnsupportedVersion, whatever the CRC: a later version
///  may
///    cover other bytes;
///  - then, under a right CRC: unknown flags UnsupportedVersion; unknown kind, size 0
///    InvalidArgument.
/// Every other value of an accepted handle is the caller's to judge. Re-encoding it gives `bytes`.
[[nodiscard]] Result<DecodedHandle> decodeHandle(std::span<const std::byte, 64> bytes);

} // namespace causeway::wire
