#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace causeway {

/// Where an object's memory lives.
enum class Placement : uint8_t { Device = 1, Host = 2 };

/// What a mapping permits. The order is that of rights: each value permits more than the one
/// before.
enum class Access : uint8_t { None = 0, ReadOnly = 1, ReadWrite = 2 };

/// What kind of file carries an object from process to process.
enum class ObjectKind : uint8_t { Memfd = 1, DmaBuf = 2 };

/// Identifies a device across the processes of one boot.
using DeviceUuid = std::array<uint8_t, 16>;

[[nodiscard]] std::string_view toString(Placement placement);
[[nodiscard]] std::string_view toString(Access access);
[[nodiscard]] std::string_view toString(ObjectKind kind);

/// 32 lower-case hexadecimal digits, no dashes.
[[nodiscard]] std::string toString(const DeviceUuid &uuid);

} // namespace causeway
