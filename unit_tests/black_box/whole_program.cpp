#include "unit_tests/black_box/command_calls.h"
#include "unit_tests/black_box/event_calls.h"
#include "unit_tests/black_box/ipc_calls.h"
#include "unit_tests/black_box/protocol.h"
#include "unit_tests/black_box/range.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// What a program of an MPI library does from its start to its end, everything given back: memory
/// of each kind, a range that is shared and opened, copies on both kinds of lists, events, fences.
namespace causeway::black_box {

namespace {

constexpr size_t size = 3 * chunk;

void expect(bool isRight, std::string_view what) {
    if (!isRight) {
        throw HarnessError(fmt::format("{} is wrong", what));
    }
}

/// The lifetime checks of loader 1.32 take every immediate list for a closed one, and physical
/// memory for something in use: they refuse appending to the one and destroying the other before
/// any driver is called. A program under them does without.
bool checksLifetimes() {
    return std::getenv("ZE_ENABLE_HANDLE_LIFETIME") != nullptr; // NOLINT(concurrency-mt-unsafe)
}

/// Fills the target by a list on a queue, with a fence.
void fillOnQueue(ze_context_handle_t context, void *target, uint8_t value) {
    auto *const queue = createQueue(context);
    auto *const list = createList(context);
    auto *const fence = createFence(queue);
    require(zeCommandListAppendMemoryFill(list, target, &value, 1, size, nullptr, 0, nullptr),
            "zeCommandListAppendMemoryFill");
    require(zeCommandListAppendBarrier(list, nullptr, 0, nullptr), "zeCommandListAppendBarrier");
    closeAndExecute(queue, list, fence);
    require(zeFenceHostSynchronize(fence, UINT64_MAX), "zeFenceHostSynchronize");
    require(zeCommandQueueSynchronize(queue, UINT64_MAX), "zeCommandQueueSynchronize");
    require(zeFenceDestroy(fence), "zeFenceDestroy");
    require(zeCommandListDestroy(list), "zeCommandListDestroy");
    require(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

/// Copies on an immediate list after one event and before another.
void copyAfterEvent(ze_context_handle_t context, void *target, const void *source) {
    auto *const pool = createPool(context, 2, ZE_EVENT_POOL_FLAG_IPC);
    auto *start = createEvent(pool, 0);
    auto *const done = createEvent(pool, 1);
    auto *const list = createImmediate(context);
    if (!checksLifetimes()) {
        require(zeCommandListAppendMemoryCopy(list, target, source, size, done, 1, &start),
                "zeCommandListAppendMemoryCopy");
        expect(zeEventQueryStatus(done) == ZE_RESULT_NOT_READY, "an event that waits");
        require(zeEventHostSignal(start), "zeEventHostSignal");
        require(zeEventHostSynchronize(done, UINT64_MAX), "zeEventHostSynchronize");
    }
    require(zeCommandListDestroy(list), "zeCommandListDestroy");
    require(zeEventDestroy(start), "zeEventDestroy");
    require(zeEventDestroy(done), "zeEventDestroy");
    require(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
}

void shareAllocation(ze_context_handle_t context, const void *memory, uint8_t value) {
    ze_ipc_mem_handle_t handle = {};
    require(zeMemGetIpcHandle(context, memory, &handle), "zeMemGetIpcHandle");
    {
        const View view(context, handle);
        expect(view.base()[size - 1] == std::byte{value}, "an opened allocation");
    }
    require(putIpcHandle(context, handle), "zeMemPutIpcHandle");
}

/// Three objects side by side. `memory` is a hint that is taken already: the validation layer of
/// old loaders lets no program do without one.
void shareRange(ze_context_handle_t context, void *memory, uint8_t value) {
    void *base = nullptr;
    require(zeVirtualMemReserve(context, memory, size, &base), "zeVirtualMemReserve");
    std::vector<ze_physical_mem_handle_t> objects;
    for (size_t offset = 0; offset < size; offset += chunk) {
        objects.push_back(createObject(context, chunk));
        require(zeVirtualMemMap(context,
                                static_cast<std::byte *>(base) + offset,
                                chunk,
                                objects.back(),
                                0,
                                ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
                "zeVirtualMemMap");
    }
    copyAfterEvent(context, base, memory);
    const auto handle = exportRange(context, base, size);
    {
        const View view(context, handle);
        expect(view.base()[0] == std::byte{value} && view.base()[size - 1] == std::byte{value},
               "an opened range");
    }
    require(putIpcHandle(context, handle), "zeMemPutIpcHandle");
    require(zeVirtualMemUnmap(context, base, size), "zeVirtualMemUnmap");
    for (auto *const object : objects) {
        require(zePhysicalMemDestroy(context, object), "zePhysicalMemDestroy");
    }
    require(zeVirtualMemFree(context, base, size), "zeVirtualMemFree");
}

void runProgram() {
    const Context context;
    void *memory = nullptr;
    const ze_device_mem_alloc_desc_t desc = {
        ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
    require(zeMemAllocDevice(context.get(), &desc, size, 0, firstDevice(), &memory),
            "zeMemAllocDevice");
    constexpr uint8_t value = 0x5a;
    fillOnQueue(context.get(), memory, value);
    std::vector<uint8_t> bytes(size);
    copyAfterEvent(context.get(), bytes.data(), memory);
    shareAllocation(context.get(), memory, value);
    if (!checksLifetimes()) {
        expect(std::ranges::count(bytes, value) == static_cast<std::ptrdiff_t>(size), "the copy");
        shareRange(context.get(), memory, value);
    }
    require(zeMemFree(context.get(), memory), "zeMemFree");
}

} // namespace

int runWholeProgram(int out) {
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    close(out);
    runProgram();
    std::puts("the program has ended");
    return 0;
}

} // namespace causeway::black_box
