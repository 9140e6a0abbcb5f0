#include "source/ipc/ipc_service.h"

#include "unit_tests/source/ipc/peer.h"
#include "unit_tests/source/ipc/scripted_peer.h"

#include <array>
#include <cerrno>
#include <thread>

namespace causeway::ipc {
namespace {

class IpcServiceTest : public fakes::ResourceCheckedTest {
  protected:
    /// Opens a handle at another peer, compares all bytes, and closes it.
    void expectOpens(const wire::HandleBytes &handle, const Range &range) {
        const uint64_t va = must(other_.open(handle));
        EXPECT_EQ(must(other_.memory->addressRange(va)).base, va);
        EXPECT_EQ(must(other_.memory->addressRange(va)).sizeBytes, range.sizeBytes);
        EXPECT_TRUE(sameBytes(va, range.va, range.sizeBytes));
        other_.close(va);
    }

    Peer peer_;
    Peer other_;
};

TEST_F(IpcServiceTest, AnotherProcessSeesAndChangesTheSameMemory) {
    const Range range = makeRange(peer_, 5);
    const wire::HandleBytes handle = must(peer_.share(range.va, range.sizeBytes));

    const uint64_t va = must(other_.open(handle));
    EXPECT_TRUE(sameBytes(va, range.va, range.sizeBytes));
    bytesAt(va, range.sizeBytes)[3 * devicePage + 5] = std::byte{0x99};
    EXPECT_EQ(bytesAt(range.va, range.sizeBytes)[3 * devicePage + 5], std::byte{0x99});

    other_.close(va);
}

TEST_F(IpcServiceTest, ACrookedWindowIsOpenedByteForByte) {
    const Range range = makeRange(peer_, 3);
    const uint64_t from = range.va + osPage + 77;
    const uint64_t size = 2 * devicePage - 1000;

    const uint64_t va = must(other_.open(must(peer_.share(from, size))));

    EXPECT_EQ(va % osPage, 77U);
    EXPECT_TRUE(sameBytes(va, from, size));
    EXPECT_EQ(must(other_.memory->addressRange(va + 5)).base, va);
    EXPECT_EQ(must(other_.memory->addressRange(va + 5)).sizeBytes, size);
    EXPECT_EQ(other_.memory->pointerInfo(va - 1).kind, memory::PointerKind::Unknown);
    EXPECT_EQ(other_.memory->pointerInfo(va + size).kind, memory::PointerKind::Unknown);
    other_.close(va);
}

TEST_F(IpcServiceTest, AccessTravelsWithThePieces) {
    const Range range = makeRange(peer_, 3);
    must(peer_.memory->setAccess(range.va + devicePage, devicePage, Access::ReadOnly));
    must(peer_.memory->setAccess(range.va + 2 * devicePage, devicePage, Access::None));

    const uint64_t va = must(other_.open(must(peer_.share(range.va, range.sizeBytes))));

    EXPECT_EQ(must(other_.memory->access(va, osPage)).access, Access::ReadWrite);
    EXPECT_EQ(must(other_.memory->access(va + devicePage, osPage)).access, Access::ReadOnly);
    EXPECT_EQ(must(other_.memory->access(va + 2 * devicePage, osPage)).access, Access::None);
    EXPECT_TRUE(failsWith(other_.memory->setAccess(va + devicePage, devicePage, Access::ReadWrite),
                          Status::InvalidArgument));
    other_.close(va);
}

TEST_F(IpcServiceTest, TheSameProcessOpensWithoutADescriptor) {
    const Range range = makeRange(peer_, 3);
    const wire::HandleBytes handle = must(peer_.share(range.va, range.sizeBytes));
    peer_.faults.failKind(fakes::OsCall::ConnectAbstract, EACCES);

    const uint64_t va = must(peer_.open(handle));

    EXPECT_NE(va, range.va);
    EXPECT_TRUE(sameBytes(va, range.va, range.sizeBytes));
    peer_.close(va);
}

TEST_F(IpcServiceTest, AnotherSizeIsRefusedInTheSameProcessAsElsewhere) {
    const Range range = makeRange(peer_, 3);
    const wire::HandleBytes handle = must(peer_.share(range.va, range.sizeBytes));
    auto forged = std::get<wire::IpcHandle>(must(wire::decodeHandle(handle)));
    forged.sizeBytes -= devicePage;

    for (Peer *peer : {&peer_, &other_}) {
        EXPECT_TRUE(failsWith(peer->open(wire::encodeHandle(forged)), Status::InvalidArgument));
    }
}

TEST_F(IpcServiceTest, OpenTwiceIsTwoViews) {
    const Range range = makeRange(peer_, 2);
    const wire::HandleBytes handle = must(peer_.share(range.va, range.sizeBytes));

    const uint64_t first = must(other_.open(handle));
    const uint64_t second = must(other_.open(handle));
    EXPECT_NE(first, second);
    other_.close(first);
    EXPECT_TRUE(sameBytes(second, range.va, range.sizeBytes));
    other_.close(second);
    EXPECT_TRUE(failsWith(other_.memory->closeImport(second), Status::InvalidArgument));
}

TEST_F(IpcServiceTest, BanksAreSharedLikeFiles) {
    Peer banked(bankedConfig());
    const Range range = makeRange(banked, 8);
    const wire::HandleBytes handle = must(banked.share(range.va, range.sizeBytes));

    expectOpens(handle, range);
}

TEST_F(IpcServiceTest, TheTicketAloneIsEnough) {
    const Range range = makeRange(peer_, 2);
    const int ticket = decoded(must(peer_.share(range.va, range.sizeBytes))).fd;
    const UniqueFd moved = std::move(linuxOs().duplicate(ticket).value());

    expectOpens(onlyDescriptor(moved.get()), range);

    const uint64_t va = must(peer_.open(onlyDescriptor(moved.get())));
    EXPECT_TRUE(sameBytes(va, range.va, range.sizeBytes));
    peer_.close(va);
}

TEST_F(IpcServiceTest, GarbageBehindTheTicketDoesNotMatter) {
    const Range range = makeRange(peer_, 1);
    wire::HandleBytes handle = must(peer_.share(range.va, range.sizeBytes));
    for (size_t i = 4; i < handle.size(); ++i) {
        handle[i] = static_cast<std::byte>(i * 37);
    }

    expectOpens(handle, range);
}

TEST_F(IpcServiceTest, WhatAClientPutsIntoTheFirstBytesDoesNotMatter) {
    const Range range = makeRange(peer_, 1);
    wire::HandleBytes handle = must(peer_.share(range.va, range.sizeBytes));
    for (size_t i = 0; i < 8; ++i) {
        handle[i] = std::byte{0xEE};
    }

    expectOpens(handle, range);
}

TEST_F(IpcServiceTest, ADescriptorThatIsNoTicketIsRefused) {
    const UniqueFd file = objectFile(64);

    EXPECT_TRUE(failsWith(other_.open(onlyDescriptor(file.get())), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(other_.open(onlyDescriptor(-1)), Status::InvalidArgument));
}

TEST_F(IpcServiceTest, ADamagedHandleIsRefused) {
    const Range range = makeRange(peer_, 1);
    const wire::HandleBytes handle = must(peer_.share(range.va, range.sizeBytes));
    for (const size_t byte : {8U, 13U, 20U, 30U, 45U, 50U, 57U, 63U}) {
        wire::HandleBytes damaged = handle;
        damaged[byte] ^= std::byte{0x10};
        EXPECT_TRUE(failsWith(other_.open(damaged), Status::InvalidArgument, "damaged")) << byte;
    }
    wire::HandleBytes later = handle;
    later[12] = std::byte{2};
    EXPECT_TRUE(failsWith(other_.open(later), Status::UnsupportedVersion, "version"));
}

TEST_F(IpcServiceTest, AForgedTokenIsRefused) {
    const Range range = makeRange(peer_, 1);
    wire::IpcHandle handle = decoded(must(peer_.share(range.va, range.sizeBytes)));
    handle.token[0] ^= 1;

    EXPECT_TRUE(failsWith(
        other_.open(wire::encodeHandle(handle)), Status::InvalidArgument, "no longer shares"));
    EXPECT_TRUE(failsWith(
        peer_.open(wire::encodeHandle(handle)), Status::InvalidArgument, "no longer shares"));
}

TEST_F(IpcServiceTest, AForgedSizeIsRefused) {
    const Range range = makeRange(peer_, 1);
    wire::IpcHandle handle = decoded(must(peer_.share(range.va, range.sizeBytes)));
    handle.sizeBytes += 1;

    EXPECT_TRUE(
        failsWith(other_.open(wire::encodeHandle(handle)), Status::InvalidArgument, "says"));
}

TEST_F(IpcServiceTest, TheSameLayoutGivesTheSameHandleCounted) {
    const Range range = makeRange(peer_, 2);
    const wire::HandleBytes first = must(peer_.share(range.va, range.sizeBytes));
    EXPECT_EQ(must(peer_.share(range.va, range.sizeBytes)), first);
    EXPECT_NE(must(peer_.share(range.va, devicePage)), first);
    EXPECT_EQ(peer_.service.liveExports(), 2U);

    peer_.put(first);
    expectOpens(first, range);
    peer_.put(first);
    EXPECT_TRUE(failsWith(other_.open(first), Status::InvalidArgument, "no longer shares"));
    peer_.put(first);
    EXPECT_EQ(peer_.service.liveExports(), 1U);
}

TEST_F(IpcServiceTest, AChangedLayoutGivesAnotherHandleAndTheOldOneStays) {
    const Range range = makeRange(peer_, 2);
    const wire::HandleBytes before = must(peer_.share(range.va, range.sizeBytes));
    const auto replacement =
        must(peer_.memory->createPhysical(peer_.device(), Placement::Device, devicePage));
    must(peer_.memory->unmap(range.va, devicePage));
    must(peer_.memory->map(range.va, devicePage, replacement, 0, Access::ReadWrite));

    const wire::HandleBytes after = must(peer_.share(range.va, range.sizeBytes));

    EXPECT_NE(before, after);
    expectOpens(after, range);
    const uint64_t va = must(other_.open(before));
    EXPECT_FALSE(sameBytes(va, range.va, devicePage));
    EXPECT_TRUE(sameBytes(va + devicePage, range.va + devicePage, devicePage));
    other_.close(va);
}

TEST_F(IpcServiceTest, AnAccessThatWasChangedAndRestoredIsTheSameLayout) {
    const Range range = makeRange(peer_, 1);
    const wire::HandleBytes before = must(peer_.share(range.va, range.sizeBytes));
    must(peer_.memory->setAccess(range.va, range.sizeBytes, Access::ReadOnly));
    must(peer_.memory->setAccess(range.va, range.sizeBytes, Access::ReadWrite));

    EXPECT_EQ(must(peer_.share(range.va, range.sizeBytes)), before);
}

TEST_F(IpcServiceTest, AnotherContextsOrProcesssPutHasNoEffect) {
    const Range range = makeRange(peer_, 1);
    const wire::HandleBytes handle = must(peer_.share(range.va, range.sizeBytes));
    const auto otherContext = must(memory::MemoryManager::create(peer_.backend, osPage));

    peer_.service.put(*otherContext, handle);
    other_.put(handle);
    peer_.put(wire::HandleBytes{});
    wire::HandleBytes damaged = handle;
    damaged[30] ^= std::byte{1};
    peer_.put(damaged);

    expectOpens(handle, range);
}

TEST_F(IpcServiceTest, AContextsEndRevokesItsExportsOnly) {
    const Range range = makeRange(peer_, 1);
    const wire::HandleBytes kept = must(peer_.share(range.va, range.sizeBytes));
    auto context = must(memory::MemoryManager::create(peer_.backend, osPage));
    const uint64_t va = must(context->reserve(0, devicePage));
    must(context->map(va,
                      devicePage,
                      must(context->createPhysical(peer_.device(), Placement::Device, devicePage)),
                      0,
                      Access::ReadWrite));
    const wire::HandleBytes revoked = must(peer_.service.exportRange(*context, va, devicePage, 0));

    peer_.service.dropOwner(*context);
    context.reset();

    EXPECT_TRUE(failsWith(other_.open(revoked), Status::InvalidArgument));
    expectOpens(kept, range);
}

TEST_F(IpcServiceTest, AnOpenedViewOutlivesTheExportAndTheObjects) {
    const Range range = makeRange(peer_, 2);
    const std::vector<std::byte> bytes(bytesAt(range.va, range.sizeBytes).begin(),
                                       bytesAt(range.va, range.sizeBytes).end());
    const wire::HandleBytes handle = must(peer_.share(range.va, range.sizeBytes));
    const uint64_t va = must(other_.open(handle));

    peer_.put(handle);
    freeRange(peer_, range);

    EXPECT_TRUE(std::ranges::equal(bytesAt(va, bytes.size()), bytes));
    other_.close(va);
}

TEST_F(IpcServiceTest, AnExportKeepsWhatWasUnmappedSince) {
    const Range range = makeRange(peer_, 2);
    const std::vector<std::byte> bytes(bytesAt(range.va, range.sizeBytes).begin(),
                                       bytesAt(range.va, range.sizeBytes).end());
    const wire::HandleBytes handle = must(peer_.share(range.va, range.sizeBytes));
    freeRange(peer_, range);

    const uint64_t va = must(other_.open(handle));

    EXPECT_TRUE(std::ranges::equal(bytesAt(va, bytes.size()), bytes));
    other_.close(va);
}

TEST_F(IpcServiceTest, AnExporterThatIsGoneIsAnErrorAtOnce) {
    std::optional<Peer> exporter;
    exporter.emplace();
    const Range range = makeRange(*exporter, 1);
    const wire::HandleBytes handle = must(exporter->share(range.va, range.sizeBytes));
    exporter.reset();

    EXPECT_TRUE(failsWith(other_.open(handle), Status::InvalidArgument, "exited"));
}

TEST_F(IpcServiceTest, WhatCannotBeSharedStartsNoServer) {
    const Range range = makeRange(peer_, 1);

    EXPECT_TRUE(failsWith(peer_.share(0, 1), Status::InvalidNullPointer));
    EXPECT_TRUE(failsWith(peer_.share(range.va, 0), Status::InvalidSize));
    EXPECT_TRUE(failsWith(peer_.share(range.va, devicePage + 1), Status::AddressNotFound));
    EXPECT_EQ(peer_.faults.calls(fakes::OsCall::StartThread), 0U);
    EXPECT_EQ(peer_.service.liveExports(), 0U);
}

TEST_F(IpcServiceTest, ASilentExporterIsNotAvailableAfterTheTimeout) {
    Peer impatient({}, withTimeout(shortTimeout));
    const ScriptedPeer exporter([](ScriptedTalk &talk) { talk.staySilent(); });

    EXPECT_TRUE(failsWith(
        impatient.open(wire::encodeHandle(exporter.handle(1))), Status::NotAvailable, "in time"));
}

TEST_F(IpcServiceTest, ADeviceOfAnotherIndexReachesTheMemory) {
    Peer importer({.deviceCount = 2});
    const Range range = makeRange(peer_, 1);
    const kmd::Device &second = *importer.backend.devices()[1];

    const uint64_t va = must(importer.service.open(
        *importer.memory, second, must(peer_.share(range.va, range.sizeBytes))));

    EXPECT_EQ(importer.memory->pointerInfo(va).device, &second);
    importer.close(va);
}

TEST_F(IpcServiceTest, ThreadsShareAndOpenTheSameRangeAtOnce) {
    const Range range = makeRange(peer_, 3);
    constexpr int rounds = 8;
    std::vector<std::thread> threads;
    for (Peer *opener : {&peer_, &other_, &other_}) {
        threads.emplace_back([&, opener] {
            for (int i = 0; i < rounds; ++i) {
                const wire::HandleBytes handle = must(peer_.share(range.va, range.sizeBytes));
                const uint64_t va = must(opener->open(handle));
                EXPECT_TRUE(sameBytes(va, range.va, range.sizeBytes));
                opener->close(va);
                peer_.put(handle);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(peer_.service.liveExports(), 0U);
}

} // namespace
} // namespace causeway::ipc
