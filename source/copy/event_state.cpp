#include "source/copy/event_state.h"

namespace causeway::copy {
namespace {

constexpr uint32_t signalled = 1;

} // namespace

uint64_t timestampNow(Os &os) {
    return static_cast<uint64_t>(os.rawTime().count());
}

void EventState::signal(Os &os) {
    setAndWake(os, state_, signalled);
}

void EventState::signalWithTimestamps(Os &os, uint64_t startNs, uint64_t endNs) {
    globalStart_.store(startNs, std::memory_order_relaxed);
    globalEnd_.store(endNs, std::memory_order_relaxed);
    contextStart_.store(startNs, std::memory_order_relaxed);
    contextEnd_.store(endNs, std::memory_order_relaxed);
    signal(os);
}

void EventState::reset() {
    state_.store(0, std::memory_order_release);
    for (auto *time : {&globalStart_, &globalEnd_, &contextStart_, &contextEnd_}) {
        time->store(0, std::memory_order_relaxed);
    }
}

bool EventState::isSignalled() const {
    return state_.load(std::memory_order_acquire) != 0;
}

EventTimestamps EventState::timestamps() const {
    return {.globalStart = globalStart_.load(std::memory_order_relaxed),
            .globalEnd = globalEnd_.load(std::memory_order_relaxed),
            .contextStart = contextStart_.load(std::memory_order_relaxed),
            .contextEnd = contextEnd_.load(std::memory_order_relaxed)};
}

Result<bool> EventState::wait(Os &os, const Deadline &deadline, const StopFlags &stop) const {
    return waitUntilSet(os, state_, deadline, stop);
}

} // namespace causeway::copy
