#include "level_zero/api/arguments.h"
#include "level_zero/api/command_queue.h"
#include "level_zero/api/command_recording.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/handles.h"

#include <span>

namespace causeway::api {
namespace {

/// Writes `body(list)`.
template <typename Out, typename Body>
ze_result_t onListProperty(std::string_view function,
                           ze_command_list_handle_t hCommandList,
                           Out *out,
                           Body &&body) noexcept {
    return onCommandList(function, hCommandList, [&](const auto &list) -> Result<void> {
        if (out == nullptr) {
            return nullPointer("the output");
        }
        *out = body(*list);
        return {};
    });
}

Result<void> requireImmediate(const core::CommandList &list) {
    if (list.queue() == nullptr) {
        return fail(Status::InvalidArgument, "the command list is not an immediate one");
    }
    return {};
}

/// Writes `body(shape)` of an immediate list's queue.
template <typename Out, typename Body>
ze_result_t onImmediateProperty(std::string_view function,
                                ze_command_list_handle_t hCommandList,
                                Out *out,
                                Body &&body) noexcept {
    return onCommandList(function, hCommandList, [&](const auto &list) -> Result<void> {
        if (out == nullptr) {
            return nullPointer("the output");
        }
        if (auto immediate = requireImmediate(*list); !immediate) {
            return immediate;
        }
        *out = body(list->queue()->shape());
        return {};
    });
}

ze_result_t appendLists(std::string_view function,
                        ze_command_list_handle_t hCommandList,
                        std::span<const ze_command_list_handle_t> handles,
                        const void *pNext,
                        const Synchronization &events) {
    return onCommandList(function, hCommandList, [&](const auto &list) -> Result<void> {
        if (auto immediate = requireImmediate(*list); !immediate) {
            return immediate;
        }
        if (handles.data() == nullptr) {
            return nullPointer("phCommandLists");
        }
        if (auto checked = refuseParameters(pNext); !checked) {
            return checked;
        }
        auto batches = recordedBatches(*list->queue(), handles);
        if (!batches) {
            return forward(batches);
        }
        Commands before;
        Commands after;
        if (auto recorded = recordWaits(events, before); !recorded) {
            return recorded;
        }
        recordMark(events, copy::Enclosed::Lists, before);
        if (auto recorded = recordSignal(events, copy::Enclosed::Lists, after); !recorded) {
            return recorded;
        }
        return list->appendBatches(std::move(before), std::move(*batches), std::move(after));
    });
}

} // namespace

ze_result_t zeCommandListCreate(ze_context_handle_t hContext,
                                ze_device_handle_t hDevice,
                                const ze_command_list_desc_t *desc,
                                ze_command_list_handle_t *phCommandList) {
    return onContext("zeCommandListCreate", hContext, [&](core::Context &context) -> Result<void> {
        auto device = findDeviceIn(context, hDevice);
        if (!device) {
            return forward(device);
        }
        if (desc == nullptr) {
            return nullPointer("desc");
        }
        constexpr uint32_t known =
            ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING | ZE_COMMAND_LIST_FLAG_MAXIMIZE_THROUGHPUT |
            ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY | ZE_COMMAND_LIST_FLAG_IN_ORDER |
            ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE | ZE_COMMAND_LIST_FLAG_COPY_OFFLOAD_HINT;
        if (auto checked = checkFlags("desc->flags", desc->flags, known); !checked) {
            return checked;
        }
        if (auto checked = checkOrdinal(desc->commandQueueGroupOrdinal); !checked) {
            return checked;
        }
        if (phCommandList == nullptr) {
            return nullPointer("phCommandList");
        }
        *phCommandList = publish<ze_command_list_handle_t>(
            std::make_shared<core::CommandList>(
                core::ContextRef{context.shared_from_this(), hContext},
                **device,
                desc->commandQueueGroupOrdinal,
                desc->flags),
            &core::Objects::lists);
        return {};
    });
}

ze_result_t zeCommandListCreateImmediate(ze_context_handle_t hContext,
                                         ze_device_handle_t hDevice,
                                         const ze_command_queue_desc_t *altdesc,
                                         ze_command_list_handle_t *phCommandList) {
    constexpr auto function = "zeCommandListCreateImmediate";
    return onContext(function, hContext, [&](core::Context &context) -> Result<void> {
        auto device = findDeviceIn(context, hDevice);
        if (!device) {
            return forward(device);
        }
        auto shape = readQueueDescriptor(altdesc, "altdesc");
        if (!shape) {
            return forward(shape);
        }
        if (phCommandList == nullptr) {
            return nullPointer("phCommandList");
        }
        *phCommandList = publish<ze_command_list_handle_t>(
            std::make_shared<core::CommandList>(std::make_shared<core::CommandQueue>(
                core::ContextRef{context.shared_from_this(), hContext}, **device, *shape)),
            &core::Objects::lists);
        return {};
    });
}

ze_result_t zeCommandListDestroy(ze_command_list_handle_t hCommandList) {
    return guarded("zeCommandListDestroy", [&] {
        return destroyObject(hCommandList, &core::Objects::lists, "command list");
    });
}

ze_result_t zeCommandListClose(ze_command_list_handle_t hCommandList) {
    return onCommandList("zeCommandListClose", hCommandList, [](const auto &list) -> Result<void> {
        list->close();
        return {};
    });
}

ze_result_t zeCommandListReset(ze_command_list_handle_t hCommandList) {
    return onCommandList("zeCommandListReset", hCommandList, [](const auto &list) -> Result<void> {
        list->reset();
        return {};
    });
}

ze_result_t zeCommandListHostSynchronize(ze_command_list_handle_t hCommandList, uint64_t timeout) {
    return onCommandList(
        "zeCommandListHostSynchronize", hCommandList, [&](const auto &list) -> Result<void> {
            if (auto immediate = requireImmediate(*list); !immediate) {
                return immediate;
            }
            return list->queue()->synchronize(timeout);
        });
}

ze_result_t zeCommandListImmediateAppendCommandListsExp(
    ze_command_list_handle_t hCommandListImmediate,
    uint32_t numCommandLists,
    ze_command_list_handle_t *phCommandLists,
    ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents) {
    return appendLists("zeCommandListImmediateAppendCommandListsExp",
                       hCommandListImmediate,
                       {phCommandLists, numCommandLists},
                       nullptr,
                       {hSignalEvent, numWaitEvents, phWaitEvents});
}

ze_result_t zeCommandListImmediateAppendCommandListsWithParameters(
    ze_command_list_handle_t hCommandListImmediate,
    uint32_t numCommandLists,
    ze_command_list_handle_t *phCommandLists,
    const void *pNext,
    ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents) {
    return appendLists("zeCommandListImmediateAppendCommandListsWithParameters",
                       hCommandListImmediate,
                       {phCommandLists, numCommandLists},
                       pNext,
                       {hSignalEvent, numWaitEvents, phWaitEvents});
}

ze_result_t zeCommandListGetDeviceHandle(ze_command_list_handle_t hCommandList,
                                         ze_device_handle_t *phDevice) {
    return onListProperty("zeCommandListGetDeviceHandle",
                          hCommandList,
                          phDevice,
                          [](const core::CommandList &list) { return toHandle(list.device()); });
}

ze_result_t zeCommandListGetContextHandle(ze_command_list_handle_t hCommandList,
                                          ze_context_handle_t *phContext) {
    return onListProperty("zeCommandListGetContextHandle",
                          hCommandList,
                          phContext,
                          [](const core::CommandList &list) { return list.owner().handle; });
}

ze_result_t zeCommandListGetOrdinal(ze_command_list_handle_t hCommandList, uint32_t *pOrdinal) {
    return onListProperty("zeCommandListGetOrdinal",
                          hCommandList,
                          pOrdinal,
                          [](const core::CommandList &list) { return list.ordinal(); });
}

ze_result_t zeCommandListIsImmediate(ze_command_list_handle_t hCommandList,
                                     ze_bool_t *pIsImmediate) {
    return onListProperty(
        "zeCommandListIsImmediate", hCommandList, pIsImmediate, [](const core::CommandList &list) {
            return ze_bool_t{list.queue() != nullptr};
        });
}

ze_result_t zeCommandListImmediateGetIndex(ze_command_list_handle_t hCommandListImmediate,
                                           uint32_t *pIndex) {
    return onImmediateProperty("zeCommandListImmediateGetIndex",
                               hCommandListImmediate,
                               pIndex,
                               [](const core::QueueShape &shape) { return shape.index; });
}

ze_result_t zeCommandListGetFlags(ze_command_list_handle_t hCommandList,
                                  ze_command_list_flags_t *pFlags) {
    return onListProperty("zeCommandListGetFlags",
                          hCommandList,
                          pFlags,
                          [](const core::CommandList &list) { return list.flags(); });
}

ze_result_t zeCommandListImmediateGetFlags(ze_command_list_handle_t hCommandList,
                                           ze_command_queue_flags_t *pFlags) {
    return onImmediateProperty("zeCommandListImmediateGetFlags",
                               hCommandList,
                               pFlags,
                               [](const core::QueueShape &shape) { return shape.flags; });
}

ze_result_t zeCommandListImmediateGetMode(ze_command_list_handle_t hCommandList,
                                          ze_command_queue_mode_t *pMode) {
    return onImmediateProperty("zeCommandListImmediateGetMode",
                               hCommandList,
                               pMode,
                               [](const core::QueueShape &shape) { return shape.mode; });
}

ze_result_t zeCommandListImmediateGetPriority(ze_command_list_handle_t hCommandList,
                                              ze_command_queue_priority_t *pPriority) {
    return onImmediateProperty("zeCommandListImmediateGetPriority",
                               hCommandList,
                               pPriority,
                               [](const core::QueueShape &shape) { return shape.priority; });
}

} // namespace causeway::api
