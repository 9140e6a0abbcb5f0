#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/handles.h"

namespace causeway::api {
namespace {

ze_kernel_timestamp_result_t toKernelTimestamps(const copy::EventTimestamps &times) {
    return {.global = {.kernelStart = times.globalStart, .kernelEnd = times.globalEnd},
            .context = {.kernelStart = times.contextStart, .kernelEnd = times.contextEnd}};
}

using ExtendedResults = ze_event_query_kernel_timestamps_results_ext_properties_t;

void writeExtended(const core::Event &event,
                   const copy::EventTimestamps &times,
                   const ExtendedResults &results) {
    if (results.pKernelTimestampsBuffer != nullptr) {
        *results.pKernelTimestampsBuffer = toKernelTimestamps(times);
    }
    constexpr uint32_t mapped = ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;
    if (results.pSynchronizedTimestampsBuffer != nullptr && (event.pool()->flags() & mapped) != 0) {
        // The device's clock is the host's.
        *results.pSynchronizedTimestampsBuffer = {
            .global = {.kernelStart = times.globalStart, .kernelEnd = times.globalEnd},
            .context = {.kernelStart = times.contextStart, .kernelEnd = times.contextEnd}};
    }
}

template <typename Out, typename Body>
ze_result_t onEventProperty(std::string_view function,
                            ze_event_handle_t hEvent,
                            Out *out,
                            Body &&body) noexcept {
    return onEvent(function, hEvent, [&](const auto &event) -> Result<void> {
        if (out == nullptr) {
            return nullPointer("the output");
        }
        *out = body(*event);
        return {};
    });
}

/// What both queries that list results per device begin with.
Result<copy::EventTimestamps> timestampsOn(const core::Event &event,
                                           ze_device_handle_t hDevice,
                                           const uint32_t *pCount) {
    if (auto device = findDeviceIn(event.context(), hDevice); !device) {
        return forward(device);
    }
    if (pCount == nullptr) {
        return nullPointer("pCount");
    }
    return event.timestamps();
}

} // namespace

ze_result_t zeEventCreate(ze_event_pool_handle_t hEventPool,
                          const ze_event_desc_t *desc,
                          ze_event_handle_t *phEvent) {
    return onEventPool("zeEventCreate", hEventPool, [&](const auto &pool) -> Result<void> {
        if (desc == nullptr) {
            return nullPointer("desc");
        }
        if (phEvent == nullptr) {
            return nullPointer("phEvent");
        }
        constexpr uint32_t known =
            ZE_EVENT_SCOPE_FLAG_SUBDEVICE | ZE_EVENT_SCOPE_FLAG_DEVICE | ZE_EVENT_SCOPE_FLAG_HOST;
        if (auto checked = checkFlags("desc->signal", desc->signal, known); !checked) {
            return checked;
        }
        if (auto checked = checkFlags("desc->wait", desc->wait, known); !checked) {
            return checked;
        }
        auto event = core::Event::create(
            pool, hEventPool, desc->index, {.signal = desc->signal, .wait = desc->wait});
        if (!event) {
            return forward(event);
        }
        *phEvent = publish<ze_event_handle_t>(std::move(*event), &core::Objects::events);
        pool->claim(desc->index); // last: a call that fails leaves the event as it was
        return {};
    });
}

ze_result_t zeEventDestroy(ze_event_handle_t hEvent) {
    return guarded("zeEventDestroy",
                   [&] { return destroyObject(hEvent, &core::Objects::events, "event"); });
}

ze_result_t zeEventHostSignal(ze_event_handle_t hEvent) {
    return onEvent("zeEventHostSignal", hEvent, [](const auto &event) -> Result<void> {
        event->hostSignal();
        return {};
    });
}

ze_result_t zeEventHostSynchronize(ze_event_handle_t hEvent, uint64_t timeout) {
    return onEvent("zeEventHostSynchronize", hEvent, [&](const auto &event) {
        return event->hostSynchronize(timeout);
    });
}

ze_result_t zeEventQueryStatus(ze_event_handle_t hEvent) {
    return onEvent(
        "zeEventQueryStatus", hEvent, [](const auto &event) { return event->hostSynchronize(0); });
}

ze_result_t zeEventHostReset(ze_event_handle_t hEvent) {
    return onEvent("zeEventHostReset", hEvent, [](const auto &event) -> Result<void> {
        event->state().reset();
        return {};
    });
}

ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t hEvent,
                                        ze_kernel_timestamp_result_t *dstptr) {
    return onEvent("zeEventQueryKernelTimestamp", hEvent, [&](const auto &event) -> Result<void> {
        if (dstptr == nullptr) {
            return nullPointer("dstptr");
        }
        auto times = event->timestamps();
        if (!times) {
            return forward(times);
        }
        *dstptr = toKernelTimestamps(*times);
        return {};
    });
}

ze_result_t zeEventQueryTimestampsExp(ze_event_handle_t hEvent,
                                      ze_device_handle_t hDevice,
                                      uint32_t *pCount,
                                      ze_kernel_timestamp_result_t *pTimestamps) {
    return onEvent("zeEventQueryTimestampsExp", hEvent, [&](const auto &event) -> Result<void> {
        auto times = timestampsOn(*event, hDevice, pCount);
        if (!times) {
            return forward(times);
        }
        // One event has one result: each device works alone.
        writeCounted(pCount, pTimestamps, 1, [&](ze_kernel_timestamp_result_t &item, uint32_t) {
            item = toKernelTimestamps(*times);
        });
        return {};
    });
}

ze_result_t zeEventQueryKernelTimestampsExt(
    ze_event_handle_t hEvent,
    ze_device_handle_t hDevice,
    uint32_t *pCount,
    ze_event_query_kernel_timestamps_results_ext_properties_t *pResults) {
    constexpr auto function = "zeEventQueryKernelTimestampsExt";
    return onEvent(function, hEvent, [&](const auto &event) -> Result<void> {
        auto times = timestampsOn(*event, hDevice, pCount);
        if (!times) {
            return forward(times);
        }
        writeCounted(pCount, pResults, 1, [&](const ExtendedResults &results, uint32_t) {
            writeExtended(*event, *times, results);
        });
        return {};
    });
}

ze_result_t zeEventGetEventPool(ze_event_handle_t hEvent, ze_event_pool_handle_t *phEventPool) {
    return onEventProperty("zeEventGetEventPool",
                           hEvent,
                           phEventPool,
                           [](const core::Event &event) { return event.poolHandle(); });
}

ze_result_t zeEventGetSignalScope(ze_event_handle_t hEvent, ze_event_scope_flags_t *pSignalScope) {
    return onEventProperty("zeEventGetSignalScope",
                           hEvent,
                           pSignalScope,
                           [](const core::Event &event) { return event.scopes().signal; });
}

ze_result_t zeEventGetWaitScope(ze_event_handle_t hEvent, ze_event_scope_flags_t *pWaitScope) {
    return onEventProperty("zeEventGetWaitScope", hEvent, pWaitScope, [](const core::Event &event) {
        return event.scopes().wait;
    });
}

} // namespace causeway::api
