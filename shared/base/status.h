#pragma once

#include <cstdint>
#include <string_view>

namespace causeway {

/// Why an operation failed, in the engine's own words. `level_zero/api` turns a Status into a
/// `ze_result_t` in one function (`toZeResult`); nothing below `level_zero/` knows that type.
enum class Status : uint8_t {
    InvalidArgument,
    InvalidNullHandle,
    InvalidNullPointer,
    InvalidEnumeration,
    InvalidSize,
    AddressNotFound,
    UnsupportedSize,
    UnsupportedAlignment,
    UnsupportedFeature,
    UnsupportedVersion,
    UnsupportedEnumeration,
    OutOfHostMemory,
    OutOfDeviceMemory,
    InsufficientPermissions,
    NotAvailable, ///< a deadline passed
    NotReady,     ///< no failure: what was asked about is not done yet
    InvalidSynchronizationObject,
    InvalidCommandListType,
    OverlappingRegions,
    InUse,
    DeviceLost,
    Uninitialized,
    Unknown,
};

/// The enumerator's name, for logs and tests.
[[nodiscard]] std::string_view toString(Status status);

/// What ran out when the kernel answers ENOMEM: only the caller knows what it asked for.
enum class Scarce : uint8_t {
    Host,   ///< descriptors, kernel or heap memory
    Device, ///< address space, map count, memory of the device (ipc.md, Results)
};

/// The one translation of errno values. EMFILE and ENFILE are always host memory.
[[nodiscard]] Status statusFromErrno(int error, Scarce scarce = Scarce::Host);

} // namespace causeway
