#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/handles.h"

/// Private names of Intel's driver that MPI libraries look up. No SDK declares them; the signatures
/// are as those clients use them.
namespace causeway::api {

ze_result_t zexDriverImportExternalPointer(ze_driver_handle_t hDriver, void *ptr, size_t size) {
    return onDriver(
        "zexDriverImportExternalPointer", hDriver, [&](core::Driver &driver) -> Result<void> {
            if (ptr == nullptr) {
                return nullPointer("ptr");
            }
            return driver.hostPointers().add(toAddress(ptr), size);
        });
}

ze_result_t zexDriverReleaseImportedPointer(ze_driver_handle_t hDriver, void *ptr) {
    return onDriver(
        "zexDriverReleaseImportedPointer", hDriver, [&](core::Driver &driver) -> Result<void> {
            if (ptr == nullptr) {
                return nullPointer("ptr");
            }
            return driver.hostPointers().remove(toAddress(ptr));
        });
}

ze_result_t zexDriverGetHostPointerBaseAddress(ze_driver_handle_t hDriver,
                                               void *ptr,
                                               void **baseAddress) {
    return onDriver(
        "zexDriverGetHostPointerBaseAddress", hDriver, [&](core::Driver &driver) -> Result<void> {
            if (ptr == nullptr || baseAddress == nullptr) {
                return nullPointer("ptr or baseAddress");
            }
            auto base = driver.hostPointers().baseOf(toAddress(ptr));
            if (!base) {
                return forward(base);
            }
            *baseAddress = toPointer(*base);
            return {};
        });
}

} // namespace causeway::api
