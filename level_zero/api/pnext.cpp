#include "level_zero/api/pnext.h"

#include "level_zero/api/arguments.h"

#include <level_zero/ze_ipc_phys_mem_handle_range.h>

namespace causeway::api {
namespace {

Result<void> checkHandleType(const ze_ipc_mem_handle_type_ext_desc_t &desc) {
    constexpr uint32_t known =
        ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT | ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE;
    if (auto checked = checkFlags("typeFlags", desc.typeFlags, known); !checked) {
        return checked;
    }
    if ((desc.typeFlags & ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE) != 0) {
        return fail(Status::UnsupportedFeature,
                    "a fabric-accessible handle was asked for, and there is no fabric");
    }
    return {};
}

Result<void> takeRange(ExportOptions &options,
                       const ze_ipc_phys_mem_handle_range_ext_desc_t &desc) {
    if (options.rangeBytes) {
        return fail(Status::InvalidArgument, "the pNext chain has two range descriptors");
    }
    options.rangeBytes = desc.size;
    return {};
}

} // namespace

Result<ExportOptions> readExportOptions(const void *pNext) {
    ExportOptions options;
    auto walked = walkChain(pNext, [&](uint32_t stype, const void *node) -> Result<void> {
        switch (stype) {
        case ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC:
            return takeRange(options,
                             *static_cast<const ze_ipc_phys_mem_handle_range_ext_desc_t *>(node));
        case ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC:
            return checkHandleType(*static_cast<const ze_ipc_mem_handle_type_ext_desc_t *>(node));
        default:
            return {};
        }
    });
    if (!walked) {
        return forward(walked);
    }
    return options;
}

} // namespace causeway::api
