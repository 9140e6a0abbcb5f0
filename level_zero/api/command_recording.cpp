#include "level_zero/api/command_recording.h"

#include "level_zero/api/pnext.h"

namespace causeway::api {

Result<std::shared_ptr<core::Event>> findSynchronization(ze_event_handle_t handle) {
    auto event = findObject(handle, &core::Objects::events, "event");
    if (!event && event.error().status != Status::Uninitialized) {
        return fail(Status::InvalidSynchronizationObject, "{}", event.error().message);
    }
    return event;
}

copy::Wait waitFor(const std::shared_ptr<core::Event> &event) {
    return {.event = &event->state(), .owner = event->pool()};
}

copy::Signal signalOf(const std::shared_ptr<core::Event> &event, copy::SignalTimes times) {
    return {.event = &event->state(),
            .times = event->pool()->hasTimestamps() ? times : copy::SignalTimes::None,
            .owner = event->pool()};
}

Result<void> recordWaits(const Synchronization &events, Commands &commands) {
    if (events.waitCount > 0 && events.waits == nullptr) {
        return fail(
            Status::InvalidSize, "phWaitEvents is null and numWaitEvents {}", events.waitCount);
    }
    for (const auto handle : std::span(events.waits, events.waitCount)) {
        auto event = findSynchronization(handle);
        if (!event) {
            return forward(event);
        }
        commands.emplace_back(waitFor(*event));
    }
    return {};
}

void recordMark(const Synchronization &events, copy::Enclosed enclosed, Commands &commands) {
    if (events.signal != nullptr) {
        commands.emplace_back(copy::Mark{.enclosed = enclosed});
    }
}

Result<void> recordSignal(const Synchronization &events,
                          copy::Enclosed enclosed,
                          Commands &commands) {
    if (events.signal == nullptr) {
        return {};
    }
    auto event = findSynchronization(events.signal);
    if (!event) {
        return forward(event);
    }
    copy::Signal signal = signalOf(*event, copy::SignalTimes::SinceMark);
    signal.enclosed = enclosed;
    commands.emplace_back(std::move(signal));
    return {};
}

Result<std::vector<copy::BatchRef>> recordedBatches(
    const core::CommandQueue &queue, std::span<const ze_command_list_handle_t> handles) {
    std::vector<copy::BatchRef> batches;
    for (const auto handle : handles) {
        auto list = findObject(handle, &core::Objects::lists, "command list");
        if (!list) {
            return forward(list);
        }
        if (&(*list)->device() != &queue.device() || &(*list)->context() != &queue.context()) {
            return fail(Status::InvalidArgument,
                        "the command list belongs to another device or context than the queue");
        }
        auto batch = (*list)->recorded();
        if (!batch) {
            return forward(batch);
        }
        batches.push_back(std::move(*batch));
    }
    return batches;
}

Result<void> refuseParameters(const void *pNext) {
    return walkChain(pNext, [](uint32_t stype, const void *) -> Result<void> {
        return fail(Status::UnsupportedFeature,
                    "a structure of type {:#x} says how to run a command; none is supported",
                    stype);
    });
}

} // namespace causeway::api
