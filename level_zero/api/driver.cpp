#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/function_names.h"
#include "level_zero/api/handles.h"
#include "level_zero/api/last_error.h"
#include "level_zero/api/pnext.h"
#include "level_zero/core/version.h"

#include <level_zero/ze_ipc_phys_mem_handle_range.h>

#include <array>

namespace causeway::api {
namespace {

/// Says which driver this is: a name in the first half, the version in the second.
ze_driver_uuid_t driverUuid() {
    ze_driver_uuid_t uuid = {.id = {'c', 'a', 'u', 's', 'e', 'w', 'a', 'y'}};
    std::memcpy(&uuid.id[12], &core::driverVersion, sizeof(core::driverVersion));
    return uuid;
}

struct Extension {
    std::string_view name;
    uint32_t version = 0;
};

constexpr std::array extensions = {
    Extension{ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME, ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_VERSION_1_0},
    Extension{ZE_IPC_MEM_HANDLE_TYPE_EXT_NAME, ZE_IPC_MEM_HANDLE_TYPE_EXT_VERSION_1_0},
    Extension{ZE_DRIVER_DDI_HANDLES_EXT_NAME, ZE_DRIVER_DDI_HANDLES_EXT_VERSION_1_1},
    Extension{ZE_MEMORY_FREE_POLICIES_EXT_NAME, ZE_MEMORY_FREE_POLICIES_EXT_VERSION_1_0},
    Extension{ZE_PCI_PROPERTIES_EXT_NAME, ZE_PCI_PROPERTIES_EXT_VERSION_1_0},
    Extension{ZE_EVENT_QUERY_TIMESTAMPS_EXP_NAME, ZE_EVENT_QUERY_TIMESTAMPS_EXP_VERSION_1_0},
    Extension{ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_NAME,
              ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_VERSION_1_0},
    Extension{ZE_IMMEDIATE_COMMAND_LIST_APPEND_EXP_NAME,
              ZE_IMMEDIATE_COMMAND_LIST_APPEND_EXP_VERSION_1_0},
};

} // namespace

ze_result_t zeDriverGet(uint32_t *pCount, ze_driver_handle_t *phDrivers) {
    return guarded("zeDriverGet", [&]() -> Result<void> {
        auto driver = currentDriver();
        if (!driver) {
            return forward(driver);
        }
        if (pCount == nullptr) {
            return nullPointer("pCount");
        }
        writeCounted(pCount, phDrivers, 1, [&](ze_driver_handle_t &item, uint32_t) {
            item = toHandle(**driver);
        });
        return {};
    });
}

ze_result_t zeDriverGetApiVersion(ze_driver_handle_t hDriver, ze_api_version_t *version) {
    return onDriver("zeDriverGetApiVersion", hDriver, [&](core::Driver &) -> Result<void> {
        if (version == nullptr) {
            return nullPointer("version");
        }
        *version = ZE_API_VERSION_1_17;
        return {};
    });
}

ze_result_t zeDriverGetProperties(ze_driver_handle_t hDriver,
                                  ze_driver_properties_t *pDriverProperties) {
    return onDriver("zeDriverGetProperties", hDriver, [&](core::Driver &) -> Result<void> {
        if (pDriverProperties == nullptr) {
            return nullPointer("pDriverProperties");
        }
        ze_driver_ddi_handles_ext_properties_t *handles = nullptr;
        auto walked = walkChain(pDriverProperties->pNext, [&](uint32_t stype, void *node) {
            if (stype == ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES) {
                handles = static_cast<ze_driver_ddi_handles_ext_properties_t *>(node);
            }
            return Result<void>();
        });
        if (!walked) {
            return walked;
        }
        clearProperties(*pDriverProperties);
        pDriverProperties->uuid = driverUuid();
        pDriverProperties->driverVersion = core::driverVersion;
        if (handles != nullptr) {
            handles->flags = ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED;
        }
        return {};
    });
}

ze_result_t zeDriverGetIpcProperties(ze_driver_handle_t hDriver,
                                     ze_driver_ipc_properties_t *pIpcProperties) {
    return onDriver("zeDriverGetIpcProperties", hDriver, [&](core::Driver &) -> Result<void> {
        if (pIpcProperties == nullptr) {
            return nullPointer("pIpcProperties");
        }
        clearProperties(*pIpcProperties);
        pIpcProperties->flags = ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL;
        return {};
    });
}

ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t hDriver,
                                           uint32_t *pCount,
                                           ze_driver_extension_properties_t *pExtensionProperties) {
    return onDriver("zeDriverGetExtensionProperties", hDriver, [&](core::Driver &) -> Result<void> {
        if (pCount == nullptr) {
            return nullPointer("pCount");
        }
        writeCounted(pCount,
                     pExtensionProperties,
                     extensions.size(),
                     [](ze_driver_extension_properties_t &item, uint32_t index) {
                         writeName(item.name, extensions[index].name);
                         item.version = extensions[index].version;
                     });
        return {};
    });
}

ze_result_t zeDriverGetExtensionFunctionAddress(ze_driver_handle_t hDriver,
                                                const char *name,
                                                void **ppFunctionAddress) {
    constexpr auto function = "zeDriverGetExtensionFunctionAddress";
    return onDriver(function, hDriver, [&](core::Driver &) -> Result<void> {
        if (name == nullptr) {
            return nullPointer("name");
        }
        if (ppFunctionAddress == nullptr) {
            return nullPointer("ppFunctionAddress");
        }
        *ppFunctionAddress = findFunction(name);
        if (*ppFunctionAddress == nullptr) {
            return fail(Status::InvalidArgument, "there is no function \"{}\"", name);
        }
        return {};
    });
}

ze_result_t zeDriverGetLastErrorDescription(ze_driver_handle_t hDriver, const char **ppString) {
    constexpr auto function = "zeDriverGetLastErrorDescription";
    return onDriver(function, hDriver, [&](core::Driver &) -> Result<void> {
        if (ppString == nullptr) {
            return nullPointer("ppString");
        }
        *ppString = lastError();
        return {};
    });
}

ze_context_handle_t zeDriverGetDefaultContext(ze_driver_handle_t hDriver) {
    ze_context_handle_t context = nullptr;
    // What failed is in the description of the last error.
    static_cast<void>(
        onDriver("zeDriverGetDefaultContext", hDriver, [&](core::Driver &driver) -> Result<void> {
            auto made = driver.defaultContext();
            if (!made) {
                return forward(made);
            }
            context = toHandle<ze_context_handle_t>(*made);
            return {};
        }));
    return context;
}

} // namespace causeway::api
