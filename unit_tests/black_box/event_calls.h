#pragma once

#include "unit_tests/black_box/ze_calls.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

/// Short forms of what tests do with events.
namespace causeway::black_box {

inline ze_event_desc_t eventDescriptor(uint32_t index) {
    return {ZE_STRUCTURE_TYPE_EVENT_DESC,
            nullptr,
            index,
            ZE_EVENT_SCOPE_FLAG_HOST,
            ZE_EVENT_SCOPE_FLAG_HOST};
}

inline ze_event_pool_handle_t createPool(ze_context_handle_t context,
                                         uint32_t count,
                                         ze_event_pool_flags_t flags) {
    const ze_event_pool_desc_t desc = {
        ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, flags | ZE_EVENT_POOL_FLAG_HOST_VISIBLE, count};
    ze_event_pool_handle_t pool = nullptr;
    require(zeEventPoolCreate(context, &desc, 0, nullptr, &pool), "zeEventPoolCreate");
    return pool;
}

inline ze_event_handle_t createEvent(ze_event_pool_handle_t pool, uint32_t index) {
    const auto desc = eventDescriptor(index);
    ze_event_handle_t event = nullptr;
    require(zeEventCreate(pool, &desc, &event), "zeEventCreate");
    return event;
}

/// The handle of a pool travels to a peer as that of memory does.
inline ze_ipc_mem_handle_t asMemoryHandle(const ze_ipc_event_pool_handle_t &handle) {
    ze_ipc_mem_handle_t bytes = {};
    std::copy(std::begin(handle.data), std::end(handle.data), std::begin(bytes.data));
    return bytes;
}

inline ze_ipc_event_pool_handle_t asPoolHandle(const ze_ipc_mem_handle_t &bytes) {
    ze_ipc_event_pool_handle_t handle = {};
    std::copy(std::begin(bytes.data), std::end(bytes.data), std::begin(handle.data));
    return handle;
}

inline ze_ipc_mem_handle_t exportPool(ze_event_pool_handle_t pool) {
    ze_ipc_event_pool_handle_t handle = {};
    require(zeEventPoolGetIpcHandle(pool, &handle), "zeEventPoolGetIpcHandle");
    return asMemoryHandle(handle);
}

} // namespace causeway::black_box
