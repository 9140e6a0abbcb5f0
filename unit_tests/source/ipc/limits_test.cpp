#include "unit_tests/source/ipc/peer.h"

#include <sys/resource.h>

#include <array>
#include <cerrno>

namespace causeway::ipc {
namespace {

/// A peer in a process with so few descriptors that little fits at once. The limit is that of the
/// process; the batches, tickets and files of its own follow it.
class LimitsTest : public fakes::ResourceCheckedTest {
  protected:
    void SetUp() override {
        ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
        rlimit lower = before_;
        lower.rlim_cur = limit;
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &lower), 0);
    }

    void TearDown() override { ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

    static constexpr rlim_t limit = 64;

  private:
    rlimit before_ = {};
};

TEST_F(LimitsTest, ARangeOfManyObjectsNeedsFewDescriptors) {
    Peer exporter;
    Peer importer;
    constexpr uint64_t objects = 300;
    const Range range = makeRange(exporter, objects);

    const uint64_t va = must(importer.open(must(exporter.share(range.va, range.sizeBytes))));

    EXPECT_TRUE(sameBytes(va, range.va, range.sizeBytes));
    importer.close(va);
}

TEST_F(LimitsTest, TicketsTakeAQuarterOfTheDescriptors) {
    Peer exporter(bankedConfig());
    Peer importer;
    const Range range = makeRange(exporter, 20);
    std::vector<wire::HandleBytes> handles;
    for (uint64_t i = 0; i < 20; ++i) {
        handles.push_back(must(exporter.share(range.va + i * devicePage, devicePage)));
    }

    for (uint64_t i = 0; i < 20; ++i) {
        EXPECT_EQ(decoded(handles[i]).fd >= 0, i < limit / 4) << i;
        const uint64_t va = must(importer.open(handles[i]));
        EXPECT_TRUE(sameBytes(va, range.va + i * devicePage, devicePage));
        importer.close(va);
    }
}

/// A range with a table above 64 KiB: one page of one object again and again.
class LongTableTest : public fakes::ResourceCheckedTest {};

TEST_F(LongTableTest, TravelsInAFile) {
    Peer exporter;
    Peer importer;
    constexpr uint64_t pieces = 3000;
    const auto object =
        must(exporter.memory->createPhysical(exporter.device(), Placement::Host, osPage));
    const uint64_t va = must(exporter.memory->reserve(0, pieces * osPage));
    for (uint64_t i = 0; i < pieces; ++i) {
        const Access access = i % 2 == 0 ? Access::ReadWrite : Access::ReadOnly;
        must(exporter.memory->map(va + i * osPage, osPage, object, 0, access));
    }
    bytesAt(va, 1)[0] = std::byte{1};

    const uint64_t imported = must(importer.open(must(exporter.share(va, pieces * osPage))));

    EXPECT_EQ(exporter.faults.calls(fakes::OsCall::MemfdCreate), 3U) << "object, ticket and table";
    EXPECT_TRUE(sameBytes(imported, va, pieces * osPage));
    EXPECT_EQ(must(importer.memory->snapshot(imported, pieces * osPage)).pieces.size(), pieces);
    importer.close(imported);
}

TEST_F(LongTableTest, ThatCannotBeSentIsTheExportersShortage) {
    Peer exporter;
    Peer importer;
    constexpr uint64_t pieces = 3000;
    const auto object =
        must(exporter.memory->createPhysical(exporter.device(), Placement::Host, osPage));
    const uint64_t va = must(exporter.memory->reserve(0, pieces * osPage));
    for (uint64_t i = 0; i < pieces; ++i) {
        must(exporter.memory->map(va + i * osPage, osPage, object, 0, Access::ReadWrite));
    }
    const wire::HandleBytes handle = must(exporter.share(va, pieces * osPage));
    exporter.faults.failKind(fakes::OsCall::MemfdCreate, EMFILE);

    EXPECT_TRUE(failsWith(importer.open(handle), Status::OutOfHostMemory, "no descriptor left"));

    exporter.faults.heal();
    importer.close(must(importer.open(handle)));
}

} // namespace
} // namespace causeway::ipc
