#include "level_zero/core/driver.h"

#include <utility>

namespace causeway::core {

Driver::Driver(const ze_handle_t &dispatch, Services services, std::span<const uint32_t> visible)
    : Dispatchable(dispatch)
    , services_(services)
    , handles_(dispatch)
    , contexts_(handles_)
    , objects_(handles_) {
    const auto all = services.backend.devices();
    devices_.reserve(visible.size());
    for (const uint32_t index : visible) {
        devices_.push_back(std::make_unique<Device>(dispatch, *all[index]));
    }
}

bool Driver::canReach(const Device &device, const Device &peer) const {
    return &device == &peer || services_.backend.canReach(device.kmd(), peer.properties().uuid);
}

const Device *Driver::deviceOf(const kmd::Device *device) const {
    for (const auto &candidate : devices_) {
        if (&candidate->kmd() == device) {
            return candidate.get();
        }
    }
    return nullptr;
}

Result<const Device *> Driver::findDevice(const void *handle) const {
    if (handle == nullptr) {
        return fail(Status::InvalidNullHandle, "the device handle is null");
    }
    for (const auto &candidate : devices_) {
        if (candidate.get() == handle) {
            return candidate.get();
        }
    }
    return fail(Status::InvalidArgument, "{} is not a device handle of this driver", handle);
}

Result<Handle *> Driver::createContext(std::vector<const Device *> devices) {
    if (devices.empty()) {
        for (const auto &device : devices_) {
            devices.push_back(device.get());
        }
    }
    if (devices.empty()) {
        return fail(Status::UnsupportedFeature,
                    "a context needs a device, and ZE_AFFINITY_MASK hides all of them");
    }
    auto context = Context::create(handles_, services_, std::move(devices));
    if (!context) {
        return forward(context);
    }
    return contexts_.add(std::move(*context));
}

Result<std::shared_ptr<Context>> Driver::findContext(const void *handle) const {
    if (handle == nullptr) {
        return fail(Status::InvalidNullHandle, "the context handle is null");
    }
    auto found = contexts_.find(handle);
    if (!found) {
        return fail(Status::InvalidArgument, "{} is not a live context handle", handle);
    }
    return found;
}

Result<void> Driver::destroyContext(const void *handle) {
    auto found = findContext(handle);
    if (!found) {
        return forward(found);
    }
    {
        const MutexLock lock(mutex_);
        if (handle == defaultContext_) {
            return fail(Status::InvalidArgument, "the default context is the driver's");
        }
    }
    // Of two threads that destroy one handle, the second finds it gone.
    if (!contexts_.remove(handle)) {
        return fail(Status::InvalidArgument, "{} was destroyed by another thread", handle);
    }
    objects_.dropOf(**found);
    return {};
}

Result<Handle *> Driver::defaultContext() {
    const MutexLock lock(mutex_);
    if (defaultContext_ == nullptr) {
        auto made = createContext({});
        if (!made) {
            return made;
        }
        defaultContext_ = *made;
    }
    return defaultContext_;
}

} // namespace causeway::core
