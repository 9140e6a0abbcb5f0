#include "level_zero/core/event.h"

namespace causeway::core {

Result<std::shared_ptr<Event>> Event::create(std::shared_ptr<EventPool> pool,
                                             ze_event_pool_handle_t poolHandle,
                                             uint32_t index,
                                             const Scopes &scopes) {
    auto state = pool->at(index);
    if (!state) {
        return forward(state);
    }
    return std::shared_ptr<Event>(new Event(std::move(pool), poolHandle, **state, scopes));
}

void Event::hostSignal() {
    Os &os = pool_->owner().context->services().os;
    if (pool_->hasTimestamps()) {
        const uint64_t now = copy::timestampNow(os);
        state_.signalWithTimestamps(os, now, now);
    } else {
        state_.signal(os);
    }
}

Result<void> Event::hostSynchronize(uint64_t timeoutNs) const {
    Context &context = *pool_->owner().context;
    Os &os = context.services().os;
    auto signalled = state_.wait(
        os, copy::Deadline::after(os, timeoutNs), copy::StopFlags(context.failures().flag()));
    if (!signalled) {
        return forward(signalled);
    }
    if (*signalled) {
        return {};
    }
    if (auto failed = context.failures().check(); !failed) {
        return failed;
    }
    return notReady();
}

Result<copy::EventTimestamps> Event::timestamps() const {
    if (!pool_->hasTimestamps()) {
        return fail(Status::InvalidArgument, "the event's pool was created without timestamps");
    }
    if (!state_.isSignalled()) {
        return notReady();
    }
    return state_.timestamps();
}

} // namespace causeway::core
