#include "unit_tests/black_box/external_memory_calls.h"
#include "unit_tests/black_box/peer_role.h"
#include "unit_tests/black_box/usm_kinds.h"

#include <utility>

namespace causeway::black_box {

namespace {

/// Of the devices whose bits are set.
std::vector<size_t> devicesOf(uint32_t bits) {
    std::vector<size_t> devices;
    for (size_t i = 0; i < 32; ++i) {
        if ((bits >> i & 1U) != 0) {
            devices.push_back(i);
        }
    }
    return devices;
}

void buildRange(PeerState &state, const Request &request, Reply &reply) {
    const auto devices = devicesOf(request.flags == 0 ? 1 : request.flags);
    auto pieces = manyPieces(request.value, request.size);
    for (size_t i = 0; i < pieces.size(); ++i) {
        pieces[i].device = devices[i % devices.size()];
    }
    state.range =
        std::make_unique<Range>(state.ze(),
                                std::move(pieces),
                                RangeOptions{.fill = Fill::Ends, .firstObject = request.extra});
    reply.address = reinterpret_cast<uint64_t>(state.range->base());
}

void fillRange(const Range &range, uint64_t firstObject) {
    const size_t size = range.offsetOf(1);
    for (size_t i = 0; i * size < range.size(); ++i) {
        fillEnds(range.piece(i), size, firstObject + i);
    }
}

void destroyAll(PeerState &state, const std::vector<ze_physical_mem_handle_t> &objects) {
    for (auto *object : objects) {
        require(zePhysicalMemDestroy(state.ze(), object), "zePhysicalMemDestroy");
    }
}

void countObjects(PeerState &state, const Request &request, Reply &reply) {
    std::vector<ze_physical_mem_handle_t> objects;
    ze_physical_mem_handle_t object = nullptr;
    const auto exportable = exportDescriptor();
    const void *chain = request.flags != 0 ? &exportable : nullptr;
    while (objects.size() < request.value && reply.result == ZE_RESULT_SUCCESS) {
        reply.result = tryCreateObject(state.ze(), request.size, Placement::Device, &object, chain);
        if (reply.result == ZE_RESULT_SUCCESS) {
            objects.push_back(object);
        }
    }
    reply.value = objects.size();
    destroyAll(state, objects);
}

/// Counts the objects in which the first or the last word of a page is not zero.
uint64_t countDirtyObjects(const std::byte *base, size_t objectSize, uint64_t count) {
    uint64_t dirty = 0;
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t seen = 0;
        const auto *object = base + i * objectSize;
        for (size_t page = 0; page < objectSize; page += smallPage) {
            seen |= loadWord(object + page) | loadWord(object + page + smallPage - 8);
        }
        dirty += seen == 0 ? 0 : 1;
    }
    return dirty;
}

void checkFresh(PeerState &state, const Request &request, Reply &reply) {
    const size_t total = request.size * request.value;
    auto *base = reserveAdjacent(state.ze(), {total}).front();
    std::vector<ze_physical_mem_handle_t> objects;
    for (uint64_t i = 0; i < request.value; ++i) {
        objects.push_back(createObject(state.ze(), request.size));
        require(zeVirtualMemMap(state.ze(),
                                base + i * request.size,
                                request.size,
                                objects.back(),
                                0,
                                ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
                "zeVirtualMemMap");
    }
    reply.value = countDirtyObjects(base, request.size, request.value);
    require(zeVirtualMemFree(state.ze(), base, total), "zeVirtualMemFree");
    destroyAll(state, objects);
}

/// The object ends with its mapping, which ends with the context.
void importObject(PeerState &state, const Request &request, Reply &reply) {
    const auto chain = importDescriptor(static_cast<int>(request.value));
    ze_physical_mem_handle_t object = nullptr;
    reply.result = tryCreateObject(
        state.ze(), request.size, static_cast<Placement>(request.flags), &object, &chain);
    if (reply.result != ZE_RESULT_SUCCESS) {
        return;
    }
    auto *base = reserveAdjacent(state.ze(), {request.size}).front();
    require(zeVirtualMemMap(
                state.ze(), base, request.size, object, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
            "zeVirtualMemMap");
    destroyAll(state, {object});
    reply.address = reinterpret_cast<uint64_t>(base);
}

void importAllocation(PeerState &state, const Request &request, Reply &reply) {
    const auto chain = importDescriptor(static_cast<int>(request.value));
    void *ptr = nullptr;
    reply.result =
        tryAllocate(state.ze(), static_cast<Kind>(request.flags), request.size, 0, &ptr, &chain);
    reply.address = reinterpret_cast<uint64_t>(ptr);
}

void replaceContext(PeerState &state) {
    state.list = nullptr;
    state.context.reset();
    state.context = std::make_unique<Context>();
}

} // namespace

bool serveExporting(PeerState &state, const Request &request, Reply &reply) {
    switch (request.command) {
    case Command::BuildRange:
        buildRange(state, request, reply);
        return true;
    case Command::FillRange:
        fillRange(*state.range, request.extra);
        return true;
    case Command::DestroyRange:
        state.range.reset();
        return true;
    case Command::Export:
        reply.result = tryExport(state.ze(), pointer(request.address), request.size, &reply.handle);
        return true;
    case Command::ExportObject:
        reply.result = zeMemGetIpcHandle(state.ze(), pointer(request.address), &reply.handle);
        return true;
    case Command::QueryDescriptor:
        reply.result = queryDescriptor(state.ze(), pointer(request.address), &reply.number);
        return true;
    case Command::HandleFromDescriptor:
        reply.result = getIpcHandleFromDescriptor(state.ze(), request.value, &reply.handle);
        return true;
    case Command::Put:
        reply.result = putIpcHandle(state.ze(), request.handle);
        return true;
    case Command::ImportObject:
        importObject(state, request, reply);
        return true;
    case Command::ImportAllocation:
        importAllocation(state, request, reply);
        return true;
    case Command::ReplaceContext:
        replaceContext(state);
        return true;
    case Command::CountObjects:
        countObjects(state, request, reply);
        return true;
    case Command::FreshIsZero:
        checkFresh(state, request, reply);
        return true;
    default:
        return false;
    }
}

} // namespace causeway::black_box
