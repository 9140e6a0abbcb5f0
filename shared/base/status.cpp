#include "shared/base/status.h"

#include <cerrno>

namespace causeway {

std::string_view toString(Status status) {
    switch (status) {
    case Status::InvalidArgument:
        return "InvalidArgument";
    case Status::InvalidNullHandle:
        return "InvalidNullHandle";
    case Status::InvalidNullPointer:
        return "InvalidNullPointer";
    case Status::InvalidEnumeration:
        return "InvalidEnumeration";
    case Status::InvalidSize:
        return "InvalidSize";
    case Status::AddressNotFound:
        return "AddressNotFound";
    case Status::UnsupportedSize:
        return "UnsupportedSize";
    case Status::UnsupportedAlignment:
        return "UnsupportedAlignment";
    case Status::UnsupportedFeature:
        return "UnsupportedFeature";
    case Status::UnsupportedVersion:
        return "UnsupportedVersion";
    case Status::UnsupportedEnumeration:
        return "UnsupportedEnumeration";
    case Status::OutOfHostMemory:
        return "OutOfHostMemory";
    case Status::OutOfDeviceMemory:
        return "OutOfDeviceMemory";
    case Status::InsufficientPermissions:
        return "InsufficientPermissions";
    case Status::NotAvailable:
        return "NotAvailable";
    case Status::NotReady:
        return "NotReady";
    case Status::InvalidSynchronizationObject:
        return "InvalidSynchronizationObject";
    case Status::InvalidCommandListType:
        return "InvalidCommandListType";
    case Status::OverlappingRegions:
        return "OverlappingRegions";
    case Status::InUse:
        return "InUse";
    case Status::DeviceLost:
        return "DeviceLost";
    case Status::Uninitialized:
        return "Uninitialized";
    case Status::Unknown:
        break;
    }
    return "Unknown";
}

Status statusFromErrno(int error, Scarce scarce) {
    switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ETOOMANYREFS:
    case EAGAIN: // thread creation; a would-block never reaches this function
        return Status::OutOfHostMemory;
    case ENOMEM:
    case ENOSPC:
    case EFBIG:
        return scarce == Scarce::Device ? Status::OutOfDeviceMemory : Status::OutOfHostMemory;
    case EPERM:
    case EACCES:
        return Status::InsufficientPermissions;
    case ETIMEDOUT:
        return Status::NotAvailable;
    case EINVAL:
    case EBADF:
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
    case ENOENT:
    case ESRCH:
        return Status::InvalidArgument;
    case ENODEV:
    case ECANCELED:
        return Status::DeviceLost;
    case ENOSYS:
    case EOPNOTSUPP:
        return Status::UnsupportedFeature;
    default:
        return Status::Unknown;
    }
}

} // namespace causeway
