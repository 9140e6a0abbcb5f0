#include "unit_tests/black_box/command_calls.h"
#include "unit_tests/black_box/event_calls.h"
#include "unit_tests/black_box/ipc_fixture.h"

#include <unistd.h>

#include <csignal>
#include <thread>

namespace causeway::black_box {

namespace {

constexpr uint64_t forEver = UINT64_MAX;
constexpr uint32_t eventCount = 16;

/// A pool that a peer opens.
class EventIpcTest : public IpcTest {
  protected:
    void SetUp() override {
        IpcTest::SetUp();
        makePool(ZE_EVENT_POOL_FLAG_IPC);
    }

    void makePool(ze_event_pool_flags_t flags) { pool_ = createPool(context(), eventCount, flags); }

    [[nodiscard]] ze_event_handle_t event(uint32_t index) const {
        return createEvent(pool_, index);
    }

    [[nodiscard]] ze_ipc_mem_handle_t exported() const { return exportPool(pool_); }

    static Reply openPool(Peer &peer, const ze_ipc_mem_handle_t &handle) {
        return peer.ask({.command = Command::OpenPool, .handle = handle});
    }

    /// The peer's event at this index of the pool that is its `pool`.
    static uint64_t event(Peer &peer, uint64_t pool, uint32_t index) {
        return peer.demand({.command = Command::CreateEvent, .address = pool, .value = index})
            .address;
    }

    static ze_result_t wait(Peer &peer, uint64_t event, uint64_t timeout) {
        return peer.ask({.command = Command::WaitForEvent, .address = event, .value = timeout})
            .result;
    }

    static void on(Peer &peer, Command command, uint64_t event) {
        peer.demand({.command = command, .address = event});
    }

    /// Opens the handle in another process: a signal crosses in each direction.
    void expectShared(Peer &peer, const ze_ipc_mem_handle_t &handle, uint32_t index) {
        const auto opened = openPool(peer, handle);
        ASSERT_EQ(opened.result, ZE_RESULT_SUCCESS) << opened.text.data();
        auto *const here = event(index);
        auto *const back = event(index + 1);
        const uint64_t there = event(peer, opened.address, index);
        const uint64_t thereBack = event(peer, opened.address, index + 1);
        EXPECT_EQ(wait(peer, there, 0), ZE_RESULT_NOT_READY);
        EXPECT_EQ(zeEventHostSignal(here), ZE_RESULT_SUCCESS);
        EXPECT_EQ(wait(peer, there, forEver), ZE_RESULT_SUCCESS);
        EXPECT_EQ(zeEventQueryStatus(back), ZE_RESULT_NOT_READY);
        on(peer, Command::SignalEvent, thereBack);
        EXPECT_EQ(zeEventHostSynchronize(back, forEver), ZE_RESULT_SUCCESS);
        on(peer, Command::ResetEvent, there);
        EXPECT_EQ(zeEventQueryStatus(here), ZE_RESULT_NOT_READY);
        on(peer, Command::ClosePool, opened.address);
    }

    ze_event_pool_handle_t pool_ = nullptr;
};

TEST_F(EventIpcTest, SignalsCrossProcessesBothWays) {
    Peer peer;
    expectShared(peer, exported(), 0);
}

TEST_F(EventIpcTest, ThePeerMayHaveBeenThereFirst) {
    Peer peer;
    openPool(peer, exported()); // starts its driver before the pool that counts is made
    makePool(ZE_EVENT_POOL_FLAG_IPC);
    expectShared(peer, exported(), 2);
}

TEST_F(EventIpcTest, AHandleWithTheReceiversDescriptorOpens) {
    const DescriptorChannel channel;
    Peer peer({.socket = channel.there.get()});
    const auto handle = exported();
    channel.send(descriptorOf(handle));
    expectShared(peer, withDescriptor(handle, peer.receiveDescriptor()), 4);
}

TEST_F(EventIpcTest, CreationChangesNoStateThatAPeerHasSet) {
    Peer peer;
    const uint64_t pool = openPool(peer, exported()).address;
    on(peer, Command::SignalEvent, event(peer, pool, 0));
    auto *const here = event(0);
    EXPECT_EQ(zeEventQueryStatus(here), ZE_RESULT_SUCCESS);
    EXPECT_EQ(wait(peer, event(peer, pool, 0), 0), ZE_RESULT_SUCCESS);
    // But an index that is used anew begins anew.
    EXPECT_EQ(zeEventDestroy(here), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventQueryStatus(event(0)), ZE_RESULT_NOT_READY);
}

TEST_F(EventIpcTest, QueuesOfTwoProcessesWorkInTurns) {
    void *memory = nullptr;
    const ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    require(zeMemAllocHost(context(), &desc, (eventCount + size_t{1}) * 8, 0, &memory),
            "zeMemAllocHost");
    auto *const words = static_cast<uint64_t *>(memory);
    words[0] = 42;
    ze_ipc_mem_handle_t handle = {};
    require(zeMemGetIpcHandle(context(), memory, &handle), "zeMemGetIpcHandle");
    Peer peer;
    const uint64_t there = peer.open(handle);
    const uint64_t pool = openPool(peer, exported()).address;

    // Each word is copied to the next, in turns here and in the peer; each after the other's
    // signal.
    auto *const list = createImmediate(context());
    auto *const start = event(0);
    std::vector<ze_event_handle_t> events = {start};
    for (uint32_t i = 1; i < eventCount; ++i) {
        events.push_back(event(i));
    }
    for (uint32_t i = 0; i + 1 < eventCount; ++i) {
        if (i % 2 == 0) {
            require(zeCommandListAppendMemoryCopy(
                        list, &words[i + 1], &words[i], 8, events[i + 1], 1, &events[i]),
                    "zeCommandListAppendMemoryCopy");
        } else {
            peer.demand({.command = Command::AppendCopy,
                         .address = event(peer, pool, i),
                         .size = there + uint64_t{i} * 8,
                         .value = event(peer, pool, i + 1),
                         .extra = there + uint64_t{i + 1} * 8});
        }
    }
    EXPECT_EQ(zeEventQueryStatus(events.back()), ZE_RESULT_NOT_READY);
    EXPECT_EQ(zeEventHostSignal(start), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventHostSynchronize(events.back(), forEver), ZE_RESULT_SUCCESS);
    EXPECT_EQ(words[eventCount - 1], 42U);
    require(zeMemFree(context(), memory), "zeMemFree");
}

TEST_F(EventIpcTest, TimesCrossProcesses) {
    makePool(ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    Peer peer;
    const uint64_t pool = openPool(peer, exported()).address;
    const uint64_t there = event(peer, pool, 3);
    const Request query = {.command = Command::QueryTimestamps, .address = there};
    EXPECT_EQ(peer.ask(query).result, ZE_RESULT_NOT_READY);
    auto *const here = event(3);
    auto *const list = createImmediate(context());
    uint64_t source = 1;
    uint64_t target = 0;
    require(zeCommandListAppendMemoryCopy(list, &target, &source, 8, here, 0, nullptr), "copy");
    EXPECT_EQ(zeEventHostSynchronize(here, forEver), ZE_RESULT_SUCCESS);
    ze_kernel_timestamp_result_t times = {};
    require(zeEventQueryKernelTimestamp(here, &times), "zeEventQueryKernelTimestamp");
    const auto reply = peer.demand(query);
    EXPECT_GT(times.global.kernelStart, 0U);
    EXPECT_EQ(reply.value, times.global.kernelStart);
    EXPECT_EQ(reply.extra, times.global.kernelEnd);
}

TEST_F(EventIpcTest, AnOpenedPoolOutlivesItsOwner) {
    Peer peer;
    const uint64_t pool = openPool(peer, exported()).address;
    const uint64_t there = event(peer, pool, 0);
    require(zeEventPoolDestroy(pool_), "zeEventPoolDestroy");
    on(peer, Command::SignalEvent, there);
    EXPECT_EQ(wait(peer, there, 0), ZE_RESULT_SUCCESS);
    on(peer, Command::ClosePool, pool);
    // The handle's event keeps the memory.
    EXPECT_EQ(wait(peer, there, 0), ZE_RESULT_SUCCESS);
    on(peer, Command::DestroyEvent, there);
}

TEST_F(EventIpcTest, AKilledPeerChangesNothing) {
    auto *const here = event(0);
    {
        Peer peer;
        const uint64_t pool = openPool(peer, exported()).address;
        on(peer, Command::SignalEvent, event(peer, pool, 1));
        peer.kill();
    }
    EXPECT_EQ(zeEventQueryStatus(here), ZE_RESULT_NOT_READY);
    EXPECT_EQ(zeEventQueryStatus(event(1)), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventHostSignal(here), ZE_RESULT_SUCCESS);
}

TEST_F(EventIpcTest, OnlyPoolsThatAreMadeToBeSharedAre) {
    auto *const own = createPool(context(), 1, 0);
    ze_ipc_event_pool_handle_t handle = {};
    EXPECT_EQ(zeEventPoolGetIpcHandle(own, &handle), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(zeEventPoolCloseIpcHandle(own), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(zeEventPoolDestroy(own), ZE_RESULT_SUCCESS);
}

TEST_F(EventIpcTest, MemoryIsNoPool) {
    void *memory = nullptr;
    const ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    for (const size_t size : {size_t{8}, size_t{4096}}) {
        require(zeMemAllocHost(context(), &desc, size, 0, &memory), "zeMemAllocHost");
        ze_ipc_mem_handle_t handle = {};
        require(zeMemGetIpcHandle(context(), memory, &handle), "zeMemGetIpcHandle");
        Peer peer;
        const auto descriptors = peer.descriptors();
        EXPECT_EQ(openPool(peer, handle).result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(peer.memoryFileMappings(), 0U);
        EXPECT_EQ(peer.descriptors(), descriptors);
        require(zeMemFree(context(), memory), "zeMemFree");
    }
    Peer peer;
    EXPECT_EQ(openPool(peer, {}).result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

/// What a peer may write over the head of a pool, and over its events.
TEST_F(EventIpcTest, APeersLiesAreNotBelieved) {
    // A pool's handle opens as memory too: what a hostile process would do.
    const View view(context(), exported());
    const auto refused = [&](size_t offset, uint32_t value) {
        auto *const word = reinterpret_cast<uint32_t *>(view.base() + offset);
        const uint32_t before = *word;
        *word = value;
        ze_event_pool_handle_t pool = nullptr;
        const auto result = zeEventPoolOpenIpcHandle(context(), asPoolHandle(exported()), &pool);
        *word = before;
        return result == ZE_RESULT_ERROR_INVALID_ARGUMENT && pool == nullptr;
    };
    EXPECT_TRUE(refused(0, 1)) << "magic";
    EXPECT_TRUE(refused(8, 99)) << "version";
    EXPECT_TRUE(refused(12, 0)) << "count";
    EXPECT_TRUE(refused(12, eventCount + 1)) << "count";
    EXPECT_TRUE(refused(12, UINT32_MAX)) << "count";
    EXPECT_TRUE(refused(16, UINT32_MAX)) << "flags";

    auto *const here = event(0);
    std::fill_n(view.base() + 64, 64 * eventCount, std::byte{0xff});
    EXPECT_EQ(zeEventQueryStatus(here), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventHostReset(here), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventHostSynchronize(here, 1'000'000), ZE_RESULT_NOT_READY);
}

TEST_F(EventIpcTest, RoundsLeaveNothing) {
    Peer peer;
    const auto handle = exported();
    const auto round = [&] {
        const uint64_t pool = openPool(peer, handle).address;
        on(peer, Command::DestroyEvent, event(peer, pool, 0));
        on(peer, Command::ClosePool, pool);
    };
    const auto here = openDescriptors(); // before any connection, which the server closes in time
    round();
    const auto descriptors = peer.descriptors();
    for (int i = 0; i < 100; ++i) {
        round();
    }
    EXPECT_EQ(peer.descriptors(), descriptors);
    EXPECT_EQ(peer.memoryFileMappings(), 0U);
    // The server may still be closing the last connection.
    EXPECT_TRUE(eventually([&] { return openDescriptors() == here; }))
        << difference(here, openDescriptors());
}

TEST_F(EventIpcTest, TheSameProcessOpensIt) {
    ze_event_pool_handle_t pool = nullptr;
    require(zeEventPoolOpenIpcHandle(context(), asPoolHandle(exported()), &pool), "open");
    auto *const other = createEvent(pool, 5);
    EXPECT_EQ(zeEventHostSignal(other), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventQueryStatus(event(5)), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventPoolCloseIpcHandle(pool), ZE_RESULT_SUCCESS);
}

} // namespace
} // namespace causeway::black_box
