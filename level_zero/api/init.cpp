#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/handles.h"

namespace causeway::api {

ze_result_t zeInit(ze_init_flags_t flags) {
    return guarded("zeInit", [&]() -> Result<void> {
        constexpr uint32_t known = ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY;
        if (auto checked = checkFlags("flags", flags, known); !checked) {
            return checked;
        }
        if (flags == ZE_INIT_FLAG_VPU_ONLY) {
            return fail(Status::Uninitialized, "only VPUs were asked for; this driver has GPUs");
        }
        auto driver = core::driverSlot().initialize();
        if (!driver) {
            return forward(driver);
        }
        return {};
    });
}

ze_result_t zeInitDrivers(uint32_t *pCount,
                          ze_driver_handle_t *phDrivers,
                          ze_init_driver_type_desc_t *desc) {
    return guarded("zeInitDrivers", [&]() -> Result<void> {
        if (pCount == nullptr) {
            return nullPointer("pCount");
        }
        if (desc == nullptr) {
            return nullPointer("desc");
        }
        if (desc->flags == 0) {
            return fail(Status::InvalidEnumeration, "desc->flags names no driver type");
        }
        if ((desc->flags & ZE_INIT_DRIVER_TYPE_FLAG_GPU) == 0) {
            *pCount = 0;
            return {};
        }
        auto driver = core::driverSlot().initialize();
        if (!driver) {
            return forward(driver);
        }
        writeCounted(pCount, phDrivers, 1, [&](ze_driver_handle_t &item, uint32_t) {
            item = toHandle(**driver);
        });
        return {};
    });
}

} // namespace causeway::api
