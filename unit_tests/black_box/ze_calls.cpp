#include "unit_tests/black_box/ze_calls.h"

#include <gtest/gtest.h>
#include <level_zero/loader/ze_loader.h>

#include <dlfcn.h>
#include <fmt/core.h>

#include <array>
#include <ostream>
#include <utility>

namespace causeway::black_box {

namespace {

void *findInLoader(const char *name) {
    return dlsym(RTLD_DEFAULT, name);
}

void *findInDriver(const char *name) {
    void *address = nullptr;
    const auto result = zeDriverGetExtensionFunctionAddress(driver().handle, name, &address);
    return result == ZE_RESULT_SUCCESS ? address : nullptr;
}

/// A newer entry point. Found in the driver it wants the driver's own handles, which an old loader
/// may have wrapped.
template <typename Function>
struct NewerCall {
    explicit NewerCall(const char *name) {
        void *address = findInLoader(name);
        isDrivers = address == nullptr;
        if (isDrivers) {
            address = findInDriver(name);
        }
        if (address == nullptr) {
            throw HarnessError(fmt::format("neither the loader nor the driver offers {}", name));
        }
        call = reinterpret_cast<Function>(address);
    }

    template <typename Handle>
    [[nodiscard]] Handle translated(zel_handle_type_t type, Handle handle) const {
        void *translated = handle;
        if (isDrivers) {
            require(zelLoaderTranslateHandle(type, handle, &translated),
                    "zelLoaderTranslateHandle");
        }
        return static_cast<Handle>(translated);
    }

    Function call = nullptr;
    bool isDrivers = false;
};

ze_driver_handle_t initWithDrivers(decltype(&zeInitDrivers) initDrivers) {
    ze_init_driver_type_desc_t desc = {ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC, nullptr, 0};
    desc.flags = ZE_INIT_DRIVER_TYPE_FLAG_GPU;
    uint32_t count = 1;
    ze_driver_handle_t handle = nullptr;
    require(initDrivers(&count, &handle, &desc), "zeInitDrivers");
    return handle;
}

ze_driver_handle_t initWithFlags() {
    require(zeInit(ZE_INIT_FLAG_GPU_ONLY), "zeInit (does ZE_ENABLE_ALT_DRIVERS name the driver?)");
    uint32_t count = 1;
    ze_driver_handle_t handle = nullptr;
    require(zeDriverGet(&count, &handle), "zeDriverGet");
    return handle;
}

Driver initialise() {
    Driver found;
    if (void *entry = findInLoader("zeInitDrivers"); entry != nullptr) {
        found.handle = initWithDrivers(reinterpret_cast<decltype(&zeInitDrivers)>(entry));
    } else {
        found.handle = initWithFlags();
    }
    if (found.handle == nullptr) {
        throw HarnessError("the loader found no driver");
    }
    uint32_t count = 0;
    require(zeDeviceGet(found.handle, &count, nullptr), "zeDeviceGet");
    found.devices.resize(count);
    require(zeDeviceGet(found.handle, &count, found.devices.data()), "zeDeviceGet");
    if (found.devices.empty()) {
        throw HarnessError("the driver has no device");
    }
    return found;
}

Driver &foundDriver() {
    static Driver found = initialise();
    return found;
}

// What failed calls of this suite can answer; any other result is printed as a number.
constexpr std::array resultNames = {
    std::pair{ZE_RESULT_SUCCESS, "SUCCESS"},
    std::pair{ZE_RESULT_NOT_READY, "NOT_READY"},
    std::pair{ZE_RESULT_ERROR_DEVICE_LOST, "DEVICE_LOST"},
    std::pair{ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "OUT_OF_HOST_MEMORY"},
    std::pair{ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "OUT_OF_DEVICE_MEMORY"},
    std::pair{ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "INSUFFICIENT_PERMISSIONS"},
    std::pair{ZE_RESULT_ERROR_NOT_AVAILABLE, "NOT_AVAILABLE"},
    std::pair{ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "DEPENDENCY_UNAVAILABLE"},
    std::pair{ZE_RESULT_ERROR_UNINITIALIZED, "UNINITIALIZED"},
    std::pair{ZE_RESULT_ERROR_UNSUPPORTED_VERSION, "UNSUPPORTED_VERSION"},
    std::pair{ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "UNSUPPORTED_FEATURE"},
    std::pair{ZE_RESULT_ERROR_INVALID_ARGUMENT, "INVALID_ARGUMENT"},
    std::pair{ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "INVALID_NULL_HANDLE"},
    std::pair{ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "HANDLE_OBJECT_IN_USE"},
    std::pair{ZE_RESULT_ERROR_INVALID_NULL_POINTER, "INVALID_NULL_POINTER"},
    std::pair{ZE_RESULT_ERROR_INVALID_SIZE, "INVALID_SIZE"},
    std::pair{ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "UNSUPPORTED_SIZE"},
    std::pair{ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "UNSUPPORTED_ALIGNMENT"},
    std::pair{ZE_RESULT_ERROR_INVALID_ENUMERATION, "INVALID_ENUMERATION"},
    std::pair{ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, "UNSUPPORTED_ENUMERATION"},
    std::pair{ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, "ADDRESS_NOT_FOUND"},
    std::pair{ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "INVALID_SYNCHRONIZATION_OBJECT"},
    std::pair{ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, "INVALID_COMMAND_LIST_TYPE"},
    std::pair{ZE_RESULT_ERROR_OVERLAPPING_REGIONS, "OVERLAPPING_REGIONS"},
    std::pair{ZE_RESULT_ERROR_UNKNOWN, "UNKNOWN"},
};

} // namespace

const Driver &driver() {
    return foundDriver();
}

void restartDriver() {
    foundDriver() = initialise();
}

ze_device_handle_t firstDevice() {
    return driver().devices.front();
}

ze_result_t getIpcHandleWithProperties(ze_context_handle_t context,
                                       const void *ptr,
                                       void *pNext,
                                       ze_ipc_mem_handle_t *handle) {
    static const NewerCall<decltype(&zeMemGetIpcHandleWithProperties)> newer(
        "zeMemGetIpcHandleWithProperties");
    return newer.call(newer.translated(ZEL_HANDLE_CONTEXT, context), ptr, pNext, handle);
}

ze_result_t putIpcHandle(ze_context_handle_t context, ze_ipc_mem_handle_t handle) {
    static const NewerCall<decltype(&zeMemPutIpcHandle)> newer("zeMemPutIpcHandle");
    return newer.call(newer.translated(ZEL_HANDLE_CONTEXT, context), handle);
}

ze_result_t getIpcHandleFromDescriptor(ze_context_handle_t context,
                                       uint64_t fd,
                                       ze_ipc_mem_handle_t *handle) {
    static const NewerCall<decltype(&zeMemGetIpcHandleFromFileDescriptorExp)> newer(
        "zeMemGetIpcHandleFromFileDescriptorExp");
    return newer.call(newer.translated(ZEL_HANDLE_CONTEXT, context), fd, handle);
}

ze_result_t getDescriptorFromIpcHandle(ze_context_handle_t context,
                                       ze_ipc_mem_handle_t handle,
                                       uint64_t *fd) {
    static const NewerCall<decltype(&zeMemGetFileDescriptorFromIpcHandleExp)> newer(
        "zeMemGetFileDescriptorFromIpcHandleExp");
    return newer.call(newer.translated(ZEL_HANDLE_CONTEXT, context), handle, fd);
}

ze_result_t getPhysicalProperties(ze_context_handle_t context,
                                  ze_physical_mem_handle_t object,
                                  ze_physical_mem_properties_t *properties) {
    static const NewerCall<decltype(&zePhysicalMemGetProperties)> newer(
        "zePhysicalMemGetProperties");
    return newer.call(newer.translated(ZEL_HANDLE_CONTEXT, context),
                      newer.translated(ZEL_HANDLE_PHYSICAL_MEM, object),
                      properties);
}

ze_result_t commandListHostSynchronize(ze_command_list_handle_t list, uint64_t timeout) {
    static const NewerCall<decltype(&zeCommandListHostSynchronize)> newer(
        "zeCommandListHostSynchronize");
    return newer.call(newer.translated(ZEL_HANDLE_COMMAND_LIST, list), timeout);
}

ze_result_t immediateAppendList(ze_command_list_handle_t immediate, ze_command_list_handle_t list) {
    static const NewerCall<decltype(&zeCommandListImmediateAppendCommandListsExp)> newer(
        "zeCommandListImmediateAppendCommandListsExp");
    auto *appended = newer.translated(ZEL_HANDLE_COMMAND_LIST, list);
    return newer.call(
        newer.translated(ZEL_HANDLE_COMMAND_LIST, immediate), 1, &appended, nullptr, 0, nullptr);
}

std::vector<ze_driver_extension_properties_t> extensions() {
    uint32_t count = 0;
    require(zeDriverGetExtensionProperties(driver().handle, &count, nullptr),
            "zeDriverGetExtensionProperties");
    std::vector<ze_driver_extension_properties_t> found(count);
    require(zeDriverGetExtensionProperties(driver().handle, &count, found.data()),
            "zeDriverGetExtensionProperties");
    return found;
}

uint32_t extensionVersion(std::string_view name) {
    for (const auto &extension : extensions()) {
        if (name == extension.name) {
            return extension.version;
        }
    }
    return 0;
}

std::string lastErrorDescription() {
    static const NewerCall<decltype(&zeDriverGetLastErrorDescription)> newer(
        "zeDriverGetLastErrorDescription");
    const char *text = nullptr;
    const auto result = newer.call(newer.translated(ZEL_HANDLE_DRIVER, driver().handle), &text);
    return result == ZE_RESULT_SUCCESS && text != nullptr ? text : "";
}

std::string resultName(ze_result_t result) {
    for (const auto &[value, name] : resultNames) {
        if (value == result) {
            return name;
        }
    }
    return fmt::format("{:#x}", static_cast<uint32_t>(result));
}

void require(ze_result_t result, std::string_view what) {
    if (result == ZE_RESULT_SUCCESS) {
        return;
    }
    // Before the driver is up there is nobody to ask for a sentence.
    const bool early = what.starts_with("zeInit") || what.starts_with("zeDriverGet") ||
                       what.starts_with("zeDeviceGet");
    throw HarnessError(
        fmt::format("{}: {} [{}]", what, resultName(result), early ? "" : lastErrorDescription()));
}

Context::Context() {
    const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    require(zeContextCreate(driver().handle, &desc, &handle_), "zeContextCreate");
}

Context::~Context() {
    EXPECT_EQ(zeContextDestroy(handle_), ZE_RESULT_SUCCESS);
}

} // namespace causeway::black_box

void PrintTo(const ze_result_t &result, std::ostream *stream) {
    *stream << causeway::black_box::resultName(result);
}
