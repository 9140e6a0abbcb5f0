#pragma once

#include "shared/base/result.h"

#include <level_zero/ze_api.h>

/// Memory that leaves and enters the driver as a descriptor, and the structures that say so in the
/// chains of allocations and queries.
namespace causeway::api {

/// The types of descriptors that memory has. The files of the soft device are memfds: opaque, and
/// no dma-bufs.
inline constexpr ze_external_memory_type_flags_t descriptorTypes =
    ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;

/// Errors: UnsupportedEnumeration where the chain asks to import or export external memory.
[[nodiscard]] Result<void> refuseExternalMemory(const void *pNext);

/// The structure that asks for a descriptor in the chain of a query, or null. Errors:
/// InvalidEnumeration (unknown type), UnsupportedEnumeration (one that memory does not have, or any
/// other kind of external memory), InvalidArgument (asked twice), those of walkChain.
[[nodiscard]] Result<ze_external_memory_export_fd_t *> findDescriptorQuery(void *pNext);

} // namespace causeway::api
