#include "level_zero/api/arguments.h"
#include "level_zero/api/entry_points.h"
#include "level_zero/api/handles.h"
#include "level_zero/api/pnext.h"

#include <cstring>
#include <span>

namespace causeway::api {
namespace {

Result<void> checkDescriptor(const ze_event_pool_desc_t *desc) {
    if (desc == nullptr) {
        return nullPointer("desc");
    }
    auto checked = checkFlags("desc->flags", desc->flags, core::eventPoolFlags);
    if (!checked) {
        return checked;
    }
    if (desc->count == 0) {
        return fail(Status::InvalidSize, "a pool of 0 events");
    }
    return walkChain(desc->pNext, [](uint32_t stype, const void *) -> Result<void> {
        // Such events count instead of being reset: taken for ordinary ones they would stay
        // signalled from one use to the next.
        if (stype == ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC) {
            return fail(Status::UnsupportedFeature, "counter-based events are not supported");
        }
        return {};
    });
}

wire::HandleBytes toBytes(const ze_ipc_event_pool_handle_t &handle) {
    wire::HandleBytes bytes;
    static_assert(sizeof(bytes) == sizeof(handle.data));
    std::memcpy(bytes.data(), handle.data, sizeof(bytes));
    return bytes;
}

} // namespace

ze_result_t zeEventPoolCreate(ze_context_handle_t hContext,
                              const ze_event_pool_desc_t *desc,
                              uint32_t numDevices,
                              ze_device_handle_t *phDevices,
                              ze_event_pool_handle_t *phEventPool) {
    return onContext("zeEventPoolCreate", hContext, [&](core::Context &context) -> Result<void> {
        if (auto checked = checkDescriptor(desc); !checked) {
            return checked;
        }
        if (phEventPool == nullptr) {
            return nullPointer("phEventPool");
        }
        if (phDevices == nullptr && numDevices > 0) {
            return fail(Status::InvalidSize, "phDevices is null and numDevices {}", numDevices);
        }
        for (const auto handle : std::span(phDevices, numDevices)) {
            if (auto device = findDeviceIn(context, handle); !device) {
                return forward(device, "phDevices");
            }
        }
        auto pool = core::EventPool::create({context.shared_from_this(), hContext},
                                            {.count = desc->count, .flags = desc->flags});
        if (!pool) {
            return forward(pool);
        }
        *phEventPool = publish<ze_event_pool_handle_t>(std::move(*pool), &core::Objects::pools);
        return {};
    });
}

ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t hEventPool) {
    return guarded("zeEventPoolDestroy",
                   [&] { return destroyObject(hEventPool, &core::Objects::pools, "event pool"); });
}

ze_result_t zeEventPoolGetIpcHandle(ze_event_pool_handle_t hEventPool,
                                    ze_ipc_event_pool_handle_t *phIpc) {
    return onEventPool(
        "zeEventPoolGetIpcHandle", hEventPool, [&](const auto &pool) -> Result<void> {
            if (phIpc == nullptr) {
                return nullPointer("phIpc");
            }
            auto bytes = pool->exportHandle();
            if (!bytes) {
                return forward(bytes);
            }
            std::memcpy(phIpc->data, bytes->data(), sizeof(*bytes));
            return {};
        });
}

ze_result_t zeEventPoolPutIpcHandle(ze_context_handle_t hContext, ze_ipc_event_pool_handle_t hIpc) {
    return onContext(
        "zeEventPoolPutIpcHandle", hContext, [&](core::Context &context) -> Result<void> {
            context.putHandle(toBytes(hIpc));
            return {};
        });
}

ze_result_t zeEventPoolOpenIpcHandle(ze_context_handle_t hContext,
                                     ze_ipc_event_pool_handle_t hIpc,
                                     ze_event_pool_handle_t *phEventPool) {
    return onContext(
        "zeEventPoolOpenIpcHandle", hContext, [&](core::Context &context) -> Result<void> {
            if (phEventPool == nullptr) {
                return nullPointer("phEventPool");
            }
            auto pool =
                core::EventPool::open({context.shared_from_this(), hContext}, toBytes(hIpc));
            if (!pool) {
                return forward(pool);
            }
            *phEventPool = publish<ze_event_pool_handle_t>(std::move(*pool), &core::Objects::pools);
            return {};
        });
}

ze_result_t zeEventPoolCloseIpcHandle(ze_event_pool_handle_t hEventPool) {
    return onEventPool(
        "zeEventPoolCloseIpcHandle", hEventPool, [&](const auto &pool) -> Result<void> {
            if (!pool->isImported()) {
                return fail(Status::InvalidArgument,
                            "the event pool was created here; zeEventPoolDestroy ends it");
            }
            return destroyObject(hEventPool, &core::Objects::pools, "event pool");
        });
}

ze_result_t zeEventPoolGetContextHandle(ze_event_pool_handle_t hEventPool,
                                        ze_context_handle_t *phContext) {
    return onEventPool(
        "zeEventPoolGetContextHandle", hEventPool, [&](const auto &pool) -> Result<void> {
            if (phContext == nullptr) {
                return nullPointer("phContext");
            }
            *phContext = pool->owner().handle;
            return {};
        });
}

ze_result_t zeEventPoolGetFlags(ze_event_pool_handle_t hEventPool, ze_event_pool_flags_t *pFlags) {
    return onEventPool("zeEventPoolGetFlags", hEventPool, [&](const auto &pool) -> Result<void> {
        if (pFlags == nullptr) {
            return nullPointer("pFlags");
        }
        *pFlags = pool->flags();
        return {};
    });
}

} // namespace causeway::api
