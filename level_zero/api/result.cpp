#include "level_zero/api/result.h"

namespace causeway::api {

ze_result_t toZeResult(Status status) {
    switch (status) {
    case Status::InvalidArgument:
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    case Status::InvalidNullHandle:
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    case Status::InvalidNullPointer:
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    case Status::InvalidEnumeration:
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    case Status::InvalidSize:
        return ZE_RESULT_ERROR_INVALID_SIZE;
    case Status::AddressNotFound:
        return ZE_RESULT_ERROR_ADDRESS_NOT_FOUND;
    case Status::UnsupportedSize:
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    case Status::UnsupportedAlignment:
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    case Status::UnsupportedFeature:
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    case Status::UnsupportedVersion:
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    case Status::UnsupportedEnumeration:
        return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    case Status::OutOfHostMemory:
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case Status::OutOfDeviceMemory:
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    case Status::InsufficientPermissions:
        return ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS;
    case Status::NotAvailable:
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    case Status::NotReady:
        return ZE_RESULT_NOT_READY;
    case Status::InvalidSynchronizationObject:
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    case Status::InvalidCommandListType:
        return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    case Status::OverlappingRegions:
        return ZE_RESULT_ERROR_OVERLAPPING_REGIONS;
    case Status::InUse:
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    case Status::DeviceLost:
        return ZE_RESULT_ERROR_DEVICE_LOST;
    case Status::Uninitialized:
        return ZE_RESULT_ERROR_UNINITIALIZED;
    case Status::Unknown:
        break;
    }
    return ZE_RESULT_ERROR_UNKNOWN;
}

} // namespace causeway::api
