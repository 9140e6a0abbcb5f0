#pragma once

#include <level_zero/ze_ddi_common.h>

/// Fills tables of entry points. A table that a loader passes has the size that its version gave it
/// (a 1.4 loader's ze_mem_dditable_t ends after pfnFreeExt), so each entry is written only where
/// the version already has it: anything else would be a write into the loader's memory. Entries
/// that this driver lacks are left as they are; loaders zero their tables.
namespace causeway::ddi {

void fill(ze_global_dditable_t &table, ze_api_version_t version);
void fill(ze_driver_dditable_t &table, ze_api_version_t version);
void fill(ze_device_dditable_t &table, ze_api_version_t version);
void fill(ze_context_dditable_t &table, ze_api_version_t version);
void fill(ze_mem_dditable_t &table, ze_api_version_t version);
void fill(ze_mem_exp_dditable_t &table, ze_api_version_t version);
void fill(ze_physical_mem_dditable_t &table, ze_api_version_t version);
void fill(ze_virtual_mem_dditable_t &table, ze_api_version_t version);
void fill(ze_command_queue_dditable_t &table, ze_api_version_t version);
void fill(ze_command_list_dditable_t &table, ze_api_version_t version);
void fill(ze_command_list_exp_dditable_t &table, ze_api_version_t version);
void fill(ze_fence_dditable_t &table, ze_api_version_t version);
void fill(ze_event_pool_dditable_t &table, ze_api_version_t version);
void fill(ze_event_dditable_t &table, ze_api_version_t version);
void fill(ze_event_exp_dditable_t &table, ze_api_version_t version);
void fill(ze_module_dditable_t &table, ze_api_version_t version);
void fill(ze_kernel_dditable_t &table, ze_api_version_t version);
void fill(ze_image_dditable_t &table, ze_api_version_t version);
void fill(ze_image_exp_dditable_t &table, ze_api_version_t version);
void fill(ze_graph_dditable_t &table, ze_api_version_t version);
void fill(ze_sampler_dditable_t &table, ze_api_version_t version);

/// Every other table: nothing of it is implemented.
template <typename Table>
void fill(Table & /*table*/, ze_api_version_t /*version*/) {}

/// What every ProcAddr function does.
template <typename Table>
ze_result_t answer(ze_api_version_t version, Table *table) noexcept {
    if (table == nullptr) {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    if (ZE_MAJOR_VERSION(version) != ZE_MAJOR_VERSION(ZE_API_VERSION_1_0)) {
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    }
    fill(*table, version);
    return ZE_RESULT_SUCCESS;
}

} // namespace causeway::ddi
