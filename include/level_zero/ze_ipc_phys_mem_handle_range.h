/* SPDX-License-Identifier: MIT
 *
 * ZE_extension_ipc_phys_mem_handle_range for SDKs that do not declare it yet (Level Zero older than
 * 1.18). Source: specification text "IPC Physical Memory Range Extension", introduced in 1.18.
 * With a newer SDK this header declares nothing.
 *
 * C and C++.
 */
#ifndef CAUSEWAY_ZE_IPC_PHYS_MEM_HANDLE_RANGE_H
#define CAUSEWAY_ZE_IPC_PHYS_MEM_HANDLE_RANGE_H

#include <level_zero/ze_api.h>

/* The names are the specification's. */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming,modernize-*) */

/* The macro is what the SDK's own declaration brings. */
#ifndef ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME

#define ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME "ZE_extension_ipc_phys_mem_handle_range"

typedef enum _ze_ipc_phys_mem_handle_range_ext_version_t {
    ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_VERSION_1_0 = ZE_MAKE_VERSION(1, 0),
    ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_VERSION_CURRENT = ZE_MAKE_VERSION(1, 0),
    ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_VERSION_FORCE_UINT32 = 0x7fffffff
} ze_ipc_phys_mem_handle_range_ext_version_t;

/* ze_structure_type_t cannot be extended from outside. */
#define ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC ((ze_structure_type_t)0x0002004B)

/* Passed as pNext of zeMemGetIpcHandleWithProperties: export [ptr, ptr + size). */
typedef struct _ze_ipc_phys_mem_handle_range_ext_desc_t {
    ze_structure_type_t stype; /* ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC */
    const void *pNext;
    size_t size; /* of the range, in bytes */
} ze_ipc_phys_mem_handle_range_ext_desc_t;

#endif

/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming,modernize-*) */

#endif
