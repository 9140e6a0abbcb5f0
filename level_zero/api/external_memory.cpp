#include "level_zero/api/external_memory.h"

#include "level_zero/api/arguments.h"
#include "level_zero/api/pnext.h"

namespace causeway::api {
namespace {

/// 0 is the default: whatever there is.
Result<void> checkDescriptorTypes(ze_external_memory_type_flags_t flags) {
    constexpr uint32_t known = 2 * ZE_EXTERNAL_MEMORY_TYPE_FLAG_D3D12_RESOURCE - 1;
    if (auto checked = checkFlags("the type of external memory", flags, known); !checked) {
        return checked;
    }
    if ((flags & ~descriptorTypes) != 0) {
        return fail(Status::UnsupportedEnumeration,
                    "external memory of the types {:#x} was asked for; there are {:#x} only",
                    flags,
                    descriptorTypes);
    }
    return {};
}

/// Handing out ordinary memory instead would be a silent lie.
Result<void> refuseOther(uint32_t stype) {
    switch (stype) {
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC:
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD:
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_WIN32:
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD:
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32:
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC:
        return fail(Status::UnsupportedEnumeration,
                    "external memory as structure type {:#x} asks for it is not supported here",
                    stype);
    default:
        return {};
    }
}

/// Adds one structure of an allocation's chain.
Result<void> read(uint32_t stype, const void *node, ExternalMemory &external) {
    if (stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC) {
        external.file = kmd::FileNeed::OfItsOwn;
        return checkDescriptorTypes(
            static_cast<const ze_external_memory_export_desc_t *>(node)->flags);
    }
    if (stype != ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD) {
        return refuseOther(stype);
    }
    if (external.imported) {
        return fail(Status::InvalidArgument, "the pNext chain imports two descriptors");
    }
    const auto &import = *static_cast<const ze_external_memory_import_fd_t *>(node);
    external.imported = import.fd;
    return checkDescriptorTypes(import.flags);
}

} // namespace

Result<ExternalMemory> readExternalMemory(const void *pNext) {
    ExternalMemory external;
    auto walked = walkChain(
        pNext, [&](uint32_t stype, const void *node) { return read(stype, node, external); });
    if (!walked) {
        return forward(walked);
    }
    return external;
}

Result<void> refuseExternalMemory(const void *pNext) {
    return walkChain(pNext, [](uint32_t stype, const void *) { return refuseOther(stype); });
}

Result<ze_external_memory_export_fd_t *> findDescriptorQuery(void *pNext) {
    ze_external_memory_export_fd_t *query = nullptr;
    auto walked = walkChain(pNext, [&](uint32_t stype, void *node) -> Result<void> {
        if (stype != ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD) {
            return refuseOther(stype);
        }
        if (query != nullptr) {
            return fail(Status::InvalidArgument, "the pNext chain asks for two descriptors");
        }
        query = static_cast<ze_external_memory_export_fd_t *>(node);
        return checkDescriptorTypes(query->flags);
    });
    if (!walked) {
        return forward(walked);
    }
    return query;
}

} // namespace causeway::api
