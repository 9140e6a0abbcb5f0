#include "unit_tests/black_box/command_calls.h"
#include "unit_tests/black_box/fault_probe.h"
#include "unit_tests/black_box/peer_role.h"

namespace causeway::black_box {

namespace {

uint64_t countGoodEnds(const Request &request) {
    uint64_t good = 0;
    for (uint64_t i = 0; i < request.value; ++i) {
        const auto *object = pointer(request.address) + i * request.size;
        good += hasEnds(object, request.size, request.extra + i) ? 1 : 0;
    }
    return good;
}

ze_result_t copy(const PeerState &state, const Request &request) {
    auto *const list =
        createImmediate(state.ze(), ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, request.value);
    const auto result = zeCommandListAppendMemoryCopy(
        list, pointer(request.address), pointer(request.extra), request.size, nullptr, 0, nullptr);
    require(zeCommandListDestroy(list), "zeCommandListDestroy");
    return result;
}

} // namespace

bool serveMemory(PeerState &state, const Request &request, Reply &reply) {
    switch (request.command) {
    case Command::ReadWord:
        reply.value = loadWord(pointer(request.address));
        return true;
    case Command::WriteWord:
        storeWord(pointer(request.address), request.value);
        return true;
    case Command::ChecksumOf:
        reply.value = checksumOf(pointer(request.address), request.size);
        return true;
    case Command::Copy:
        reply.result = copy(state, request);
        return true;
    case Command::VerifyEnds:
        reply.value = countGoodEnds(request);
        return true;
    case Command::SignalOfRead:
        reply.number = signalOfRead(pointer(request.address));
        return true;
    case Command::SignalOfWrite:
        reply.number = signalOfWrite(pointer(request.address));
        return true;
    default:
        return false;
    }
}

} // namespace causeway::black_box
