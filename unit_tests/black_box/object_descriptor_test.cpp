// Descriptors of single objects: the query's, those in handles, and handles made of them.

#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/black_box/usm_kinds.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

namespace causeway::black_box {

namespace {

constexpr size_t size = 2 * chunk + 77; // no multiple of any page

class ObjectDescriptorTest : public IpcTest, public testing::WithParamInterface<Kind> {
  protected:
    std::byte *allocate() { return allocateFilled(context(), GetParam(), size); }

    void free(void *ptr) { require(zeMemFree(context(), ptr), "zeMemFree"); }

    [[nodiscard]] int query(const void *ptr) const {
        int fd = -1;
        require(queryDescriptor(context(), ptr, &fd), "query of a descriptor");
        return fd;
    }

    [[nodiscard]] ze_ipc_mem_handle_t handleOf(int fd) const {
        ze_ipc_mem_handle_t handle = {};
        require(getIpcHandleFromDescriptor(context(), static_cast<uint64_t>(fd), &handle),
                "zeMemGetIpcHandleFromFileDescriptorExp");
        return handle;
    }

    [[nodiscard]] int descriptorIn(const ze_ipc_mem_handle_t &handle) const {
        uint64_t fd = 0;
        require(getDescriptorFromIpcHandle(context(), handle, &fd),
                "zeMemGetFileDescriptorFromIpcHandleExp");
        return static_cast<int>(fd);
    }

    [[nodiscard]] ze_ipc_mem_handle_t get(const void *ptr) const {
        ze_ipc_mem_handle_t handle = {};
        require(zeMemGetIpcHandle(context(), ptr, &handle), "zeMemGetIpcHandle");
        return handle;
    }

    void put(const ze_ipc_mem_handle_t &handle) const {
        require(putIpcHandle(context(), handle), "zeMemPutIpcHandle");
    }

    /// The peer sees all of the memory and its last byte changes here too.
    static void expectShared(Peer &peer, const ze_ipc_mem_handle_t &handle, std::byte *base) {
        const auto reply = peer.tryOpen(handle);
        ASSERT_EQ(reply.result, ZE_RESULT_SUCCESS) << reply.text.data();
        EXPECT_EQ(peer.checksum(reply.address, size), checksumOf(base, size));
        EXPECT_EQ(peer.addressRange(reply.address).size, size);
        peer.setWord(reply.address + size - 8, loadWord(base) + 1);
        EXPECT_EQ(loadWord(base + size - 8), loadWord(base) + 1);
        EXPECT_EQ(peer.close(reply.address), ZE_RESULT_SUCCESS);
    }

    static bool isMemory(int fd, const std::byte *base) {
        void *mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (mapped == MAP_FAILED) {
            return false;
        }
        const bool same = checksumOf(mapped, size) == checksumOf(base, size);
        munmap(mapped, size);
        return same;
    }
};

} // namespace

TEST_P(ObjectDescriptorTest, IsOneForQueryAndHandles) {
    auto *base = allocate();
    const auto before = openDescriptors().size();
    const int fd = query(base);
    EXPECT_TRUE(isMemory(fd, base));
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(query(base + size - 1), fd);
    const auto handle = get(base + 100);
    EXPECT_EQ(descriptorOf(handle), fd);
    EXPECT_EQ(descriptorIn(handle), fd);
    const auto again = handleOf(fd);
    EXPECT_TRUE(equalBytes(handle, again));
    EXPECT_EQ(descriptorIn(again), fd);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(query(base), fd);
    }
    EXPECT_EQ(openDescriptors().size(), before + 1);
    put(handle);
    put(again);
    EXPECT_TRUE(isMemory(fd, base)) << "the query's descriptor does not go with the handle";
    free(base);
    EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

TEST_P(ObjectDescriptorTest, HandleOfItOpensByValueByDescriptorAndAtHome) {
    DescriptorChannel channel;
    auto *base = allocate();
    const auto handle = handleOf(query(base));
    {
        Peer peer(ChildOptions{.socket = channel.there.get()});
        expectShared(peer, handle, base);
        channel.send(descriptorOf(handle));
        expectShared(peer, withDescriptor(handle, peer.receiveDescriptor()), base);
    }
    const View view(context(), handle);
    EXPECT_EQ(checksumOf(view.base(), size), checksumOf(base, size));
    free(base);
}

// Clients close what is not theirs, and the number becomes another file.
TEST_P(ObjectDescriptorTest, FieldCase15_FieldCase16_ClosedByAClientItIsReplaced) {
    auto *base = allocate();
    const auto handle = handleOf(query(base));
    for (int round = 0; round < 100; ++round) {
        const int closed = query(base);
        ::close(closed);
        Descriptor stranger(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        if (stranger.get() != closed) {
            require(dup3(stranger.get(), closed, O_CLOEXEC) == closed ? ZE_RESULT_SUCCESS
                                                                      : ZE_RESULT_ERROR_UNKNOWN,
                    "dup3");
            stranger.reset(closed);
        }
        const int fd = query(base);
        ASSERT_NE(fd, closed);
        ASSERT_TRUE(isMemory(fd, base));
        ASSERT_EQ(descriptorIn(handle), fd);
        ASSERT_EQ(descriptorOf(get(base)), fd);
        ASSERT_NE(fcntl(closed, F_GETFD), -1) << "the stranger was closed";
    }
    Peer peer;
    expectShared(peer, handle, base);
    free(base);
}

TEST_P(ObjectDescriptorTest, RoundsLeaveNoDescriptor) {
    size_t before = 0;
    for (int round = 0; round < 100; ++round) {
        auto *base = allocate();
        const auto handle = handleOf(query(base));
        if (round % 2 == 0) {
            put(handle);
        }
        free(base);
        before = round == 0 ? openDescriptors().size() : before;
        ASSERT_EQ(openDescriptors().size(), before) << round;
    }
}

TEST_P(ObjectDescriptorTest, FreeRevokesAHandleMadeOfIt) {
    auto *base = allocate();
    const auto handle = handleOf(query(base));
    free(base);
    Peer peer;
    EXPECT_EQ(peer.tryOpen(handle).result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    uint64_t fd = 0;
    EXPECT_EQ(getDescriptorFromIpcHandle(context(), handle, &fd), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

// UCX and libfabric ask for a dma-buf and copy by other means where there is none.
TEST_P(ObjectDescriptorTest, DmaBufIsRefusedAndChangesNothing) {
    auto *base = allocate();
    const auto before = openDescriptors();
    int fd = 0;
    EXPECT_EQ(queryDescriptor(context(), base, &fd, ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF),
              ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    EXPECT_EQ(fd, -1);
    EXPECT_NE(lastErrorDescription(), "");
    EXPECT_EQ(openDescriptors(), before);
    free(base);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ObjectDescriptorTest, allKinds, kindName);

namespace {

class MappedDescriptorTest : public IpcTest {
  protected:
    [[nodiscard]] ze_result_t tryQuery(const void *ptr, int *fd) const {
        return queryDescriptor(context(), ptr, fd);
    }
};

} // namespace

TEST_F(MappedDescriptorTest, IsThatOfTheWholeObject) {
    const Range range(context(), {Piece::of(chunk), Piece::of(2 * chunk)});
    int fd = -1;
    require(tryQuery(range.piece(1) + chunk, &fd), "query of a descriptor");
    ze_ipc_mem_handle_t handle = {};
    require(getIpcHandleFromDescriptor(context(), static_cast<uint64_t>(fd), &handle),
            "zeMemGetIpcHandleFromFileDescriptorExp");
    Peer peer;
    const uint64_t view = peer.open(handle);
    EXPECT_EQ(peer.addressRange(view).size, 2 * chunk);
    EXPECT_EQ(peer.checksum(view, 2 * chunk), range.checksum(chunk, 2 * chunk));
    require(putIpcHandle(context(), handle), "zeMemPutIpcHandle");
}

TEST_F(MappedDescriptorTest, QueryKeepsNothingAlive) {
    const auto before = openDescriptors();
    {
        Range range(context(), manyPieces(8));
        for (size_t i = 0; i < 8; ++i) {
            int fd = -1;
            require(tryQuery(range.piece(i), &fd), "query of a descriptor");
        }
        range.destroyObjects();
        EXPECT_GE(openDescriptors().size(), before.size() + 16);
    }
    EXPECT_EQ(openDescriptors(), before);
}

TEST_F(MappedDescriptorTest, PartsReadOnlyAndForeignMemoryAreRefused) {
    const Range range(context(), {Piece::window(2 * chunk, 0, chunk), Piece::of(chunk).readOnly()});
    int fd = -1;
    int local = 0;
    EXPECT_EQ(tryQuery(range.base(), &fd), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(tryQuery(range.piece(1), &fd), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_EQ(tryQuery(&local, &fd), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(fd, -1);
    ze_ipc_mem_handle_t handle = {};
    const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    for (const uint64_t number :
         {static_cast<uint64_t>(null.get()), ~uint64_t{0}, uint64_t{9999}}) {
        EXPECT_EQ(getIpcHandleFromDescriptor(context(), number, &handle),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
}

TEST_F(MappedDescriptorTest, OfAnotherProcessIsSharedOn) {
    DescriptorChannel channel;
    const Range range(context(), {Piece::of(chunk)});
    int fd = -1;
    require(tryQuery(range.base(), &fd), "query of a descriptor");
    Peer middle(ChildOptions{.socket = channel.there.get()});
    channel.send(fd);
    const int moved = middle.receiveDescriptor();
    const auto handle = middle.handleFromDescriptor(moved);
    middle.closeDescriptor(moved);
    Peer last;
    const uint64_t view = last.open(handle);
    EXPECT_EQ(last.checksum(view, chunk), range.checksum());
    EXPECT_EQ(middle.put(handle), ZE_RESULT_SUCCESS);
    EXPECT_EQ(last.tryOpen(handle).result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(MappedDescriptorTest, ObjectsInBanksHaveNone) {
    constexpr uint64_t many = 100;
    Peer peer({.descriptorLimit = 64});
    const uint64_t start = peer.buildRange(many, chunk, 1);
    unsigned without = 0;
    for (uint64_t i = many; i-- > many / 2;) {
        const auto reply =
            peer.ask({.command = Command::QueryDescriptor, .address = start + i * chunk});
        EXPECT_EQ(reply.result, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) << reply.text.data();
        EXPECT_NE(reply.text.front(), '\0');
        ++without;
    }
    EXPECT_EQ(without, many / 2);
    EXPECT_LT(peer.descriptors(), 64U);
}

} // namespace causeway::black_box
