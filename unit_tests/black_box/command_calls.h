#pragma once

#include "unit_tests/black_box/deadline.h"
#include "unit_tests/black_box/ze_calls.h"

#include <cstdint>

/// Short forms of what tests do with command lists and queues. What they make ends with its
/// context at the latest.
namespace causeway::black_box {

/// The timeout of a wait for what must happen.
inline uint64_t longTimeout() {
    return static_cast<uint64_t>(std::chrono::nanoseconds(defaultWait()).count());
}

inline ze_command_queue_desc_t queueDescriptor(ze_command_queue_mode_t mode) {
    ze_command_queue_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    desc.mode = mode;
    return desc;
}

inline ze_command_queue_handle_t createQueue(
    ze_context_handle_t context, ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_DEFAULT) {
    const auto desc = queueDescriptor(mode);
    ze_command_queue_handle_t queue = nullptr;
    require(zeCommandQueueCreate(context, firstDevice(), &desc, &queue), "zeCommandQueueCreate");
    return queue;
}

inline ze_command_list_handle_t createList(ze_context_handle_t context) {
    ze_command_list_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
    ze_command_list_handle_t list = nullptr;
    require(zeCommandListCreate(context, firstDevice(), &desc, &list), "zeCommandListCreate");
    return list;
}

inline ze_command_list_handle_t createImmediate(
    ze_context_handle_t context,
    ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
    size_t device = 0) {
    const auto desc = queueDescriptor(mode);
    ze_command_list_handle_t list = nullptr;
    require(zeCommandListCreateImmediate(context, driver().devices.at(device), &desc, &list),
            "zeCommandListCreateImmediate");
    return list;
}

inline ze_fence_handle_t createFence(ze_command_queue_handle_t queue) {
    ze_fence_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_FENCE_DESC;
    ze_fence_handle_t fence = nullptr;
    require(zeFenceCreate(queue, &desc, &fence), "zeFenceCreate");
    return fence;
}

/// Without events.
inline void appendCopy(ze_command_list_handle_t list, void *dst, const void *src, size_t size) {
    require(zeCommandListAppendMemoryCopy(list, dst, src, size, nullptr, 0, nullptr),
            "zeCommandListAppendMemoryCopy");
}

inline void execute(ze_command_queue_handle_t queue,
                    ze_command_list_handle_t list,
                    ze_fence_handle_t fence = nullptr) {
    require(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence),
            "zeCommandQueueExecuteCommandLists");
}

inline void closeAndExecute(ze_command_queue_handle_t queue,
                            ze_command_list_handle_t list,
                            ze_fence_handle_t fence = nullptr) {
    require(zeCommandListClose(list), "zeCommandListClose");
    execute(queue, list, fence);
}

} // namespace causeway::black_box
