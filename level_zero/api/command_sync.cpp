#include "level_zero/api/arguments.h"
#include "level_zero/api/command_recording.h"
#include "level_zero/api/entry_points.h"
#include "shared/base/checked.h"

#include <span>

/// What orders, signals, measures and advises. Commands of a list run one after another, so that a
/// barrier is no work, only a place for its events.
namespace causeway::api {
namespace {

/// Appends what `record(event)` makes of one event.
template <typename Record>
ze_result_t appendOnEvent(std::string_view function,
                          ze_command_list_handle_t hCommandList,
                          ze_event_handle_t hEvent,
                          Record &&record) noexcept {
    return onCommandList(function, hCommandList, [&](const auto &list) -> Result<void> {
        if (hEvent == nullptr) {
            return fail(Status::InvalidNullHandle, "the event handle is null");
        }
        auto event = findSynchronization(hEvent);
        if (!event) {
            return forward(event);
        }
        Commands commands;
        commands.emplace_back(record(*event));
        return list->append(std::move(commands));
    });
}

static_assert(sizeof(ze_kernel_timestamp_result_t) == sizeof(copy::EventTimestamps));

struct TimestampQuery {
    std::span<const ze_event_handle_t> events;
    void *dst = nullptr;
    const size_t *offsets = nullptr; ///< one per event; null: one result after another
};

Result<copy::Command> recordQuery(const TimestampQuery &query,
                                  size_t index,
                                  core::Context &context) {
    auto event = findSynchronization(query.events[index]);
    if (!event) {
        return forward(event);
    }
    if (!(*event)->pool()->hasTimestamps()) {
        return fail(
            Status::InvalidSynchronizationObject, "event {} was made without timestamps", index);
    }
    const uint64_t offset = query.offsets != nullptr ? query.offsets[index]
                                                     : index * sizeof(ze_kernel_timestamp_result_t);
    const auto address = checkedAdd(toAddress(query.dst), offset);
    if (!address) {
        return fail(Status::InvalidArgument, "offset {} is beyond the address space", offset);
    }
    auto written = context.use(*address, sizeof(copy::EventTimestamps), Access::ReadWrite);
    if (!written) {
        return forward(written);
    }
    return copy::StoreTimestamps{.event = &(*event)->state(),
                                 .owner = (*event)->pool(),
                                 .address = *address,
                                 .memory = std::move(*written)};
}

/// For hints about memory of the context: nothing migrates, so that only the arguments are judged.
Result<void> checkHint(const core::CommandList &list, const void *ptr, size_t size) {
    if (ptr == nullptr) {
        return nullPointer("ptr");
    }
    return size == 0 ? Result<void>()
                     : list.owner().context->require(toAddress(ptr), size, Access::ReadOnly);
}

} // namespace

ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList,
                                       ze_event_handle_t hSignalEvent,
                                       uint32_t numWaitEvents,
                                       ze_event_handle_t *phWaitEvents) {
    return onAppend("zeCommandListAppendBarrier",
                    hCommandList,
                    {hSignalEvent, numWaitEvents, phWaitEvents},
                    [](const auto &) -> Result<Commands> { return {}; });
}

ze_result_t zeCommandListAppendMemoryRangesBarrier(ze_command_list_handle_t hCommandList,
                                                   uint32_t numRanges,
                                                   const size_t *pRangeSizes,
                                                   const void **pRanges,
                                                   ze_event_handle_t hSignalEvent,
                                                   uint32_t numWaitEvents,
                                                   ze_event_handle_t *phWaitEvents) {
    return onAppend("zeCommandListAppendMemoryRangesBarrier",
                    hCommandList,
                    {hSignalEvent, numWaitEvents, phWaitEvents},
                    [&](const auto &) -> Result<Commands> {
                        if (pRangeSizes == nullptr || pRanges == nullptr) {
                            return nullPointer("pRangeSizes or pRanges");
                        }
                        static_cast<void>(numRanges); // the CPU's memory has one order for all
                        return {};
                    });
}

ze_result_t zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList,
                                           ze_event_handle_t hEvent) {
    return appendOnEvent("zeCommandListAppendSignalEvent",
                         hCommandList,
                         hEvent,
                         [](const auto &event) { return signalOf(event, copy::SignalTimes::Now); });
}

ze_result_t zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList,
                                            uint32_t numEvents,
                                            ze_event_handle_t *phEvents) {
    return onAppend("zeCommandListAppendWaitOnEvents",
                    hCommandList,
                    {nullptr, numEvents, phEvents},
                    [&](const auto &) -> Result<Commands> {
                        if (phEvents == nullptr) {
                            return nullPointer("phEvents");
                        }
                        return {};
                    });
}

ze_result_t zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList,
                                          ze_event_handle_t hEvent) {
    return appendOnEvent(
        "zeCommandListAppendEventReset", hCommandList, hEvent, [](const auto &event) {
            return copy::Reset{.event = &event->state(), .owner = event->pool()};
        });
}

ze_result_t zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t hCommandList,
                                                    uint64_t *dstptr,
                                                    ze_event_handle_t hSignalEvent,
                                                    uint32_t numWaitEvents,
                                                    ze_event_handle_t *phWaitEvents) {
    return onAppend("zeCommandListAppendWriteGlobalTimestamp",
                    hCommandList,
                    {hSignalEvent, numWaitEvents, phWaitEvents},
                    [&](const auto &list) -> Result<Commands> {
                        if (dstptr == nullptr) {
                            return nullPointer("dstptr");
                        }
                        auto written = list.owner().context->use(
                            toAddress(dstptr), sizeof(*dstptr), Access::ReadWrite);
                        if (!written) {
                            return forward(written);
                        }
                        return Commands{copy::WriteTimestamp{.address = toAddress(dstptr),
                                                             .memory = std::move(*written)}};
                    });
}

// NOLINTNEXTLINE(readability-function-size): the API's parameters
ze_result_t zeCommandListAppendQueryKernelTimestamps(ze_command_list_handle_t hCommandList,
                                                     uint32_t numEvents,
                                                     ze_event_handle_t *phEvents,
                                                     void *dstptr,
                                                     const size_t *pOffsets,
                                                     ze_event_handle_t hSignalEvent,
                                                     uint32_t numWaitEvents,
                                                     ze_event_handle_t *phWaitEvents) {
    return onAppend("zeCommandListAppendQueryKernelTimestamps",
                    hCommandList,
                    {hSignalEvent, numWaitEvents, phWaitEvents},
                    [&](const auto &list) -> Result<Commands> {
                        if (phEvents == nullptr || dstptr == nullptr) {
                            return nullPointer("phEvents or dstptr");
                        }
                        const TimestampQuery query = {{phEvents, numEvents}, dstptr, pOffsets};
                        Commands commands;
                        for (size_t i = 0; i < numEvents; ++i) {
                            auto command = recordQuery(query, i, *list.owner().context);
                            if (!command) {
                                return forward(command);
                            }
                            commands.push_back(std::move(*command));
                        }
                        return commands;
                    });
}

ze_result_t zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t hCommandList,
                                              const void *ptr,
                                              size_t size) {
    return onCommandList("zeCommandListAppendMemoryPrefetch", hCommandList, [&](const auto &list) {
        return checkHint(*list, ptr, size);
    });
}

ze_result_t zeCommandListAppendMemAdvise(ze_command_list_handle_t hCommandList,
                                         ze_device_handle_t hDevice,
                                         const void *ptr,
                                         size_t size,
                                         ze_memory_advice_t advice) {
    return onCommandList(
        "zeCommandListAppendMemAdvise", hCommandList, [&](const auto &list) -> Result<void> {
            if (auto device = findDeviceIn(list->context(), hDevice); !device) {
                return forward(device);
            }
            if (advice > ZE_MEMORY_ADVICE_CLEAR_SYSTEM_MEMORY_PREFERRED_LOCATION) {
                return fail(Status::InvalidEnumeration,
                            "advice {} has no meaning",
                            static_cast<uint32_t>(advice));
            }
            return checkHint(*list, ptr, size);
        });
}

} // namespace causeway::api
