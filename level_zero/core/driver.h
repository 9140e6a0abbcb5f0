#pragma once

#include "level_zero/core/context.h"
#include "level_zero/core/device.h"
#include "level_zero/core/dispatchable.h"
#include "level_zero/core/handle_registry.h"
#include "level_zero/core/host_pointers.h"
#include "level_zero/core/objects.h"
#include "shared/base/result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace causeway::core {

/// The one driver of a process: the devices that the application may see, and the live contexts.
/// Owns both. Its devices never change. Threads: any.
class Driver : public Dispatchable {
  public:
    /// `visible`: indices of backend devices, each at most once, in the order in which they are
    /// shown.
    Driver(const ze_handle_t &dispatch, Services services, std::span<const uint32_t> visible);
    Driver(const Driver &) = delete;
    Driver &operator=(const Driver &) = delete;
    ~Driver() = default;

    [[nodiscard]] std::span<const std::unique_ptr<Device>> devices() const { return devices_; }

    /// Whether `device` can work with memory of `peer`.
    [[nodiscard]] bool canReach(const Device &device, const Device &peer) const;

    /// Null for a device that is not shown.
    [[nodiscard]] const Device *deviceOf(const kmd::Device *device) const;

    /// Errors: InvalidNullHandle, InvalidArgument.
    [[nodiscard]] Result<const Device *> findDevice(const void *handle) const;

    /// For these devices; for all where none is named. Errors: UnsupportedFeature (no device is
    /// shown), those of Context::create.
    Result<Handle *> createContext(std::vector<const Device *> devices);
    /// Errors of both: InvalidNullHandle, InvalidArgument.
    [[nodiscard]] Result<std::shared_ptr<Context>> findContext(const void *handle) const;
    /// With the context go its objects. Calls in progress on it finish first; the last of them
    /// releases its memory.
    Result<void> destroyContext(const void *handle);

    /// Made by the first call, for all devices; ends with the driver. Errors: as createContext.
    Result<Handle *> defaultContext();

    [[nodiscard]] const Services &services() const { return services_; }

    [[nodiscard]] HostPointers &hostPointers() { return hostPointers_; }

    [[nodiscard]] Objects &objects() { return objects_; }

    /// For tests: what is alive.
    [[nodiscard]] size_t liveContexts() const { return contexts_.size(); }

  private:
    const Services services_;
    std::vector<std::unique_ptr<Device>> devices_;
    HandleMemory handles_;
    HandleRegistry<Context> contexts_;
    Objects objects_;
    HostPointers hostPointers_;
    Mutex mutex_;
    Handle *defaultContext_ GUARDED_BY(mutex_) = nullptr;
};

} // namespace causeway::core
