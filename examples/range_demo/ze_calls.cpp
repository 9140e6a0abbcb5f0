#include "examples/range_demo/ze_calls.h"

#include <level_zero/loader/ze_loader.h>

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

namespace range_demo {

namespace {

constexpr std::pair<ze_result_t, std::string_view> resultNames[] = {
    {ZE_RESULT_NOT_READY, "ZE_RESULT_NOT_READY"},
    {ZE_RESULT_ERROR_DEVICE_LOST, "ZE_RESULT_ERROR_DEVICE_LOST"},
    {ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY"},
    {ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"},
    {ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS"},
    {ZE_RESULT_ERROR_NOT_AVAILABLE, "ZE_RESULT_ERROR_NOT_AVAILABLE"},
    {ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE"},
    {ZE_RESULT_ERROR_UNINITIALIZED, "ZE_RESULT_ERROR_UNINITIALIZED"},
    {ZE_RESULT_ERROR_UNSUPPORTED_VERSION, "ZE_RESULT_ERROR_UNSUPPORTED_VERSION"},
    {ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE"},
    {ZE_RESULT_ERROR_INVALID_ARGUMENT, "ZE_RESULT_ERROR_INVALID_ARGUMENT"},
    {ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "ZE_RESULT_ERROR_INVALID_NULL_HANDLE"},
    {ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE"},
    {ZE_RESULT_ERROR_INVALID_NULL_POINTER, "ZE_RESULT_ERROR_INVALID_NULL_POINTER"},
    {ZE_RESULT_ERROR_INVALID_SIZE, "ZE_RESULT_ERROR_INVALID_SIZE"},
    {ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "ZE_RESULT_ERROR_UNSUPPORTED_SIZE"},
    {ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT"},
    {ZE_RESULT_ERROR_INVALID_ENUMERATION, "ZE_RESULT_ERROR_INVALID_ENUMERATION"},
    {ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, "ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION"},
    {ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, "ZE_RESULT_ERROR_ADDRESS_NOT_FOUND"},
    {ZE_RESULT_ERROR_UNKNOWN, "ZE_RESULT_ERROR_UNKNOWN"},
};

std::string nameOf(ze_result_t result) {
    const auto *found =
        std::ranges::find(resultNames, result, &std::pair<ze_result_t, std::string_view>::first);
    return found != std::end(resultNames) ? std::string(found->second)
                                          : fmt::format("{:#x}", static_cast<uint32_t>(result));
}

// Set once, before any other thread could use it.
ze_driver_handle_t chosenDriver = nullptr;

std::atomic<bool> anyCleanUpFailed = false;

template <typename Function>
Function findInLoader(const char *name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

/// A call that old loaders lack, found in the loader or else in the driver; null where neither
/// knows the name.
template <typename Function>
struct NewerCall {
    explicit NewerCall(const char *name) : function(findInLoader<Function>(name)) {
        void *address = nullptr;
        if (function == nullptr && chosenDriver != nullptr &&
            zeDriverGetExtensionFunctionAddress(chosenDriver, name, &address) ==
                ZE_RESULT_SUCCESS) {
            function = reinterpret_cast<Function>(address);
            isDrivers = true;
        }
    }

    /// The driver's function wants the driver's own handle, which an old loader may have wrapped.
    template <typename Handle>
    [[nodiscard]] Handle translated(zel_handle_type_t type, Handle handle) const {
        void *translated = handle;
        if (isDrivers) {
            zelLoaderTranslateHandle(type, handle, &translated);
        }
        return static_cast<Handle>(translated);
    }

    Function function = nullptr;
    bool isDrivers = false;
};

/// The driver's sentence about this thread's last failed call; empty where there is none.
std::string lastErrorDescription() {
    static const NewerCall<decltype(&zeDriverGetLastErrorDescription)> call(
        "zeDriverGetLastErrorDescription");
    const char *text = nullptr;
    if (chosenDriver == nullptr || call.function == nullptr ||
        call.function(call.translated(ZEL_HANDLE_DRIVER, chosenDriver), &text) !=
            ZE_RESULT_SUCCESS ||
        text == nullptr) {
        return {};
    }
    return text;
}

std::string describeFailure(ze_result_t result, std::string_view call) {
    std::string sentence = lastErrorDescription();
    // A sentence may begin with the call's name, which is there already.
    if (const auto start = fmt::format("{}: ", call); sentence.starts_with(start)) {
        sentence.erase(0, start.size());
    }
    return fmt::format("{}: {}{}{}", call, nameOf(result), sentence.empty() ? "" : ": ", sentence);
}

/// What mostly goes wrong here is that the loader does not know of the driver.
std::string initCall(std::string_view name) {
    const char *drivers = std::getenv("ZE_ENABLE_ALT_DRIVERS");
    return fmt::format("{} (ZE_ENABLE_ALT_DRIVERS={})", name, drivers != nullptr ? drivers : "");
}

std::vector<ze_driver_handle_t> driversOf(decltype(&zeInitDrivers) initDrivers) {
    ze_init_driver_type_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
                                       .pNext = nullptr,
                                       .flags = ZE_INIT_DRIVER_TYPE_FLAG_GPU};
    uint32_t count = 0;
    require(initDrivers(&count, nullptr, &desc), initCall("zeInitDrivers"));
    std::vector<ze_driver_handle_t> drivers(count);
    require(initDrivers(&count, drivers.data(), &desc), "zeInitDrivers");
    return drivers;
}

/// For loaders older than 1.18.
std::vector<ze_driver_handle_t> driversOfOldLoader() {
    require(zeInit(ZE_INIT_FLAG_GPU_ONLY), initCall("zeInit"));
    uint32_t count = 0;
    require(zeDriverGet(&count, nullptr), "zeDriverGet");
    std::vector<ze_driver_handle_t> drivers(count);
    require(zeDriverGet(&count, drivers.data()), "zeDriverGet");
    return drivers;
}

bool offersRanges(ze_driver_handle_t driver) {
    uint32_t count = 0;
    require(zeDriverGetExtensionProperties(driver, &count, nullptr),
            "zeDriverGetExtensionProperties");
    std::vector<ze_driver_extension_properties_t> extensions(count);
    require(zeDriverGetExtensionProperties(driver, &count, extensions.data()),
            "zeDriverGetExtensionProperties");
    return std::ranges::any_of(extensions, [](const auto &extension) {
        return std::string_view(extension.name) == ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME;
    });
}

} // namespace

ze_driver_handle_t initialiseDriver() {
    const auto initDrivers = findInLoader<decltype(&zeInitDrivers)>("zeInitDrivers");
    const auto drivers = initDrivers != nullptr ? driversOf(initDrivers) : driversOfOldLoader();
    const auto found = std::ranges::find_if(drivers, offersRanges);
    if (found == drivers.end()) {
        throw std::runtime_error("no driver offers " ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME);
    }
    chosenDriver = *found;
    return chosenDriver;
}

ze_result_t getIpcHandleWithProperties(ze_context_handle_t context,
                                       const void *ptr,
                                       void *pNext,
                                       ze_ipc_mem_handle_t *handle) {
    static const NewerCall<decltype(&zeMemGetIpcHandleWithProperties)> call(
        "zeMemGetIpcHandleWithProperties");
    if (call.function == nullptr) {
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    return call.function(call.translated(ZEL_HANDLE_CONTEXT, context), ptr, pNext, handle);
}

ze_result_t putIpcHandle(ze_context_handle_t context, ze_ipc_mem_handle_t handle) {
    static const NewerCall<decltype(&zeMemPutIpcHandle)> call("zeMemPutIpcHandle");
    if (call.function == nullptr) {
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    return call.function(call.translated(ZEL_HANDLE_CONTEXT, context), handle);
}

void require(ze_result_t result, std::string_view call) {
    if (result != ZE_RESULT_SUCCESS) {
        throw std::runtime_error(describeFailure(result, call));
    }
}

void cleanUp(ze_result_t result, std::string_view call) noexcept {
    if (result == ZE_RESULT_SUCCESS) {
        return;
    }
    anyCleanUpFailed = true;
    try {
        fmt::print(stderr, "{}\n", describeFailure(result, call));
    } catch (const std::exception &) {
        // It is remembered, and the exit code tells.
        return;
    }
}

bool cleanUpFailed() {
    return anyCleanUpFailed;
}

Session openSession() {
    const ze_driver_handle_t driver = initialiseDriver();
    Session session;
    uint32_t count = 1;
    require(zeDeviceGet(driver, &count, &session.device), "zeDeviceGet");
    if (count == 0) {
        throw std::runtime_error("the driver has no device");
    }
    ze_device_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    require(zeDeviceGetProperties(session.device, &properties), "zeDeviceGetProperties");
    session.deviceName = properties.name;

    const ze_context_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC, .pNext = nullptr, .flags = 0};
    ze_context_handle_t context = nullptr;
    require(zeContextCreate(driver, &desc, &context), "zeContextCreate");
    session.context.reset(context);
    return session;
}

} // namespace range_demo
