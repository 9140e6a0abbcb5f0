#include "unit_tests/black_box/peer_role.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace causeway::black_box {

namespace {

uint64_t number(const void *ptr) {
    return reinterpret_cast<uint64_t>(ptr);
}

void openHandle(PeerState &state, const Request &request, Reply &reply) {
    void *base = nullptr;
    auto *const device = driver().devices.at(request.value);
    reply.result = zeMemOpenIpcHandle(state.ze(), device, request.handle, request.flags, &base);
    reply.address = number(base);
}

/// Opens, compares the first word, closes; false at the first fault.
bool openRound(ze_context_handle_t context, const ze_ipc_mem_handle_t &handle, uint64_t word) {
    void *base = nullptr;
    const auto result = zeMemOpenIpcHandle(context, firstDevice(), handle, 0, &base);
    if (result != ZE_RESULT_SUCCESS) {
        return false;
    }
    const bool isRight = loadWord(base) == word;
    return zeMemCloseIpcHandle(context, base) == ZE_RESULT_SUCCESS && isRight;
}

void openInThreads(PeerState &state, const Request &request, Reply &reply) {
    const View reference(state.ze(), request.handle);
    const uint64_t word = loadWord(reference.base());
    std::atomic<uint64_t> failures = 0;
    std::vector<std::jthread> threads;
    threads.reserve(request.value);
    for (uint64_t i = 0; i < request.value; ++i) {
        threads.emplace_back([&] {
            for (uint64_t round = 0; round < request.extra; ++round) {
                failures += openRound(state.ze(), request.handle, word) ? 0 : 1;
            }
        });
    }
    threads.clear();
    reply.value = failures;
}

void addressRange(PeerState &state, const Request &request, Reply &reply) {
    void *base = nullptr;
    reply.result = zeMemGetAddressRange(state.ze(), pointer(request.address), &base, &reply.size);
    reply.address = number(base);
}

void allocProperties(PeerState &state, const Request &request, Reply &reply) {
    ze_memory_allocation_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    ze_device_handle_t device = nullptr;
    reply.result =
        zeMemGetAllocProperties(state.ze(), pointer(request.address), &properties, &device);
    reply.number = static_cast<int32_t>(properties.type);
    reply.value = properties.id;
    const auto &all = driver().devices;
    reply.extra = static_cast<uint64_t>(std::ranges::find(all, device) - all.begin());
}

void getAccess(PeerState &state, const Request &request, Reply &reply) {
    auto access = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
    reply.result = zeVirtualMemGetAccessAttribute(
        state.ze(), pointer(request.address), request.size, &access, &reply.size);
    reply.number = static_cast<int32_t>(access);
}

void setAccess(PeerState &state, const Request &request, Reply &reply) {
    reply.result =
        zeVirtualMemSetAccessAttribute(state.ze(),
                                       pointer(request.address),
                                       request.size,
                                       static_cast<ze_memory_access_attribute_t>(request.flags));
}

void mapOver(PeerState &state, const Request &request, Reply &reply) {
    auto *object = createObject(state.ze(), request.size);
    reply.result = zeVirtualMemMap(state.ze(),
                                   pointer(request.address),
                                   request.size,
                                   object,
                                   0,
                                   ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    zePhysicalMemDestroy(state.ze(), object);
}

} // namespace

bool serveImporting(PeerState &state, const Request &request, Reply &reply) {
    switch (request.command) {
    case Command::Open:
        openHandle(state, request, reply);
        return true;
    case Command::OpenInThreads:
        openInThreads(state, request, reply);
        return true;
    case Command::Close:
        reply.result = zeMemCloseIpcHandle(state.ze(), pointer(request.address));
        return true;
    case Command::AddressRange:
        addressRange(state, request, reply);
        return true;
    case Command::AllocProperties:
        allocProperties(state, request, reply);
        return true;
    case Command::GetAccess:
        getAccess(state, request, reply);
        return true;
    case Command::SetAccess:
        setAccess(state, request, reply);
        return true;
    case Command::MemFree:
        reply.result = zeMemFree(state.ze(), pointer(request.address));
        return true;
    case Command::VirtualMemFree:
        reply.result = zeVirtualMemFree(state.ze(), pointer(request.address), request.size);
        return true;
    case Command::Map:
        mapOver(state, request, reply);
        return true;
    case Command::Unmap:
        reply.result = zeVirtualMemUnmap(state.ze(), pointer(request.address), request.size);
        return true;
    default:
        return false;
    }
}

} // namespace causeway::black_box
