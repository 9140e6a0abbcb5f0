#include "level_zero/api/command_queue.h"

#include "level_zero/api/arguments.h"
#include "level_zero/api/command_recording.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/handles.h"

namespace causeway::api {

Result<void> checkOrdinal(uint32_t ordinal) {
    if (ordinal != 0) {
        return fail(Status::InvalidArgument,
                    "there is no command queue group {}; the device has one",
                    ordinal);
    }
    return {};
}

Result<core::QueueShape> readQueueDescriptor(const ze_command_queue_desc_t *desc,
                                             std::string_view name) {
    if (desc == nullptr) {
        return nullPointer(name);
    }
    constexpr uint32_t known = ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY |
                               ZE_COMMAND_QUEUE_FLAG_IN_ORDER |
                               ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT;
    if (auto checked = checkFlags("the queue's flags", desc->flags, known); !checked) {
        return forward(checked);
    }
    if (desc->mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS ||
        desc->priority > ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH) {
        return fail(Status::InvalidEnumeration,
                    "mode {} or priority {} has no meaning",
                    static_cast<uint32_t>(desc->mode),
                    static_cast<uint32_t>(desc->priority));
    }
    if (auto checked = checkOrdinal(desc->ordinal); !checked) {
        return forward(checked);
    }
    if (desc->index != 0) {
        return fail(
            Status::InvalidArgument, "there is no queue {} in the group; it has one", desc->index);
    }
    return core::QueueShape{.ordinal = desc->ordinal,
                            .index = desc->index,
                            .flags = desc->flags,
                            .mode = desc->mode,
                            .priority = desc->priority};
}

namespace {

Result<std::shared_ptr<copy::Fence>> fenceOf(const std::shared_ptr<core::CommandQueue> &queue,
                                             ze_fence_handle_t handle) {
    if (handle == nullptr) {
        return nullptr;
    }
    auto fence = findObject(handle, &core::Objects::fences, "fence");
    if (!fence || !(*fence)->belongsTo(queue)) {
        return fail(Status::InvalidSynchronizationObject,
                    "the fence is not a live one of this command queue");
    }
    return (*fence)->state();
}

/// Runs `body(queue, *out)` where both are there.
template <typename Out, typename Body>
ze_result_t onQueueProperty(std::string_view function,
                            ze_command_queue_handle_t hCommandQueue,
                            Out *out,
                            Body &&body) noexcept {
    return onCommandQueue(function, hCommandQueue, [&](const auto &queue) -> Result<void> {
        if (out == nullptr) {
            return nullPointer("the output");
        }
        *out = body(queue->shape());
        return {};
    });
}

} // namespace

ze_result_t zeCommandQueueCreate(ze_context_handle_t hContext,
                                 ze_device_handle_t hDevice,
                                 const ze_command_queue_desc_t *desc,
                                 ze_command_queue_handle_t *phCommandQueue) {
    return onContext("zeCommandQueueCreate", hContext, [&](core::Context &context) -> Result<void> {
        auto device = findDeviceIn(context, hDevice);
        if (!device) {
            return forward(device);
        }
        auto shape = readQueueDescriptor(desc, "desc");
        if (!shape) {
            return forward(shape);
        }
        if (phCommandQueue == nullptr) {
            return nullPointer("phCommandQueue");
        }
        *phCommandQueue = publish<ze_command_queue_handle_t>(
            std::make_shared<core::CommandQueue>(
                core::ContextRef{context.shared_from_this(), hContext}, **device, *shape),
            &core::Objects::queues);
        return {};
    });
}

ze_result_t zeCommandQueueDestroy(ze_command_queue_handle_t hCommandQueue) {
    return guarded("zeCommandQueueDestroy", [&] {
        return destroyObject(hCommandQueue, &core::Objects::queues, "command queue");
    });
}

ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t hCommandQueue,
                                              uint32_t numCommandLists,
                                              ze_command_list_handle_t *phCommandLists,
                                              ze_fence_handle_t hFence) {
    constexpr auto function = "zeCommandQueueExecuteCommandLists";
    return onCommandQueue(function, hCommandQueue, [&](const auto &queue) -> Result<void> {
        if (phCommandLists == nullptr) {
            return nullPointer("phCommandLists");
        }
        if (numCommandLists == 0) {
            return fail(Status::InvalidSize, "numCommandLists is 0");
        }
        auto fence = fenceOf(queue, hFence);
        if (!fence) {
            return forward(fence);
        }
        auto batches = recordedBatches(*queue, {phCommandLists, numCommandLists});
        if (!batches) {
            return forward(batches);
        }
        return queue->submit(std::move(*batches), std::move(*fence));
    });
}

ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t hCommandQueue, uint64_t timeout) {
    return onCommandQueue("zeCommandQueueSynchronize", hCommandQueue, [&](const auto &queue) {
        return queue->synchronize(timeout);
    });
}

ze_result_t zeCommandQueueGetOrdinal(ze_command_queue_handle_t hCommandQueue, uint32_t *pOrdinal) {
    return onQueueProperty("zeCommandQueueGetOrdinal",
                           hCommandQueue,
                           pOrdinal,
                           [](const core::QueueShape &shape) { return shape.ordinal; });
}

ze_result_t zeCommandQueueGetIndex(ze_command_queue_handle_t hCommandQueue, uint32_t *pIndex) {
    return onQueueProperty("zeCommandQueueGetIndex",
                           hCommandQueue,
                           pIndex,
                           [](const core::QueueShape &shape) { return shape.index; });
}

ze_result_t zeCommandQueueGetFlags(ze_command_queue_handle_t hCommandQueue,
                                   ze_command_queue_flags_t *pFlags) {
    return onQueueProperty("zeCommandQueueGetFlags",
                           hCommandQueue,
                           pFlags,
                           [](const core::QueueShape &shape) { return shape.flags; });
}

ze_result_t zeCommandQueueGetMode(ze_command_queue_handle_t hCommandQueue,
                                  ze_command_queue_mode_t *pMode) {
    return onQueueProperty("zeCommandQueueGetMode",
                           hCommandQueue,
                           pMode,
                           [](const core::QueueShape &shape) { return shape.mode; });
}

ze_result_t zeCommandQueueGetPriority(ze_command_queue_handle_t hCommandQueue,
                                      ze_command_queue_priority_t *pPriority) {
    return onQueueProperty("zeCommandQueueGetPriority",
                           hCommandQueue,
                           pPriority,
                           [](const core::QueueShape &shape) { return shape.priority; });
}

} // namespace causeway::api
