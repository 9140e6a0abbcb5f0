#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/handles.h"

namespace causeway::api {
namespace {

/// Runs `body(driver, device, peer)`.
template <typename Body>
ze_result_t onPeers(std::string_view function,
                    ze_device_handle_t hDevice,
                    ze_device_handle_t hPeerDevice,
                    Body &&body) noexcept {
    return onDevice(function, hDevice, [&](const core::Device &device) -> Result<void> {
        auto peer = findDevice(hPeerDevice);
        if (!peer) {
            return forward(peer);
        }
        auto driver = currentDriver();
        if (!driver) {
            return forward(driver);
        }
        return body(**driver, device, **peer);
    });
}

} // namespace

ze_result_t zeDeviceGet(ze_driver_handle_t hDriver,
                        uint32_t *pCount,
                        ze_device_handle_t *phDevices) {
    return onDriver("zeDeviceGet", hDriver, [&](core::Driver &driver) -> Result<void> {
        if (pCount == nullptr) {
            return nullPointer("pCount");
        }
        const auto devices = driver.devices();
        writeCounted(
            pCount,
            phDevices,
            static_cast<uint32_t>(devices.size()),
            [&](ze_device_handle_t &item, uint32_t index) { item = toHandle(*devices[index]); });
        return {};
    });
}

ze_result_t zeDeviceGetRootDevice(ze_device_handle_t hDevice, ze_device_handle_t *phRootDevice) {
    return onDevice("zeDeviceGetRootDevice", hDevice, [&](const core::Device &) -> Result<void> {
        if (phRootDevice == nullptr) {
            return nullPointer("phRootDevice");
        }
        *phRootDevice = nullptr; // each device is a root device itself
        return {};
    });
}

ze_result_t zeDeviceGetSubDevices(ze_device_handle_t hDevice,
                                  uint32_t *pCount,
                                  ze_device_handle_t * /*phSubdevices*/) {
    return onDevice("zeDeviceGetSubDevices", hDevice, [&](const core::Device &) -> Result<void> {
        if (pCount == nullptr) {
            return nullPointer("pCount");
        }
        *pCount = 0;
        return {};
    });
}

ze_result_t zeDeviceGetP2PProperties(ze_device_handle_t hDevice,
                                     ze_device_handle_t hPeerDevice,
                                     ze_device_p2p_properties_t *pP2PProperties) {
    return onPeers("zeDeviceGetP2PProperties",
                   hDevice,
                   hPeerDevice,
                   [&](const core::Driver &driver,
                       const core::Device &device,
                       const core::Device &peer) -> Result<void> {
                       if (pP2PProperties == nullptr) {
                           return nullPointer("pP2PProperties");
                       }
                       clearProperties(*pP2PProperties);
                       if (driver.canReach(device, peer)) {
                           pP2PProperties->flags = ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS |
                                                   ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS;
                       }
                       return {};
                   });
}

ze_result_t zeDeviceCanAccessPeer(ze_device_handle_t hDevice,
                                  ze_device_handle_t hPeerDevice,
                                  ze_bool_t *value) {
    return onPeers("zeDeviceCanAccessPeer",
                   hDevice,
                   hPeerDevice,
                   [&](const core::Driver &driver,
                       const core::Device &device,
                       const core::Device &peer) -> Result<void> {
                       if (value == nullptr) {
                           return nullPointer("value");
                       }
                       *value = driver.canReach(device, peer) ? 1 : 0;
                       return {};
                   });
}

ze_result_t zeDeviceGetStatus(ze_device_handle_t hDevice) {
    return onDevice(
        "zeDeviceGetStatus", hDevice, [](const core::Device &) -> Result<void> { return {}; });
}

ze_result_t zeDeviceGetGlobalTimestamps(ze_device_handle_t hDevice,
                                        uint64_t *hostTimestamp,
                                        uint64_t *deviceTimestamp) {
    return onDevice(
        "zeDeviceGetGlobalTimestamps", hDevice, [&](const core::Device &) -> Result<void> {
            if (hostTimestamp == nullptr || deviceTimestamp == nullptr) {
                return nullPointer("hostTimestamp or deviceTimestamp");
            }
            // The device's clock is the host's.
            *deviceTimestamp = copy::timestampNow(core::driverSlot().get()->services().os);
            *hostTimestamp = *deviceTimestamp;
            return {};
        });
}

ze_result_t zeDeviceSynchronize(ze_device_handle_t hDevice) {
    return onDevice("zeDeviceSynchronize", hDevice, [](const core::Device &device) -> Result<void> {
        return core::synchronizeAll(core::driverSlot().get()->objects().queuesOf(device));
    });
}

} // namespace causeway::api
