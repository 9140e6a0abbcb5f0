// Descriptors of objects that an application is given, and handles made of them.

#include "unit_tests/source/ipc/rollback_fixture.h"

#include <fcntl.h>
#include <unistd.h>

namespace causeway::ipc {
namespace {

class DescriptorTest : public RollbackFixture {
  protected:
    [[nodiscard]] uint64_t allocate(uint64_t bytes = sizeBytes) {
        const uint64_t va = must(exporter_.memory->allocate({.kind = memory::AllocationKind::Shared,
                                                             .device = &exporter_.device(),
                                                             .sizeBytes = bytes,
                                                             .alignment = 0}));
        for (uint64_t i = 0; i < bytes; i += 97) {
            bytesAt(va + i, 1)[0] = static_cast<std::byte>(i);
        }
        return va;
    }

    void free(uint64_t va) {
        const uint64_t id = exporter_.memory->pointerInfo(va).id;
        must(exporter_.memory->free(va));
        exporter_.service.revokeObject(*exporter_.memory, va, id);
    }

    [[nodiscard]] Result<int> descriptorAt(uint64_t va) {
        return exporter_.service.descriptorAt(*exporter_.memory, va);
    }

    [[nodiscard]] Result<int> descriptorOf(const wire::HandleBytes &handle) {
        return exporter_.service.descriptorOf(*exporter_.memory, handle);
    }

    [[nodiscard]] Result<wire::HandleBytes> handleOf(int fd) {
        return exporter_.service.exportDescriptor(*exporter_.memory, fd);
    }

    static void expectOpens(Peer &peer, const wire::HandleBytes &handle, uint64_t va) {
        const auto view = peer.open(handle);
        ASSERT_TRUE(succeeds(view));
        EXPECT_TRUE(sameBytes(*view, va, sizeBytes));
        peer.close(*view);
    }

    [[nodiscard]] static bool isOpen(int fd) { return linuxOs().fileInfo(fd).has_value(); }

    [[nodiscard]] memory::PhysicalMemoryRef object() {
        return must(
            exporter_.memory->createPhysical(exporter_.device(), Placement::Device, devicePage));
    }

    [[nodiscard]] uint64_t map(const memory::PhysicalMemoryRef &memory,
                               Access access = Access::ReadWrite) {
        const uint64_t va = must(exporter_.memory->reserve(0, devicePage));
        must(exporter_.memory->map(va, devicePage, memory, 0, access));
        return va;
    }

    void freeMapping(uint64_t va) { must(exporter_.memory->freeReservation(va, devicePage)); }

    static constexpr uint64_t sizeBytes = devicePage - 100;

    Peer exporter_{configOf(GetParam())};
    Peer importer_;
};

using BankedDescriptorTest = DescriptorTest;

INSTANTIATE_TEST_SUITE_P(Placings, DescriptorTest, testing::Values(Placing::OwnFiles), nameOf);
INSTANTIATE_TEST_SUITE_P(Placings, BankedDescriptorTest, testing::Values(Placing::Banks), nameOf);

TEST_P(BankedDescriptorTest, AnObjectInABankHasNone) {
    const uint64_t va = allocate();
    EXPECT_TRUE(failsWith(descriptorAt(va), Status::UnsupportedFeature, "shares its file"));
    const auto handle = must(exporter_.shareObject(va));
    EXPECT_TRUE(failsWith(descriptorOf(handle), Status::UnsupportedFeature));
    EXPECT_TRUE(failsWith(handleOf(decoded(handle).fd), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(exporter_.service.newDescriptor(*exporter_.memory, object()),
                          Status::UnsupportedFeature));
    free(va);
}

TEST_P(DescriptorTest, IsTheSameNumberInEveryAnswer) {
    const uint64_t va = allocate();
    const int fd = must(descriptorAt(va));
    EXPECT_EQ(must(descriptorAt(va + sizeBytes - 1)), fd);
    const auto handle = must(exporter_.shareObject(va));
    EXPECT_EQ(decoded(handle).fd, fd);
    EXPECT_EQ(must(descriptorOf(handle)), fd);
    EXPECT_EQ(must(handleOf(fd)), handle);
    EXPECT_EQ(decoded(must(exporter_.shareObject(va))).fd, fd);
    free(va);
    EXPECT_FALSE(isOpen(fd));
}

TEST_P(DescriptorTest, IsOneForAnObjectThatIsMappedTwice) {
    const auto memory = object();
    const uint64_t first = map(memory);
    const uint64_t second = map(memory);
    const int fd = must(descriptorAt(first));
    EXPECT_EQ(must(descriptorAt(second)), fd);
    EXPECT_EQ(decoded(must(exporter_.service.exportPhysical(*exporter_.memory, memory))).fd, fd);
    freeMapping(first);
    freeMapping(second);
}

TEST_P(DescriptorTest, OfAHandleClosesWithItsLastPut) {
    const uint64_t va = allocate();
    const auto handle = must(exporter_.shareObject(va));
    const int fd = must(descriptorOf(handle));
    exporter_.put(handle);
    EXPECT_FALSE(isOpen(fd));
    EXPECT_TRUE(failsWith(descriptorOf(handle), Status::InvalidArgument));
    free(va);
}

TEST_P(DescriptorTest, ThatWasAskedForStaysWhenTheHandleIsPut) {
    const uint64_t va = allocate();
    const int fd = must(descriptorAt(va));
    exporter_.put(must(exporter_.shareObject(va)));
    EXPECT_TRUE(isOpen(fd));
    EXPECT_EQ(must(descriptorAt(va)), fd);
    free(va);
}

TEST_P(DescriptorTest, KeepsNoMemoryAliveAndIsNoExport) {
    auto memory = object();
    const std::weak_ptr<kmd::Memory> watched = memory;
    const uint64_t va = map(memory);
    const int fd = must(descriptorAt(va));
    EXPECT_EQ(exporter_.service.liveExports(), 0U);
    memory.reset();
    EXPECT_TRUE(isOpen(fd));
    must(exporter_.memory->unmap(va, devicePage));
    EXPECT_TRUE(watched.expired());
    EXPECT_FALSE(isOpen(fd));
    EXPECT_TRUE(failsWith(handleOf(fd), Status::InvalidArgument));
    freeMapping(va);
}

TEST_P(DescriptorTest, OfAnUnmappedObjectSharesTheObject) {
    const auto memory = object();
    const uint64_t va = map(memory);
    bytesAt(va, 1)[0] = std::byte{0x5d};
    const int fd = must(descriptorAt(va));
    must(exporter_.memory->unmap(va, devicePage));
    const auto other = object();
    must(exporter_.memory->map(va, devicePage, other, 0, Access::ReadWrite));

    const uint64_t view = must(importer_.open(must(handleOf(fd))));

    EXPECT_EQ(bytesAt(view, 1)[0], std::byte{0x5d});
    importer_.close(view);
    freeMapping(va);
}

TEST_P(DescriptorTest, AHandleMadeOfItOpensInEveryWay) {
    const uint64_t va = allocate();
    const auto handle = must(handleOf(must(descriptorAt(va))));
    expectOpens(exporter_, handle, va);
    expectOpens(importer_, handle, va);
    wire::IpcHandle byValue = decoded(handle);
    byValue.fd = -1;
    expectOpens(importer_, wire::encodeHandle(byValue), va);
    importer_.faults.failKind(fakes::OsCall::ConnectAbstract, EACCES);
    expectOpens(importer_, handle, va);
    EXPECT_EQ(decoded(handle).sizeBytes, sizeBytes);
    exporter_.put(handle);
    EXPECT_EQ(exporter_.service.liveExports(), 0U);
    free(va);
}

TEST_P(DescriptorTest, FreeingRevokesAHandleMadeOfIt) {
    const uint64_t va = allocate();
    const auto handle = must(handleOf(must(descriptorAt(va))));
    free(va);
    EXPECT_EQ(exporter_.service.liveExports(), 0U);
    EXPECT_TRUE(failsWith(importer_.open(handle), Status::InvalidArgument));
}

// Cases 15 and 16.
TEST_P(DescriptorTest, ClosedByTheApplicationItIsReplaced) {
    const uint64_t va = allocate();
    const int closed = must(descriptorAt(va));
    const auto handle = must(exporter_.shareObject(va));
    const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::dup3(null.get(), closed, O_CLOEXEC), closed);
    const UniqueFd stranger(closed);

    const int fd = must(descriptorAt(va));

    EXPECT_NE(fd, closed);
    EXPECT_EQ(must(descriptorOf(handle)), fd);
    EXPECT_EQ(decoded(must(exporter_.shareObject(va))).fd, fd);
    EXPECT_EQ(must(handleOf(fd)), must(exporter_.shareObject(va)));
    EXPECT_TRUE(failsWith(handleOf(closed), Status::InvalidArgument)) << "/dev/null";
    free(va);
    EXPECT_TRUE(isOpen(stranger.get()));
}

TEST_P(DescriptorTest, OfWhatIsReadOnlyIsRefused) {
    const uint64_t va = map(object(), Access::ReadOnly);
    EXPECT_TRUE(failsWith(descriptorAt(va), Status::UnsupportedFeature, "would permit more"));
    EXPECT_TRUE(
        failsWith(descriptorOf(must(exporter_.shareObject(va))), Status::UnsupportedFeature));
    freeMapping(va);
}

TEST_P(DescriptorTest, OfOtherMemoryIsRefused) {
    const uint64_t va = allocate();
    const uint64_t view = must(importer_.open(must(exporter_.shareObject(va))));
    EXPECT_TRUE(failsWith(importer_.service.descriptorAt(*importer_.memory, view),
                          Status::UnsupportedFeature,
                          "no descriptor to give away"));
    EXPECT_TRUE(failsWith(descriptorAt(va + sizeBytes), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(descriptorAt(1), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(handleOf(-1), Status::InvalidArgument));
    importer_.close(view);
    free(va);
}

TEST_P(DescriptorTest, OfAnothersOrNoHandleIsRefused) {
    const uint64_t va = allocate();
    const auto handle = must(exporter_.shareObject(va));
    EXPECT_TRUE(failsWith(importer_.service.descriptorOf(*importer_.memory, handle),
                          Status::InvalidArgument));
    EXPECT_TRUE(failsWith(exporter_.service.descriptorOf(*importer_.memory, handle),
                          Status::InvalidArgument));
    EXPECT_TRUE(failsWith(descriptorOf(onlyDescriptor(0)), Status::InvalidArgument));
    const Range range = makeRange(exporter_, 2);
    EXPECT_TRUE(failsWith(descriptorOf(must(exporter_.share(range.va, range.sizeBytes))),
                          Status::UnsupportedFeature));
    freeRange(exporter_, range);
    free(va);
}

TEST_P(DescriptorTest, OfAnotherProcessIsSharedAsItsOwn) {
    const uint64_t va = allocate();
    const UniqueFd moved = std::move(linuxOs().duplicate(must(descriptorAt(va))).value());
    const auto handle = must(importer_.service.exportDescriptor(*importer_.memory, moved.get()));
    EXPECT_EQ(must(importer_.service.exportDescriptor(*importer_.memory, moved.get())), handle);
    const int fd = must(importer_.service.descriptorOf(*importer_.memory, handle));
    EXPECT_EQ(decoded(handle).fd, fd);
    EXPECT_EQ(must(importer_.service.exportDescriptor(*importer_.memory, fd)), handle);
    Peer third;
    expectOpens(third, handle, va);
    expectOpens(importer_, handle, va);
    expectOpens(exporter_, handle, va);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(importer_.service.liveExports(), 1U);
        importer_.put(handle);
    }
    EXPECT_EQ(importer_.service.liveExports(), 0U);
    EXPECT_FALSE(isOpen(fd));
    free(va);
}

TEST_P(DescriptorTest, ANewOneBelongsToTheApplication) {
    const auto memory = object();
    const uint64_t va = map(memory);
    bytesAt(va, 1)[0] = std::byte{0x33};
    const auto first = must(exporter_.service.newDescriptor(*exporter_.memory, memory));
    const auto second = must(exporter_.service.newDescriptor(*exporter_.memory, memory));
    EXPECT_NE(first.get(), second.get());
    EXPECT_NE(must(descriptorAt(va)), first.get());
    EXPECT_EQ(::fcntl(first.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    const auto handle = must(handleOf(second.get()));
    const uint64_t view = must(importer_.open(handle));
    EXPECT_EQ(bytesAt(view, 1)[0], std::byte{0x33});
    importer_.close(view);
    freeMapping(va);
}

TEST_P(DescriptorTest, BeyondTheTicketsOneIsMadeOnDemand) {
    exporter_.os.limit = 4; // one ticket
    const uint64_t first = allocate();
    const uint64_t second = allocate();
    const auto withOne = must(exporter_.shareObject(first));
    const auto without = must(exporter_.shareObject(second));
    EXPECT_GE(decoded(withOne).fd, 0);
    ASSERT_EQ(decoded(without).fd, -1);
    const int fd = must(descriptorOf(without));
    EXPECT_EQ(must(descriptorAt(second)), fd);
    EXPECT_EQ(decoded(must(exporter_.shareObject(second))).fd, fd);
    ::close(fd);
    const int again = decoded(must(exporter_.shareObject(second))).fd;
    EXPECT_TRUE(isOpen(again));
    free(first);
    free(second);
}

TEST_P(DescriptorTest, AskingThatFailsAtAnyCallLeavesNothing) {
    settle(0);
    const auto ask = [&]() -> Result<int> {
        auto va = exporter_.memory->allocate({.kind = memory::AllocationKind::Device,
                                              .device = &exporter_.device(),
                                              .sizeBytes = sizeBytes,
                                              .alignment = 0});
        if (!va) {
            return forward(va);
        }
        auto fd = descriptorAt(*va);
        exporter_.faults.heal();
        free(*va);
        return fd;
    };
    EXPECT_GE(sweep<int>(exporter_, ENOMEM, ask, [](int) {}), 5U);
}

TEST_P(DescriptorTest, MakingAHandleThatFailsAtAnyCallLeavesNothing) {
    const uint64_t va = allocate();
    const UniqueFd moved = std::move(linuxOs().duplicate(must(descriptorAt(va))).value());
    for (Peer *peer : {&exporter_, &importer_}) { // of its own object and of another's
        const auto make = [&] {
            return peer->service.exportDescriptor(*peer->memory, moved.get());
        };
        const auto compareAndPut = [&](const wire::HandleBytes &handle) {
            expectOpens(*peer, handle, va);
            peer->put(handle);
        };
        compareAndPut(must(make())); // the server runs
        settle(peer == &exporter_ ? 1 : 2);
        EXPECT_GE(sweep<wire::HandleBytes>(*peer, EMFILE, make, compareAndPut), 4U);
    }
    free(va);
}

} // namespace
} // namespace causeway::ipc
