#include "source/ipc/exporter.h"

#include "shared/wire/range_table.h"
#include "source/ipc/ticket.h"
#include "unit_tests/source/ipc/peer.h"

#include <cerrno>

namespace causeway::ipc {
namespace {

using memory::PhysicalMemoryRef;

class ExporterTest : public fakes::ResourceCheckedTest {
  protected:
    [[nodiscard]] Result<std::shared_ptr<Export>> build(uint64_t va, uint64_t sizeBytes) {
        return buildExport(peer_.os,
                           {.serverId = 0xABCD, .pid = 42},
                           {.owner = this, .address = va, .windowBytes = sizeBytes, .flags = 0},
                           must(peer_.memory->snapshot(va, sizeBytes)),
                           withTicket_);
    }

    [[nodiscard]] wire::RangeTable tableOf(const Export &made) {
        return must(wire::decodeTable(made.table));
    }

    [[nodiscard]] PhysicalMemoryRef object(uint64_t pages,
                                           Placement placement = Placement::Device) {
        return must(peer_.memory->createPhysical(peer_.device(), placement, pages * devicePage));
    }

    /// Maps `pages` pages of an object from `fromPage` on at va + page * devicePage.
    void map(uint64_t va,
             uint64_t page,
             const PhysicalMemoryRef &memory,
             uint64_t pages,
             uint64_t fromPage = 0,
             Access access = Access::ReadWrite) {
        must(peer_.memory->map(
            va + page * devicePage, pages * devicePage, memory, fromPage * devicePage, access));
    }

    [[nodiscard]] uint64_t reserve(uint64_t pages) {
        return must(peer_.memory->reserve(0, pages * devicePage));
    }

    Peer peer_;
    bool withTicket_ = true;
};

class BankExporterTest : public ExporterTest {
  protected:
    Peer banked_{bankedConfig()};
};

TEST_F(ExporterTest, DistinctFilesAreListedOnceInTheOrderOfTheWindow) {
    const uint64_t va = reserve(4);
    const auto first = object(2);
    const auto second = object(1, Placement::Host);
    map(va, 0, first, 1, 1);
    map(va, 1, second, 1);
    map(va, 2, first, 2);

    const auto made = must(build(va, 4 * devicePage));

    const wire::RangeTable table = tableOf(*made);
    ASSERT_EQ(table.objects.size(), 2U);
    EXPECT_EQ(table.objects[0].sizeBytes, 2 * devicePage);
    EXPECT_EQ(table.objects[0].placement, Placement::Device);
    EXPECT_EQ(table.objects[0].device, peer_.device().properties().uuid);
    EXPECT_EQ(table.objects[1].placement, Placement::Host);
    ASSERT_EQ(table.pieces.size(), 3U);
    EXPECT_EQ(table.pieces[0].object, 0U);
    EXPECT_EQ(table.pieces[0].offset, devicePage);
    EXPECT_EQ(table.pieces[1].object, 1U);
    EXPECT_EQ(table.pieces[2].object, 0U);
    EXPECT_EQ(table.pieces[2].sizeBytes, 2 * devicePage);
    ASSERT_EQ(made->objects.size(), 2U);
    EXPECT_EQ(made->objects[0].backing, first->backing());
    EXPECT_EQ(made->objects[0].extents,
              (std::vector<kmd::Extent>{{devicePage, devicePage}, {0, 2 * devicePage}}));
}

TEST_F(ExporterTest, PiecesThatContinueEachOtherAreMerged) {
    const uint64_t va = reserve(4);
    const auto memory = object(4);
    map(va, 0, memory, 1, 0);
    map(va, 1, memory, 2, 1);
    map(va, 3, memory, 1, 3);

    const auto made = must(build(va, 4 * devicePage));

    EXPECT_EQ(tableOf(*made).pieces.size(), 1U);
    EXPECT_EQ(made->objects[0].extents, (std::vector<kmd::Extent>{{0, 4 * devicePage}}));
}

TEST_F(ExporterTest, PiecesOfOtherAccessOrOrderAreNotMerged) {
    const uint64_t va = reserve(4);
    const auto memory = object(4);
    map(va, 0, memory, 1, 0);
    map(va, 1, memory, 1, 1, Access::ReadOnly);
    map(va, 2, memory, 1, 3);
    map(va, 3, memory, 1, 2);

    const wire::RangeTable table = tableOf(*must(build(va, 4 * devicePage)));

    EXPECT_EQ(table.objects.size(), 1U);
    ASSERT_EQ(table.pieces.size(), 4U);
    EXPECT_EQ(table.pieces[1].access, Access::ReadOnly);
}

TEST_F(ExporterTest, ALeadAndACrookedSizeAreKept) {
    const Range range = makeRange(peer_, 2);

    const wire::RangeTable table = tableOf(*must(build(range.va + osPage + 7, devicePage)));

    EXPECT_EQ(table.windowBytes, devicePage);
    EXPECT_EQ(table.leadBytes, 7U);
    ASSERT_EQ(table.pieces.size(), 2U);
    EXPECT_EQ(table.pieces[0].offset, osPage);
    EXPECT_EQ(table.pieces[0].sizeBytes, devicePage - osPage);
    EXPECT_EQ(table.pieces[1].sizeBytes, 2 * osPage);
}

TEST_F(ExporterTest, TheHandleSaysWhatOpeningNeeds) {
    const Range range = makeRange(peer_, 1);

    const auto made = must(build(range.va, devicePage));

    const wire::IpcHandle handle = decoded(made->handle->bytes());
    EXPECT_EQ(handle.kind, wire::HandleKind::Range);
    EXPECT_EQ(handle.serverId, 0xABCDU);
    EXPECT_EQ(handle.pid, 42);
    EXPECT_EQ(handle.sizeBytes, devicePage);
    EXPECT_EQ(handle.token, made->token);
    EXPECT_EQ(handle.rendezvousFd, -1);
    wire::IpcHandle ofTicket = must(readTicket(peer_.os, handle.fd));
    EXPECT_EQ(ofTicket.fd, -1);
    ofTicket.fd = handle.fd;
    EXPECT_EQ(ofTicket, handle);
}

TEST_F(ExporterTest, TokensDiffer) {
    const Range range = makeRange(peer_, 1);

    EXPECT_NE(must(build(range.va, devicePage))->token, must(build(range.va, devicePage))->token);
}

TEST_F(ExporterTest, HoldsNoDescriptorButTheTicket) {
    const Range range = makeRange(peer_, 8);
    const auto before = fakes::ResourceSnapshot::take();

    const auto made = must(build(range.va, range.sizeBytes));

    const auto after = fakes::ResourceSnapshot::take();
    EXPECT_EQ(after.descriptors.size(), before.descriptors.size() + 1);
    EXPECT_TRUE(after.descriptors.contains(decoded(made->handle->bytes()).fd));
}

TEST_F(ExporterTest, WithoutATicketItStillHasAToken) {
    const Range range = makeRange(peer_, 1);
    withTicket_ = false;
    const auto before = fakes::ResourceSnapshot::take();

    const wire::IpcHandle handle = decoded(must(build(range.va, devicePage))->handle->bytes());

    EXPECT_EQ(handle.fd, -1);
    EXPECT_EQ(handle.fdIdentity, 0U);
    EXPECT_EQ(difference(before, fakes::ResourceSnapshot::take()), "");
}

TEST_F(ExporterTest, ATicketThatCannotBeMadeIsNoError) {
    const Range range = makeRange(peer_, 1);
    for (const auto call : {fakes::OsCall::MemfdCreate,
                            fakes::OsCall::FileInfo,
                            fakes::OsCall::WriteAt,
                            fakes::OsCall::AddSeals}) {
        const auto k = static_cast<int>(call);
        peer_.faults.heal();
        peer_.faults.failKind(call, EMFILE);
        const wire::IpcHandle handle = decoded(must(build(range.va, devicePage))->handle->bytes());
        EXPECT_EQ(handle.fd, -1) << k;
        EXPECT_EQ(handle.fdIdentity, 0U) << k;
    }
}

TEST_F(ExporterTest, NoRandomTokenNoExport) {
    const Range range = makeRange(peer_, 1);
    peer_.faults.failAt(1, ENOSYS);

    EXPECT_TRUE(failsWith(build(range.va, devicePage), Status::UnsupportedFeature, "getrandom"));
}

TEST_F(ExporterTest, KeepsTheObjectsAlive) {
    const Range range = makeRange(peer_, 2);
    auto made = must(build(range.va, range.sizeBytes));
    const uint64_t free = peer_.device().freeBytes();

    freeRange(peer_, range);
    EXPECT_EQ(peer_.device().freeBytes(), free);

    made.reset();
    EXPECT_EQ(peer_.device().freeBytes(), free + range.sizeBytes);
}

TEST_F(BankExporterTest, ObjectsOfOneBankAreOneFileAndMerge) {
    const Range range = makeRange(banked_, 8);

    const auto made = must(buildExport(banked_.os,
                                       {},
                                       {.windowBytes = range.sizeBytes},
                                       must(banked_.memory->snapshot(range.va, range.sizeBytes)),
                                       false));

    const wire::RangeTable table = tableOf(*made);
    ASSERT_EQ(table.objects.size(), 1U);
    EXPECT_GT(table.objects[0].sizeBytes, range.sizeBytes);
    uint64_t mapped = 0;
    for (const kmd::Extent &extent : made->objects[0].extents) {
        mapped += extent.sizeBytes;
    }
    EXPECT_EQ(mapped, range.sizeBytes);
    EXPECT_EQ(table.mappedBytes(), range.sizeBytes);
    EXPECT_LT(table.pieces.size(), 8U) << "slots were taken in order, so neighbours merge";
}

TEST_F(BankExporterTest, PiecesLieAtTheirObjectsPlaceInTheBank) {
    const Range range = makeRange(banked_, 3);
    const auto snapshot = must(banked_.memory->snapshot(range.va + devicePage, devicePage));

    const auto made =
        must(buildExport(banked_.os, {}, {.windowBytes = devicePage}, snapshot, false));

    EXPECT_EQ(tableOf(*made).pieces[0].offset, snapshot.pieces[0].object->backingOffset());
}

} // namespace
} // namespace causeway::ipc
