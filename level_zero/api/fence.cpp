#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/handles.h"

namespace causeway::api {
namespace {

Result<void> waitFor(const core::Fence &fence, uint64_t timeoutNs) {
    auto done = fence.state()->wait(timeoutNs);
    if (!done) {
        return forward(done);
    }
    return *done ? Result<void>() : notReady();
}

} // namespace

ze_result_t zeFenceCreate(ze_command_queue_handle_t hCommandQueue,
                          const ze_fence_desc_t *desc,
                          ze_fence_handle_t *phFence) {
    return onCommandQueue("zeFenceCreate", hCommandQueue, [&](const auto &queue) -> Result<void> {
        if (desc == nullptr) {
            return nullPointer("desc");
        }
        if (phFence == nullptr) {
            return nullPointer("phFence");
        }
        auto checked = checkFlags("desc->flags", desc->flags, ZE_FENCE_FLAG_SIGNALED);
        if (!checked) {
            return checked;
        }
        auto state = std::make_shared<copy::Fence>(queue->context().services().os);
        if ((desc->flags & ZE_FENCE_FLAG_SIGNALED) != 0) {
            state->signal();
        }
        *phFence = publish<ze_fence_handle_t>(
            std::make_shared<core::Fence>(queue, std::move(state)), &core::Objects::fences);
        return {};
    });
}

ze_result_t zeFenceDestroy(ze_fence_handle_t hFence) {
    return guarded("zeFenceDestroy",
                   [&] { return destroyObject(hFence, &core::Objects::fences, "fence"); });
}

ze_result_t zeFenceHostSynchronize(ze_fence_handle_t hFence, uint64_t timeout) {
    return onFence("zeFenceHostSynchronize", hFence, [&](const auto &fence) {
        return waitFor(*fence, timeout);
    });
}

ze_result_t zeFenceQueryStatus(ze_fence_handle_t hFence) {
    return onFence(
        "zeFenceQueryStatus", hFence, [](const auto &fence) { return waitFor(*fence, 0); });
}

ze_result_t zeFenceReset(ze_fence_handle_t hFence) {
    return onFence("zeFenceReset", hFence, [](const auto &fence) -> Result<void> {
        fence->state()->reset();
        return {};
    });
}

} // namespace causeway::api
