#include "unit_tests/source/ipc/rollback_fixture.h"

namespace causeway::ipc {
namespace {

class ImportRollbackTest : public RollbackFixture {
  protected:
    /// Opens the range at `opener`, failing each of its calls with each of the errors.
    void sweepOpens(Peer &opener, const wire::HandleBytes &handle) {
        const auto open = [&] { return opener.open(handle); };
        const auto compareAndClose = [&](uint64_t va) {
            EXPECT_TRUE(sameBytes(va, range_.va, range_.sizeBytes));
            opener.close(va);
        };
        compareAndClose(must(open()));
        settle(1);
        for (const int error : {EMFILE, ENOMEM}) {
            EXPECT_GE(sweep<uint64_t>(opener, error, open, compareAndClose), 2U);
        }
        EXPECT_EQ(exporter_.service.liveExports(), 1U);
    }

    [[nodiscard]] wire::HandleBytes share() {
        return must(exporter_.share(range_.va, range_.sizeBytes));
    }

    Peer exporter_{configOf(GetParam())};
    Peer importer_;
    const Range range_ = makeRange(exporter_, objects);
};

INSTANTIATE_TEST_SUITE_P(Placings,
                         ImportRollbackTest,
                         testing::Values(Placing::OwnFiles, Placing::Banks),
                         nameOf);

TEST_P(ImportRollbackTest, AnOpenThatFailsAtAnyCallLeavesNothing) {
    sweepOpens(importer_, share());
}

TEST_P(ImportRollbackTest, AnOpenInTheSameProcessThatFailsAtAnyCallLeavesNothing) {
    sweepOpens(exporter_, share());
}

TEST_P(ImportRollbackTest, AnOpenByTicketThatFailsAtAnyCallLeavesNothing) {
    sweepOpens(importer_, onlyDescriptor(decoded(share()).fd));
}

TEST_P(ImportRollbackTest, AnOpenInManyBatchesThatFailsAtAnyCallLeavesNothing) {
    exporter_.os.limit = 24; // batches of 3
    importer_.os.limit = 24;

    sweepOpens(importer_, share());
}

TEST_P(ImportRollbackTest, SharingAnImportedRangeAnewThatFailsAtAnyCallLeavesNothing) {
    Peer third;
    const uint64_t imported = must(importer_.open(share()));
    const auto shareAnew = [&] {
        auto handle = importer_.share(imported, range_.sizeBytes);
        EXPECT_EQ(importer_.service.liveExports(), handle ? 1U : 0U);
        return handle;
    };
    const auto openAndPut = [&](const wire::HandleBytes &handle) {
        const uint64_t va = must(third.open(handle));
        EXPECT_TRUE(sameBytes(va, range_.va, range_.sizeBytes));
        third.close(va);
        importer_.put(handle);
    };
    openAndPut(must(shareAnew()));
    settle(2);

    const uint64_t calls = sweep<wire::HandleBytes>(importer_, EMFILE, shareAnew, openAndPut);

    EXPECT_GE(calls, 10U);
    importer_.close(imported);
}

} // namespace
} // namespace causeway::ipc
