#include "unit_tests/source/ipc/rollback_fixture.h"

namespace causeway::ipc {
namespace {

class ExportRollbackTest : public RollbackFixture {
  protected:
    void expectOpens(const wire::HandleBytes &handle, const Range &range) {
        const auto va = importer_.open(handle);
        ASSERT_TRUE(succeeds(va));
        EXPECT_TRUE(sameBytes(*va, range.va, range.sizeBytes));
        importer_.close(*va);
    }

    Peer exporter_{configOf(GetParam())};
    Peer importer_;
};

INSTANTIATE_TEST_SUITE_P(Placings,
                         ExportRollbackTest,
                         testing::Values(Placing::OwnFiles, Placing::Banks),
                         nameOf);

TEST_P(ExportRollbackTest, AnExportThatFailsAtAnyCallLeavesNothing) {
    const Range range = makeRange(exporter_, objects);
    const auto share = [&] {
        auto handle = exporter_.share(range.va, range.sizeBytes);
        EXPECT_EQ(exporter_.service.liveExports(), handle ? 1U : 0U);
        return handle;
    };
    const auto openAndPut = [&](const wire::HandleBytes &handle) {
        expectOpens(handle, range);
        exporter_.put(handle);
        EXPECT_EQ(exporter_.service.liveExports(), 0U);
    };
    openAndPut(must(share())); // starts the server, which stays
    settle(1);

    const uint64_t calls = sweep<wire::HandleBytes>(exporter_, EMFILE, share, openAndPut);

    EXPECT_GE(calls, 6U) << "getrandom and the ticket's calls";
}

TEST_P(ExportRollbackTest, AFirstExportThatFailsAtAnyCallStartsTheServerTheNextTime) {
    constexpr uint64_t callsOfStart = 7; // the last starts the thread
    bool reached = true;
    uint64_t failures = 0;
    for (uint64_t k = 1; reached; ++k) {
        Peer exporter(configOf(GetParam()));
        const Range range = makeRange(exporter, objects);
        settle(0);
        exporter.faults.failAt(k, ENOMEM);
        auto handle = exporter.share(range.va, range.sizeBytes);
        exporter.faults.heal();
        reached = exporter.faults.faults() > 0;
        if (!handle) {
            ++failures;
            EXPECT_TRUE(reached && !handle.error().message.empty());
            EXPECT_EQ(exporter.service.liveExports(), 0U);
            EXPECT_TRUE(k > callsOfStart || changes().empty()) << k;
            handle = exporter.share(range.va, range.sizeBytes);
        }
        ASSERT_TRUE(succeeds(handle)) << k;
        expectOpens(*handle, range);
    }
    EXPECT_GE(failures, callsOfStart);
}

TEST_P(ExportRollbackTest, AnExporterWhoseCallsFailWhileItIsOpenedFromRecovers) {
    const Range range = makeRange(exporter_, objects);
    const wire::HandleBytes handle = must(exporter_.share(range.va, range.sizeBytes));
    expectOpens(handle, range);
    settle(1);

    const uint64_t calls = sweep<uint64_t>(
        exporter_,
        EMFILE,
        [&] { return importer_.open(handle); },
        [&](uint64_t va) {
            EXPECT_TRUE(sameBytes(va, range.va, range.sizeBytes));
            importer_.close(va);
        });

    EXPECT_GE(calls, 6U) << "wait, accept, credentials, epoll_ctl, receive, send";
    EXPECT_EQ(exporter_.service.liveExports(), 1U);
}

} // namespace
} // namespace causeway::ipc
