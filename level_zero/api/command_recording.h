#pragma once

#include "level_zero/api/handles.h"
#include "shared/base/result.h"
#include "source/copy/commands.h"

#include <level_zero/ze_api.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

/// The common frame of what is appended to command lists.
namespace causeway::api {

/// The events that every append may name, as they were passed.
struct Synchronization {
    ze_event_handle_t signal = nullptr;
    uint32_t waitCount = 0;
    const ze_event_handle_t *waits = nullptr;
};

using Commands = std::vector<copy::Command>;

/// An event that a command works with. Errors: Uninitialized, InvalidSynchronizationObject.
[[nodiscard]] Result<std::shared_ptr<core::Event>> findSynchronization(ze_event_handle_t handle);

/// Adds what waits before an operation. Errors: InvalidSize (a count without an array),
/// InvalidSynchronizationObject.
[[nodiscard]] Result<void> recordWaits(const Synchronization &events, Commands &commands);

/// Adds where it begins, for the times of the event that is signalled.
void recordMark(const Synchronization &events, copy::Enclosed enclosed, Commands &commands);

/// Adds what signals after it. Errors: InvalidSynchronizationObject.
[[nodiscard]] Result<void> recordSignal(const Synchronization &events,
                                        copy::Enclosed enclosed,
                                        Commands &commands);

/// What closed lists recorded, for a queue that is to run it. Errors: InvalidNullHandle,
/// InvalidArgument (not live, open, of another device or context), InvalidCommandListType.
[[nodiscard]] Result<std::vector<copy::BatchRef>> recordedBatches(
    const core::CommandQueue &queue, std::span<const ze_command_list_handle_t> handles);

/// Errors: UnsupportedFeature: no call ...WithParameters has any yet.
[[nodiscard]] Result<void> refuseParameters(const void *pNext);

[[nodiscard]] copy::Wait waitFor(const std::shared_ptr<core::Event> &event);
[[nodiscard]] copy::Signal signalOf(const std::shared_ptr<core::Event> &event,
                                    copy::SignalTimes times);

/// Appends what `body(list)`, a Result<Commands>, answers: after the events that are waited for and
/// before the one that is signalled.
template <typename Body>
ze_result_t onAppend(std::string_view function,
                     ze_command_list_handle_t hCommandList,
                     const Synchronization &events,
                     Body &&body) noexcept {
    return onCommandList(function, hCommandList, [&](const auto &list) -> Result<void> {
        Result<Commands> operation = body(*list);
        if (!operation) {
            return forward(operation);
        }
        Commands commands;
        if (auto recorded = recordWaits(events, commands); !recorded) {
            return recorded;
        }
        recordMark(events, copy::Enclosed::Operation, commands);
        std::ranges::move(*operation, std::back_inserter(commands));
        auto recorded = recordSignal(events, copy::Enclosed::Operation, commands);
        if (!recorded) {
            return recorded;
        }
        return list->append(std::move(commands));
    });
}

} // namespace causeway::api
