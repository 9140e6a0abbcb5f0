#include "unit_tests/black_box/command_calls.h"
#include "unit_tests/black_box/event_calls.h"
#include "unit_tests/black_box/peer_role.h"

namespace causeway::black_box {

namespace {

template <typename Handle>
Handle handleAt(uint64_t address) {
    return reinterpret_cast<Handle>(pointer(address));
}

template <typename Handle>
uint64_t number(Handle handle) {
    return reinterpret_cast<uint64_t>(handle);
}

void openPool(PeerState &state, const Request &request, Reply &reply) {
    ze_event_pool_handle_t pool = nullptr;
    reply.result = zeEventPoolOpenIpcHandle(state.ze(), asPoolHandle(request.handle), &pool);
    reply.address = number(pool);
}

void createEvent(const Request &request, Reply &reply) {
    const auto desc = eventDescriptor(static_cast<uint32_t>(request.value));
    ze_event_handle_t event = nullptr;
    reply.result = zeEventCreate(handleAt<ze_event_pool_handle_t>(request.address), &desc, &event);
    reply.address = number(event);
}

/// An immediate list that waits, copies a word and signals.
void appendCopy(PeerState &state, const Request &request, Reply &reply) {
    if (state.list == nullptr) {
        state.list = createImmediate(state.ze());
    }
    auto *waited = handleAt<ze_event_handle_t>(request.address);
    reply.result = zeCommandListAppendMemoryCopy(state.list,
                                                 pointer(request.extra),
                                                 pointer(request.size),
                                                 sizeof(uint64_t),
                                                 handleAt<ze_event_handle_t>(request.value),
                                                 1,
                                                 &waited);
}

void queryTimestamps(const Request &request, Reply &reply) {
    ze_kernel_timestamp_result_t times = {};
    reply.result =
        zeEventQueryKernelTimestamp(handleAt<ze_event_handle_t>(request.address), &times);
    reply.value = times.global.kernelStart;
    reply.extra = times.global.kernelEnd;
}

} // namespace

bool serveEvents(PeerState &state, const Request &request, Reply &reply) {
    auto *const event = handleAt<ze_event_handle_t>(request.address);
    switch (request.command) {
    case Command::OpenPool:
        openPool(state, request, reply);
        return true;
    case Command::ClosePool:
        reply.result = zeEventPoolCloseIpcHandle(handleAt<ze_event_pool_handle_t>(request.address));
        return true;
    case Command::CreateEvent:
        createEvent(request, reply);
        return true;
    case Command::DestroyEvent:
        reply.result = zeEventDestroy(event);
        return true;
    case Command::SignalEvent:
        reply.result = zeEventHostSignal(event);
        return true;
    case Command::ResetEvent:
        reply.result = zeEventHostReset(event);
        return true;
    case Command::WaitForEvent:
        reply.result = zeEventHostSynchronize(event, request.value);
        return true;
    case Command::QueryTimestamps:
        queryTimestamps(request, reply);
        return true;
    case Command::AppendCopy:
        appendCopy(state, request, reply);
        return true;
    default:
        return false;
    }
}

} // namespace causeway::black_box
