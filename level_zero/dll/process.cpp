/// The composition root of libze_causeway.so: the only place that chooses implementations.

#include "level_zero/core/driver_slot.h"
#include "level_zero/ddi/dispatch.h"
#include "level_zero/dll/environment.h"
#include "shared/base/log.h"
#include "shared/os/fork.h"
#include "shared/os/linux_os.h"
#include "source/ipc/ipc_service.h"
#include "source/kmd/soft/soft_backend.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace causeway::dll {
namespace {

/// The engine below the one driver of this process.
struct Engine {
    explicit Engine(const Settings &settings)
        : backend(linuxOs(),
                  {.deviceCount = settings.softDevices,
                   .memoryBytes = settings.softMemoryBytes,
                   .dedicatedOnly = settings.softDedicated})
        , ipc(linuxOs(), backend, {.timeout = settings.ipcTimeout, .folder = settings.ipcFolder})
        , mover(linuxOs()) {}

    kmd::soft::SoftBackend backend;
    ipc::IpcService ipc;
    copy::DataMover mover;
};

/// The engine of this process. Like the driver, it is never destroyed: the application's threads,
/// and ours, may still be in it while the process exits.
class KeptEngine {
  public:
    KeptEngine() = default;
    KeptEngine(const KeptEngine &) = delete;
    KeptEngine &operator=(const KeptEngine &) = delete;

    /// At the process's end. A forked child's end is not its parent's.
    ~KeptEngine() {
        if (engine_ != nullptr && generation_ == processGeneration()) {
            engine_->ipc.removeSocketFile();
        }
    }

    void keep(std::unique_ptr<Engine> engine) {
        engine_ = engine.release();
        generation_ = processGeneration();
    }

  private:
    Engine *engine_ = nullptr;
    uint64_t generation_ = 0;
};

KeptEngine keptEngine;

Settings settingsOfProcess(std::vector<std::string> &warnings) {
    // Nobody in this library changes the environment.
    return readSettings([](const char *name) { return std::getenv(name); }, // NOLINT(*-mt-unsafe)
                        warnings);
}

Result<std::unique_ptr<core::Driver>> buildDriver() {
    std::vector<std::string> warnings;
    const Settings settings = settingsOfProcess(warnings);
    auto engine = std::make_unique<Engine>(settings);
    const auto visible = visibleDevices(settings.affinityMask, settings.softDevices, warnings);
    for (const std::string &warning : warnings) {
        log(LogLevel::Warn, "{}", warning);
    }
    const core::Services services = {.os = linuxOs(),
                                     .backend = engine->backend,
                                     .ipc = engine->ipc,
                                     .mover = engine->mover,
                                     .osPageBytes = linuxOs().pageSize()};
    auto driver = std::make_unique<core::Driver>(ddi::dispatch(), services, visible);
    keptEngine.keep(std::move(engine));
    return driver;
}

/// Runs when the library is loaded; the driver is built by zeInit.
const bool registered = [] {
    core::DriverSlot::setBuilder(&buildDriver);
    return true;
}();

} // namespace
} // namespace causeway::dll
