#include "level_zero/api/handles.h"

#include <fmt/core.h>

namespace causeway::api {

Result<core::Driver *> findDriver(ze_driver_handle_t hDriver) {
    auto driver = currentDriver();
    if (!driver) {
        return driver;
    }
    if (hDriver == nullptr) {
        return fail(Status::InvalidNullHandle, "the driver handle is null");
    }
    if (hDriver != toHandle(**driver)) {
        return fail(Status::InvalidArgument,
                    "{} is not the driver's handle",
                    static_cast<const void *>(hDriver));
    }
    return driver;
}

Result<const core::Device *> findDevice(ze_device_handle_t hDevice) {
    auto driver = currentDriver();
    if (!driver) {
        return forward(driver);
    }
    return (*driver)->findDevice(hDevice);
}

Result<std::shared_ptr<core::Context>> findContext(ze_context_handle_t hContext) {
    auto driver = currentDriver();
    if (!driver) {
        return forward(driver);
    }
    return (*driver)->findContext(hContext);
}

Result<const core::Device *> findDeviceIn(const core::Context &context,
                                          ze_device_handle_t hDevice) {
    auto device = findDevice(hDevice);
    if (device && !context.sees(**device)) {
        return fail(Status::InvalidArgument,
                    "the context was not created for device \"{}\"",
                    (*device)->properties().name);
    }
    return device;
}

} // namespace causeway::api
