#include "unit_tests/level_zero/driver_fixture.h"
#include "unit_tests/source/ipc/peer.h"
#include "unit_tests/source/ipc/test_client.h"

#include <level_zero/ze_ipc_phys_mem_handle_range.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <ostream>
#include <string>

namespace causeway::api {
namespace {

class RollbackTest;

/// An entry point that can fail half-way. `prepare` brings about the state from which it starts and
/// `finish` ends what it leads to; `isIntact` looks at what must be whole after a failure, besides
/// what the process holds.
struct Operation {
    std::string name;
    std::function<void(RollbackTest &)> prepare;
    std::function<ze_result_t(RollbackTest &)> attempt;
    std::function<void(RollbackTest &)> finish;
    std::function<bool(RollbackTest &)> isIntact;
    uint64_t leastCalls = 1; ///< of the system, so that a sweep of nothing is found
};

void PrintTo(const Operation &operation, std::ostream *stream) { // NOLINT(*-naming): gtest's name
    *stream << operation.name;
}

/// Each system call that an entry point makes fails in turn. Whichever it is, the call says so with
/// a sentence, leaves all as it was, and succeeds the next time.
class RollbackTest : public DriverTest, public testing::WithParamInterface<Operation> {
  public:
    using DriverTest::page;
    static constexpr uint64_t osPageBytes = 4096;
    static constexpr uint64_t pages = 4;
    static constexpr uint64_t size = pages * page;

    // What operations are made of --------------------------------------------------------------

    void makeObject() { object = makePhysical(size); }

    void makeReservation() { address = static_cast<char *>(reserve(size)); }

    void makeTwoReservations() { address = reserveTwo(size); }

    ze_result_t mapAll() {
        return api::zeVirtualMemMap(
            context(), address, size, object, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    }

    /// Mapped memory with its bytes.
    void makeRange() {
        makeReservation();
        makeObject();
        ASSERT_EQ(mapAll(), ZE_RESULT_SUCCESS);
        std::memset(address, 0x5a, size);
    }

    [[nodiscard]] bool hasRange() const {
        return std::all_of(address, address + size, [](char byte) { return byte == 0x5a; });
    }

    void freeRange() {
        EXPECT_EQ(api::zeVirtualMemUnmap(context(), address, size), ZE_RESULT_SUCCESS);
        EXPECT_EQ(api::zePhysicalMemDestroy(context(), object), ZE_RESULT_SUCCESS);
        EXPECT_EQ(api::zeVirtualMemFree(context(), address, size), ZE_RESULT_SUCCESS);
    }

    ze_result_t shareRange() {
        auto range = make<ze_ipc_phys_mem_handle_range_ext_desc_t>(
            ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC);
        range.size = size;
        return api::zeMemGetIpcHandleWithProperties(context(), address, &range, &handle);
    }

    ze_result_t shareObject() { return api::zeMemGetIpcHandle(context(), address, &handle); }

    void put() { EXPECT_EQ(api::zeMemPutIpcHandle(context(), handle), ZE_RESULT_SUCCESS); }

    void takePeersHandle() { std::memcpy(&handle, peersHandle_.data(), sizeof(handle)); }

    ze_result_t open() {
        return api::zeMemOpenIpcHandle(context(), devices_[0], handle, 0, &opened);
    }

    [[nodiscard]] bool isOpen() const {
        return ipc::sameBytes(reinterpret_cast<uint64_t>(opened), peersRange_.va, size);
    }

    ze_result_t closeOpened() { return api::zeMemCloseIpcHandle(context(), opened); }

    ze_result_t makePool() {
        auto desc = make<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
        desc.flags = ZE_EVENT_POOL_FLAG_IPC;
        desc.count = 100;
        return api::zeEventPoolCreate(context(), &desc, 0, nullptr, &pool);
    }

    void endPool() { EXPECT_EQ(api::zeEventPoolDestroy(pool), ZE_RESULT_SUCCESS); }

    void sharePool() {
        ASSERT_EQ(makePool(), ZE_RESULT_SUCCESS);
        ASSERT_EQ(api::zeEventPoolGetIpcHandle(pool, &poolHandle), ZE_RESULT_SUCCESS);
    }

    [[nodiscard]] ze_context_handle_t context() const { return context_; }

    [[nodiscard]] ze_device_handle_t device() const { return devices_[0]; }

    [[nodiscard]] ze_driver_handle_t driver() const { return driver_; }

    char *address = nullptr;
    void *opened = nullptr;
    ze_physical_mem_handle_t object = nullptr;
    ze_ipc_mem_handle_t handle = {};
    ze_event_pool_handle_t pool = nullptr;
    ze_event_pool_handle_t openedPool = nullptr;
    ze_ipc_event_pool_handle_t poolHandle = {};
    ze_context_handle_t newContext = nullptr;

  protected:
    void SetUp() override {
        DriverTest::SetUp();
        peersRange_ = ipc::makeRange(peer_, pages);
        peersHandle_ = must(peer_.share(peersRange_.va, peersRange_.sizeBytes));
        makeRange(); // this process's server starts, and stays
        ASSERT_EQ(shareRange(), ZE_RESULT_SUCCESS);
        put();
        freeRange();
        idleSockets_ = sockets();
    }

    void TearDown() override {
        os_.heal();
        DriverTest::TearDown();
    }

    /// One round with the k-th call failing; false once there are not so many.
    bool runWithFault(const Operation &operation, uint64_t k) {
        operation.prepare(*this);
        const auto before = settled();
        const uint64_t faults = os_.faults();
        os_.failAt(k, ENOMEM);
        const ze_result_t tried = operation.attempt(*this);
        os_.heal();
        const bool reached = os_.faults() > faults;
        SCOPED_TRACE(testing::Message()
                     << "call " << k << ": " << (reached ? toString(*os_.lastFault()) : "none"));
        if (tried != ZE_RESULT_SUCCESS) {
            EXPECT_TRUE(reached);
            EXPECT_NE(lastSentence(), "");
            giveLeftoversBack();
            EXPECT_EQ(difference(before, settled()), "");
            EXPECT_TRUE(operation.isIntact(*this));
            EXPECT_EQ(operation.attempt(*this), ZE_RESULT_SUCCESS);
        }
        operation.finish(*this);
        return reached && !HasFailure();
    }

  private:
    /// What could not be given back while calls failed is given back by the next call.
    void giveLeftoversBack() {
        void *const any = reserve(osPageBytes);
        EXPECT_EQ(api::zeVirtualMemFree(context(), any, osPageBytes), ZE_RESULT_SUCCESS);
    }

    [[nodiscard]] static size_t sockets() {
        const auto now = fakes::ResourceSnapshot::take();
        return static_cast<size_t>(std::ranges::count_if(now.descriptors, [](const auto &entry) {
            return entry.second.starts_with("socket:");
        }));
    }

    /// A server closes a connection a little after its importer did.
    [[nodiscard]] fakes::ResourceSnapshot settled() const {
        EXPECT_TRUE(ipc::eventually([this] { return sockets() == idleSockets_; }));
        return fakes::ResourceSnapshot::take();
    }

    ipc::Peer peer_;
    ipc::Range peersRange_;
    wire::HandleBytes peersHandle_ = {};
    size_t idleSockets_ = 0;
};

using Test = RollbackTest;

void nothing(Test & /*test*/) {}

bool always(Test & /*test*/) {
    return true;
}

void shareAndOpen(Test &test) {
    test.makeRange();
    ASSERT_EQ(test.shareRange(), ZE_RESULT_SUCCESS);
}

void putAndFree(Test &test) {
    test.put();
    test.freeRange();
}

void closeIt(Test &test) {
    EXPECT_EQ(test.closeOpened(), ZE_RESULT_SUCCESS);
}

std::vector<Operation> memoryOperations() {
    return {
        {"PhysicalMemCreate",
         nothing,
         [](Test &test) {
             auto desc = make<ze_physical_mem_desc_t>(ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC);
             desc.size = Test::size;
             return api::zePhysicalMemCreate(test.context(), test.device(), &desc, &test.object);
         },
         [](Test &test) {
             EXPECT_EQ(api::zePhysicalMemDestroy(test.context(), test.object), ZE_RESULT_SUCCESS);
         },
         always,
         3},
        {"VirtualMemReserve",
         nothing,
         [](Test &test) {
             void *address = nullptr;
             const auto result =
                 api::zeVirtualMemReserve(test.context(), nullptr, uint64_t{4} << 20, &address);
             test.address = static_cast<char *>(address);
             return result;
         },
         [](Test &test) {
             EXPECT_EQ(api::zeVirtualMemFree(test.context(), test.address, uint64_t{4} << 20),
                       ZE_RESULT_SUCCESS);
         },
         always},
        {"VirtualMemFree",
         [](Test &test) { test.makeRange(); },
         [](Test &test) { return api::zeVirtualMemFree(test.context(), test.address, Test::size); },
         [](Test &test) {
             EXPECT_EQ(api::zePhysicalMemDestroy(test.context(), test.object), ZE_RESULT_SUCCESS);
         },
         [](Test &test) { return test.hasRange(); }},
        {"VirtualMemMap",
         [](Test &test) {
             test.makeReservation();
             test.makeObject();
         },
         [](Test &test) { return test.mapAll(); },
         [](Test &test) { test.freeRange(); },
         always},
        {"VirtualMemMapOverTwoReservations",
         [](Test &test) {
             test.makeTwoReservations();
             test.makeObject();
         },
         [](Test &test) {
             return api::zeVirtualMemMap(test.context(),
                                         test.address + Test::size / 2,
                                         Test::size,
                                         test.object,
                                         0,
                                         ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
         },
         [](Test &test) {
             EXPECT_EQ(api::zeVirtualMemFree(test.context(), test.address + Test::size, Test::size),
                       ZE_RESULT_SUCCESS);
             EXPECT_EQ(api::zePhysicalMemDestroy(test.context(), test.object), ZE_RESULT_SUCCESS);
             EXPECT_EQ(api::zeVirtualMemFree(test.context(), test.address, Test::size),
                       ZE_RESULT_SUCCESS);
         },
         always},
        {"VirtualMemUnmapThatSplits",
         [](Test &test) { test.makeRange(); },
         [](Test &test) {
             return api::zeVirtualMemUnmap(
                 test.context(), test.address + Test::page, 2 * Test::page);
         },
         [](Test &test) { test.freeRange(); },
         [](Test &test) { return test.hasRange(); }},
        {"VirtualMemSetAccessThatSplits",
         [](Test &test) { test.makeRange(); },
         [](Test &test) {
             return api::zeVirtualMemSetAccessAttribute(test.context(),
                                                        test.address + Test::page,
                                                        2 * Test::page,
                                                        ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
         },
         [](Test &test) { test.freeRange(); },
         [](Test &test) {
             std::memset(test.address, 0x5a, Test::size); // can be written still
             return test.hasRange();
         }},
        {"MemAllocDevice",
         nothing,
         [](Test &test) {
             auto desc = make<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
             return api::zeMemAllocDevice(
                 test.context(), &desc, Test::size, 0, test.device(), &test.opened);
         },
         [](Test &test) {
             EXPECT_EQ(api::zeMemFree(test.context(), test.opened), ZE_RESULT_SUCCESS);
         },
         always,
         4},
        {"ContextCreate",
         nothing,
         [](Test &test) {
             auto desc = make<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
             return api::zeContextCreate(test.driver(), &desc, &test.newContext);
         },
         [](Test &test) { EXPECT_EQ(api::zeContextDestroy(test.newContext), ZE_RESULT_SUCCESS); },
         always,
         0},
    };
}

std::vector<Operation> ipcOperations() {
    return {
        {"ExportOfARange",
         [](Test &test) { test.makeRange(); },
         [](Test &test) { return test.shareRange(); },
         putAndFree,
         [](Test &test) { return test.hasRange(); }},
        {"ExportOfAnObject",
         [](Test &test) { test.makeRange(); },
         [](Test &test) { return test.shareObject(); },
         putAndFree,
         [](Test &test) { return test.hasRange(); }},
        {"OpenOfAPeersRange",
         [](Test &test) { test.takePeersHandle(); },
         [](Test &test) { return test.open(); },
         closeIt,
         always,
         20},
        {"OpenOfAnOwnRange",
         shareAndOpen,
         [](Test &test) { return test.open(); },
         [](Test &test) {
             closeIt(test);
             putAndFree(test);
         },
         [](Test &test) { return test.hasRange(); },
         2},
        {"CloseOfAPeersRange",
         [](Test &test) {
             test.takePeersHandle();
             ASSERT_EQ(test.open(), ZE_RESULT_SUCCESS);
         },
         [](Test &test) { return test.closeOpened(); },
         nothing,
         [](Test &test) { return test.isOpen(); }},
        {"EventPoolCreate",
         nothing,
         [](Test &test) { return test.makePool(); },
         [](Test &test) { test.endPool(); },
         always,
         3},
        {"EventPoolGetIpcHandle",
         [](Test &test) { ASSERT_EQ(test.makePool(), ZE_RESULT_SUCCESS); },
         [](Test &test) { return api::zeEventPoolGetIpcHandle(test.pool, &test.poolHandle); },
         [](Test &test) { test.endPool(); },
         always},
        {"EventPoolOpenIpcHandle",
         [](Test &test) { test.sharePool(); },
         [](Test &test) {
             return api::zeEventPoolOpenIpcHandle(
                 test.context(), test.poolHandle, &test.openedPool);
         },
         [](Test &test) {
             EXPECT_EQ(api::zeEventPoolCloseIpcHandle(test.openedPool), ZE_RESULT_SUCCESS);
             test.endPool();
         },
         always},
        {"EventPoolCloseIpcHandle",
         [](Test &test) {
             test.sharePool();
             ASSERT_EQ(
                 api::zeEventPoolOpenIpcHandle(test.context(), test.poolHandle, &test.openedPool),
                 ZE_RESULT_SUCCESS);
         },
         [](Test &test) { return api::zeEventPoolCloseIpcHandle(test.openedPool); },
         [](Test &test) { test.endPool(); },
         always,
         0},
    };
}

std::string nameOf(const testing::TestParamInfo<Operation> &info) {
    return info.param.name;
}

TEST_P(RollbackTest, EachSystemCallCanFail) {
    constexpr uint64_t most = 500; // ends a sweep that would not end
    const Operation &operation = GetParam();
    operation.prepare(*this); // once, so that what is made at the first time is there
    ASSERT_EQ(operation.attempt(*this), ZE_RESULT_SUCCESS);
    operation.finish(*this);
    uint64_t k = 1;
    while (k < most && runWithFault(operation, k)) {
        ++k;
    }
    EXPECT_LT(k, most);
    EXPECT_GE(k - 1, operation.leastCalls);
}

INSTANTIATE_TEST_SUITE_P(Memory, RollbackTest, testing::ValuesIn(memoryOperations()), nameOf);
INSTANTIATE_TEST_SUITE_P(Ipc, RollbackTest, testing::ValuesIn(ipcOperations()), nameOf);

} // namespace
} // namespace causeway::api
