#include "unit_tests/black_box/command_calls.h"
#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/black_box/usm_kinds.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace causeway::black_box {

namespace {

constexpr size_t size = 3 * chunk + 123; // no multiple of any page

/// Handles of one allocation: zeMemGetIpcHandle.
class ObjectIpcTest : public IpcTest, public testing::WithParamInterface<Kind> {
  protected:
    std::byte *allocate(size_t bytes = size) {
        return allocateFilled(context(), GetParam(), bytes);
    }

    void free(void *ptr) { require(zeMemFree(context(), ptr), "zeMemFree"); }

    [[nodiscard]] ze_ipc_mem_handle_t get(const void *ptr) const {
        ze_ipc_mem_handle_t handle = {};
        require(zeMemGetIpcHandle(context(), ptr, &handle), "zeMemGetIpcHandle");
        return handle;
    }

    /// Opens in another process, compares every byte, and writes one that the exporter reads.
    void expectShared(Peer &peer, const ze_ipc_mem_handle_t &handle, std::byte *base) {
        const auto reply = peer.tryOpen(handle);
        ASSERT_EQ(reply.result, ZE_RESULT_SUCCESS) << reply.text.data();
        EXPECT_EQ(peer.checksum(reply.address, size), checksumOf(base, size));
        const uint64_t word = ++words_;
        peer.setWord(reply.address + 2 * chunk, word);
        EXPECT_EQ(*reinterpret_cast<const uint64_t *>(base + 2 * chunk), word);
        const auto properties = peer.allocProperties(reply.address + 1);
        EXPECT_EQ(properties.number,
                  GetParam() == Kind::Host ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE);
        EXPECT_EQ(peer.close(reply.address), ZE_RESULT_SUCCESS);
    }

  private:
    uint64_t words_ = 0x0102030405060708;
};

} // namespace

TEST_P(ObjectIpcTest, FieldCase60_FieldCase72_OpensByValue) {
    auto *base = allocate();
    Peer peer;
    const auto handle = get(base);
    const auto reply = peer.tryOpen(handle);
    ASSERT_EQ(reply.result, ZE_RESULT_SUCCESS) << reply.text.data();
    EXPECT_EQ(peer.addressRange(reply.address + 7).address, reply.address);
    EXPECT_EQ(peer.addressRange(reply.address + 7).size, size);
    expectShared(peer, handle, base);
    free(base);
}

TEST_P(ObjectIpcTest, FieldCase70_FieldCase71_OpensWithAMovedDescriptor) {
    DescriptorChannel channel;
    auto *base = allocate();
    const auto handle = get(base);
    {
        Peer peer(ChildOptions{.socket = channel.there.get()});
        channel.send(descriptorOf(handle));
        const int moved = peer.receiveDescriptor();
        auto patched = withDescriptor(handle, moved); // MPICH, UMF, UCX
        expectShared(peer, patched, base);
        std::fill_n(patched.data + 4, 4, '\xFF'); // Intel SHMEM in socket mode
        expectShared(peer, patched, base);
        EXPECT_EQ(peer.addressRange(peer.open(withDescriptor(handle, moved))).size, size);
        peer.closeDescriptor(moved);
    }
    free(base);
}

// Clients close the descriptor as soon as the memory is open. The file is whole pages.
TEST_P(ObjectIpcTest, FieldCase17_FieldCase69_OpensWithADescriptorAlone) {
    DescriptorChannel channel;
    auto *base = allocate();
    const auto handle = get(base);
    {
        Peer peer(ChildOptions{.socket = channel.there.get()});
        channel.send(descriptorOf(handle));
        const int moved = peer.receiveDescriptor();
        const auto before = peer.descriptors();
        const auto bare = withZeroRest(withDescriptor(handle, moved)); // libfabric, oneCCL
        const auto garbage = withGarbage(bare, 4, 64, 7);              // ze_peer
        const uint64_t first = peer.open(bare);
        const uint64_t second = peer.open(garbage);
        EXPECT_NE(first, second);
        EXPECT_EQ(peer.descriptors(), before) << "an open import holds no descriptor";
        peer.closeDescriptor(moved);
        EXPECT_EQ(peer.checksum(first, size), checksumOf(base, size));
        EXPECT_EQ(peer.checksum(second, size), checksumOf(base, size));
        EXPECT_EQ(peer.close(first), ZE_RESULT_SUCCESS);
        EXPECT_EQ(peer.close(second), ZE_RESULT_SUCCESS);
    }
    free(base);
}

// MPICH and Intel SHMEM map what bytes 0-3 name.
TEST_P(ObjectIpcTest, FieldCase64_DescriptorIsTheMemory) {
    auto *base = allocate();
    void *mapped =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptorOf(get(base)), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    EXPECT_EQ(checksumOf(mapped, size), checksumOf(base, size));
    auto *const list = createImmediate(context(), ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    appendCopy(list, base + 8, base + chunk, chunk);
    EXPECT_EQ(checksumOf(mapped, size), checksumOf(base, size)) << "what the device wrote";
    munmap(mapped, size);
    free(base);
}

TEST_P(ObjectIpcTest, InteriorPointersGiveTheAllocation) {
    auto *base = allocate();
    const auto handle = get(base);
    EXPECT_TRUE(equalBytes(handle, get(base + 1)));
    EXPECT_TRUE(equalBytes(handle, get(base + size - 1)));
    free(base);
}

TEST_P(ObjectIpcTest, FieldCase16_ThousandsOfGetsHoldOneDescriptor) {
    auto *base = allocate();
    const auto before = openDescriptors().size();
    const auto handle = get(base);
    for (int i = 0; i < 10'000; ++i) {
        EXPECT_TRUE(equalBytes(handle, get(base)));
    }
    EXPECT_EQ(openDescriptors().size(), before + 1);
    free(base);
    EXPECT_EQ(openDescriptors().size(), before - 1) << "the object's own goes too";
}

// Who owns the number is disputed.
TEST_P(ObjectIpcTest, FieldCase15_FieldCase16_ClosedDescriptorIsReplaced) {
    auto *base = allocate();
    const auto first = get(base);
    ::close(descriptorOf(first));
    const Descriptor stranger(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const auto second = get(base);
    void *mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptorOf(second), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    EXPECT_EQ(checksumOf(mapped, size), checksumOf(base, size));
    munmap(mapped, size);
    Peer peer;
    expectShared(peer, first, base);
    expectShared(peer, second, base);
    free(base);
}

TEST_P(ObjectIpcTest, SameProcessOpensDistinctPointersWithoutDescriptors) {
    auto *base = allocate();
    const auto handle = get(base);
    const auto before = openDescriptors().size();
    std::set<void *> opened = {base};
    for (int i = 0; i < 2000; ++i) {
        void *ptr = nullptr;
        ASSERT_EQ(zeMemOpenIpcHandle(context(), firstDevice(), handle, 0, &ptr), ZE_RESULT_SUCCESS);
        EXPECT_TRUE(opened.insert(ptr).second);
    }
    EXPECT_EQ(openDescriptors().size(), before);
    free(base); // the views are not closed: they go with the context
}

TEST_P(ObjectIpcTest, FieldCase16_PutRevokesAtTheLastOnly) {
    auto *base = allocate();
    const auto handle = get(base);
    static_cast<void>(get(base));
    Peer peer;
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    expectShared(peer, handle, base);
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer.tryOpen(handle).result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS) << "once too often";
    expectShared(peer, get(base), base);
    free(base);
}

TEST_P(ObjectIpcTest, FreeRevokesWhatNobodyPut) {
    auto *base = allocate();
    const auto handle = get(base);
    Peer peer;
    const uint64_t view = peer.open(handle);
    const uint64_t sum = checksumOf(base, size);
    free(base);
    EXPECT_EQ(peer.tryOpen(handle).result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(peer.checksum(view, size), sum) << "an open view lives on";
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
}

TEST_P(ObjectIpcTest, NewAllocationAtTheSameAddressIsAnother) {
    auto *first = allocate();
    const auto old = get(first);
    free(first);
    auto *second = allocate();
    const auto handle = get(second);
    EXPECT_FALSE(equalBytes(old, handle));
    Peer peer;
    expectShared(peer, handle, second);
    EXPECT_EQ(peer.tryOpen(old).result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    free(second);
}

TEST_P(ObjectIpcTest, FourHundredAreOpenAtOnce) {
    std::vector<std::byte *> bases;
    std::vector<uint64_t> views;
    Peer peer;
    for (int i = 0; i < 400; ++i) {
        bases.push_back(allocate(chunk));
        *reinterpret_cast<uint64_t *>(bases.back()) = static_cast<uint64_t>(i);
        views.push_back(peer.open(get(bases.back())));
    }
    for (size_t i = 0; i < views.size(); ++i) {
        EXPECT_EQ(peer.word(views[i]), i);
        EXPECT_EQ(peer.close(views[i]), ZE_RESULT_SUCCESS);
    }
    for (auto *base : bases) {
        free(base);
    }
}

TEST_P(ObjectIpcTest, ThreadsGetAndPut) {
    auto *base = allocate();
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 300; ++round) {
                ze_ipc_mem_handle_t handle = {};
                EXPECT_EQ(zeMemGetIpcHandle(context(), base, &handle), ZE_RESULT_SUCCESS);
                EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
            }
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    Peer peer;
    expectShared(peer, get(base), base);
    free(base);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ObjectIpcTest, allKinds, kindName);

namespace {

/// Handles of one physical memory object, mapped or not.
class PhysicalIpcTest : public IpcTest {
  protected:
    ze_physical_mem_handle_t create(size_t bytes) {
        ze_physical_mem_desc_t desc = {};
        desc.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC;
        desc.size = bytes;
        ze_physical_mem_handle_t object = nullptr;
        require(zePhysicalMemCreate(context(), firstDevice(), &desc, &object),
                "zePhysicalMemCreate");
        return object;
    }
};

} // namespace

TEST_F(PhysicalIpcTest, FieldCase04_MappedObjectIsExportedWhole) {
    const Range range(context(), {Piece::of(2 * chunk)});
    ze_ipc_mem_handle_t handle = {};
    require(zeMemGetIpcHandle(context(), range.base() + chunk, &handle), "zeMemGetIpcHandle");
    Peer peer;
    const uint64_t view = peer.open(handle);
    EXPECT_EQ(peer.addressRange(view).size, 2 * chunk);
    EXPECT_EQ(peer.checksum(view, 2 * chunk), range.checksum());
}

// Never a handle for a part of what the address range says.
TEST_F(PhysicalIpcTest, FieldCase04_PartOfAnObjectIsRefusedWithAHint) {
    const Range range(context(), {Piece::window(3 * chunk, chunk, chunk), Piece::of(chunk)});
    ze_ipc_mem_handle_t handle = {};
    EXPECT_EQ(zeMemGetIpcHandle(context(), range.base(), &handle),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(lastErrorDescription().find("range"), std::string::npos) << lastErrorDescription();
    EXPECT_EQ(zeMemGetIpcHandle(context(), range.base() + chunk, &handle), ZE_RESULT_SUCCESS)
        << "its neighbour is whole";
}

TEST_F(PhysicalIpcTest, FieldCase04_AHandleWithoutTheDescriptorIsWhatTheAddressRangeTells) {
    const Range range(context(),
                      {Piece::of(2 * chunk),
                       Piece::window(3 * chunk, 0, chunk),
                       Piece::of(chunk).onHost(),
                       Piece::of(chunk)});
    Peer peer;
    for (size_t piece = 0; piece < 4; ++piece) {
        ze_ipc_mem_handle_t plain = {};
        ze_ipc_mem_handle_t same = {};
        const auto expected = piece == 1 ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
        ASSERT_EQ(zeMemGetIpcHandle(context(), range.piece(piece), &plain), expected) << piece;
        ASSERT_EQ(getIpcHandleWithProperties(context(), range.piece(piece), nullptr, &same),
                  expected);
        EXPECT_TRUE(equalBytes(plain, same));
        void *base = nullptr;
        size_t found = 0;
        require(zeMemGetAddressRange(context(), range.piece(piece), &base, &found), "range");
        EXPECT_EQ(base, range.piece(piece));
        if (expected == ZE_RESULT_SUCCESS) {
            const uint64_t view = peer.open(plain);
            EXPECT_EQ(peer.addressRange(view).size, found);
            EXPECT_EQ(peer.checksum(view, found), range.checksum(range.offsetOf(piece), found));
        }
    }
}

TEST_F(PhysicalIpcTest, ObjectThatIsMappedNowhereIsExportedByItsHandle) {
    const auto object = create(2 * chunk);
    ze_ipc_mem_handle_t handle = {};
    require(getIpcHandleWithProperties(context(), object, nullptr, &handle), "export of a handle");
    Peer peer;
    const uint64_t view = peer.open(handle);
    EXPECT_EQ(peer.addressRange(view).size, 2 * chunk);
    peer.setWord(view + chunk, 0x5EED);

    void *base = nullptr;
    require(zeVirtualMemReserve(context(), nullptr, 2 * chunk, &base), "zeVirtualMemReserve");
    require(zeVirtualMemMap(
                context(), base, 2 * chunk, object, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
            "zeVirtualMemMap");
    EXPECT_EQ(*reinterpret_cast<uint64_t *>(static_cast<std::byte *>(base) + chunk), 0x5EEDU);
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer.tryOpen(handle).result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    require(zeVirtualMemFree(context(), base, 2 * chunk), "zeVirtualMemFree");
    require(zePhysicalMemDestroy(context(), object), "zePhysicalMemDestroy");
}

TEST_F(PhysicalIpcTest, OtherPointersAreRefused) {
    ze_ipc_mem_handle_t handle = {};
    int local = 0;
    EXPECT_EQ(zeMemGetIpcHandle(context(), &local, &handle), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(lastErrorDescription(), "");
    EXPECT_EQ(zeMemGetIpcHandle(context(), nullptr, &handle), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(zeMemGetIpcHandle(context(), &local, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    const auto object = create(chunk);
    require(zePhysicalMemDestroy(context(), object), "zePhysicalMemDestroy");
    EXPECT_EQ(getIpcHandleWithProperties(context(), object, nullptr, &handle),
              ZE_RESULT_ERROR_INVALID_ARGUMENT)
        << "a destroyed handle";
}

// What is read-only here must not come with a descriptor that can be written.
TEST_F(PhysicalIpcTest, ReadOnlyMappingIsImportedReadOnly) {
    const Range range(context(), {Piece::of(chunk).readOnly()});
    ze_ipc_mem_handle_t handle = {};
    require(zeMemGetIpcHandle(context(), range.base(), &handle), "zeMemGetIpcHandle");
    EXPECT_EQ(mmap(nullptr, chunk, PROT_READ | PROT_WRITE, MAP_SHARED, descriptorOf(handle), 0),
              MAP_FAILED);
    Peer peer;
    const uint64_t view = peer.open(handle);
    EXPECT_EQ(peer.signalOfRead(view), 0);
    EXPECT_EQ(peer.signalOfWrite(view), SIGSEGV);
}

TEST_F(PhysicalIpcTest, ObjectsInBanksTravelWithATicket) {
    constexpr uint64_t many = 100;
    Peer exporter({.descriptorLimit = 64});
    const uint64_t start = exporter.buildRange(many, chunk, 77);
    Peer importer;
    std::vector<uint64_t> views;
    for (uint64_t i = 0; i < many; ++i) {
        views.push_back(importer.open(exporter.exportObject(start + i * chunk)));
        EXPECT_EQ(importer.goodEnds(views.back(), chunk, 1, 77 + i), 1U) << i;
    }
    EXPECT_LT(exporter.descriptors(), 64U);
}

} // namespace causeway::black_box
