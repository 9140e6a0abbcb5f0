#pragma once

#include "shared/base/result.h"
#include "source/kmd/kmd.h"

#include <level_zero/ze_api.h>

#include <optional>

/// Memory that leaves and enters the driver as a descriptor, and the structures that say so in the
/// chains of allocations and queries.
namespace causeway::api {

/// The types of descriptors that memory has. The files of the soft device are memfds: opaque, and
/// no dma-bufs.
inline constexpr ze_external_memory_type_flags_t descriptorTypes =
    ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;

/// What the chain of an allocation says.
struct ExternalMemory {
    kmd::FileNeed file = kmd::FileNeed::Any; ///< of its own where it is to be exportable
    std::optional<int> imported;             ///< the application's descriptor
};

/// Errors: InvalidEnumeration (unknown type), UnsupportedEnumeration (one that memory does not
/// have, or any other kind of external memory), InvalidArgument (two imports), those of walkChain.
[[nodiscard]] Result<ExternalMemory> readExternalMemory(const void *pNext);

/// Where memory can be neither: UnsupportedEnumeration if the chain asks for it.
[[nodiscard]] Result<void> refuseExternalMemory(const void *pNext);

/// The structure that asks for a descriptor in the chain of a query, or null. Errors:
/// InvalidEnumeration (unknown type), UnsupportedEnumeration (one that memory does not have, or any
/// other kind of external memory), InvalidArgument (asked twice), those of walkChain.
[[nodiscard]] Result<ze_external_memory_export_fd_t *> findDescriptorQuery(void *pNext);

} // namespace causeway::api
