#include "unit_tests/black_box/ipc_fixture.h"

#include <unistd.h>

#include <algorithm>

namespace causeway::black_box {

namespace {

constexpr auto invalid = ZE_RESULT_ERROR_INVALID_ARGUMENT;

/// How long handles, exports and views live (ipc.md, "Counting" and "Lifetime").
class RangeLifetimeTest : public IpcTest {
  protected:
    static void expectGone(Peer &peer, const ze_ipc_mem_handle_t &handle) {
        const Deadline quick(std::chrono::seconds(5));
        const auto reply = peer.tryOpen(handle);
        EXPECT_EQ(reply.result, invalid);
        EXPECT_STRNE(reply.text.data(), "");
        EXPECT_FALSE(quick.isOver()) << "a dead export is known at once";
    }
};

/// Objects that a peer makes; their numbers are the tests' to choose.
constexpr uint64_t theirs = 1'000'000;

} // namespace

TEST_F(RangeLifetimeTest, FieldCase48_FieldCase53_HandleOpenedTwiceGivesTwoCoherentViews) {
    const Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    Peer peer;
    const uint64_t first = peer.open(handle);
    const uint64_t second = peer.open(handle);
    EXPECT_NE(first, second);
    peer.setWord(first + chunk, 8);
    EXPECT_EQ(peer.word(second + chunk), 8U);
    EXPECT_EQ(peer.close(first), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer.word(second + chunk), 8U);
    EXPECT_EQ(peer.close(first), invalid);
    EXPECT_EQ(peer.word(second + chunk), 8U);
    EXPECT_EQ(peer.close(second), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer.close(second), invalid);
}

TEST_F(RangeLifetimeTest, FieldCase75_PutThenOpenFailsCleanly) {
    const Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    Peer peer;
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    expectGone(peer, handle);
}

TEST_F(RangeLifetimeTest, FieldCase75_PutLeavesOpenViewsAlone) {
    const Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    Peer peer;
    const uint64_t base = peer.open(handle);
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer.checksum(base, range.size()), range.checksum());
    expectGone(peer, handle);
}

TEST_F(RangeLifetimeTest, FieldCase16_TwoGetsNeedTwoPuts) {
    const Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    ASSERT_TRUE(equalBytes(handle, range.exportWhole()));
    Peer peer;
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer.close(peer.open(handle)), ZE_RESULT_SUCCESS);
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    expectGone(peer, handle);
}

TEST_F(RangeLifetimeTest, FieldCase48_PutOnceTooOftenIsSuccess) {
    const Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    const auto again = range.exportWhole();
    EXPECT_FALSE(equalBytes(handle, again)) << "a dead token does not come back";
    Peer peer;
    EXPECT_EQ(peer.checksum(peer.open(again), range.size()), range.checksum());
}

TEST_F(RangeLifetimeTest, PutOfAnUnknownHandleIsSuccess) {
    EXPECT_EQ(putIpcHandle(context(), {}), ZE_RESULT_SUCCESS);
    EXPECT_EQ(putIpcHandle(context(), withGarbage({}, 0, 64, 1)), ZE_RESULT_SUCCESS);
}

TEST_F(RangeLifetimeTest, FieldCase75_PutWithAnotherContextHasNoEffect) {
    const Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    const Context other;
    EXPECT_EQ(putIpcHandle(other.get(), handle), ZE_RESULT_SUCCESS);
    Peer peer;
    EXPECT_EQ(peer.checksum(peer.open(handle), range.size()), range.checksum());
}

TEST_F(RangeLifetimeTest, FieldCase75_PutInTheImporterHasNoEffect) {
    const Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    Peer peer;
    const uint64_t base = peer.open(handle);
    EXPECT_EQ(peer.put(handle), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer.checksum(base, range.size()), range.checksum());
    EXPECT_EQ(peer.close(peer.open(handle)), ZE_RESULT_SUCCESS);
}

TEST_F(RangeLifetimeTest, FieldCase75_ContextTakesItsExportsWithIt) {
    ze_ipc_mem_handle_t handle = {};
    {
        const Range range(context(), manyPieces(3));
        handle = range.exportWhole();
    }
    replaceContext();
    Peer peer;
    expectGone(peer, handle);
    EXPECT_EQ(openResult(context(), handle), invalid);
}

TEST_F(RangeLifetimeTest, ViewThatIsNotClosedGoesWithItsContext) {
    const Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    Peer peer;
    peer.close(peer.open(handle));
    const auto mappings = peer.memoryFileMappings();
    const auto descriptors = peer.descriptors();
    peer.open(handle);
    peer.demand({.command = Command::ReplaceContext});
    EXPECT_EQ(peer.memoryFileMappings(), mappings);
    EXPECT_EQ(peer.descriptors(), descriptors);
    EXPECT_EQ(peer.checksum(peer.open(handle), range.size()), range.checksum());
}

TEST_F(RangeLifetimeTest, FieldCase45_ExporterThatEndedIsKnownAtOnce) {
    Peer exporter;
    const auto handle = exporter.exportRange(exporter.buildRange(3, chunk, theirs), 3 * chunk);
    exporter.process().finish();
    Peer importer;
    expectGone(importer, handle);
    const auto descriptors = importer.descriptors();
    expectGone(importer, handle);
    EXPECT_EQ(importer.descriptors(), descriptors);
}

TEST_F(RangeLifetimeTest, FieldCase45_ExporterThatWasKilledIsKnownAtOnce) {
    Peer exporter;
    const auto handle = exporter.exportRange(exporter.buildRange(3, chunk, theirs), 3 * chunk);
    Peer importer;
    importer.close(importer.open(handle));
    exporter.kill();
    expectGone(importer, handle);
}

TEST_F(RangeLifetimeTest, FieldCase45_ViewOutlivesAKilledExporter) {
    Peer exporter;
    const auto handle = exporter.exportRange(exporter.buildRange(20, chunk, theirs), 20 * chunk);
    Peer importer;
    const uint64_t base = importer.open(handle);
    exporter.kill();
    EXPECT_EQ(importer.goodEnds(base, chunk, 20, theirs), 20U);
    importer.setWord(base, 12);
    EXPECT_EQ(importer.word(base), 12U);
    EXPECT_EQ(importer.close(base), ZE_RESULT_SUCCESS);
}

// At any moment of an open.
TEST_F(RangeLifetimeTest, FieldCase45_ExporterKilledDuringAnOpenIsAnErrorOrAWholeView) {
    constexpr size_t objects = 2000;
    Peer importer;
    for (int delay = 0; delay < 12; delay += 2) {
        Peer exporter;
        const uint64_t start = exporter.buildRange(objects, chunk, theirs);
        importer.startOpen(exporter.exportRange(start, objects * chunk));
        importer.process().isReadable(std::chrono::milliseconds(delay));
        exporter.kill();
        const auto reply = importer.finishOpen();
        if (reply.result == ZE_RESULT_SUCCESS) {
            EXPECT_EQ(importer.goodEnds(reply.address, chunk, objects, theirs), objects);
            EXPECT_EQ(importer.close(reply.address), ZE_RESULT_SUCCESS);
        } else {
            EXPECT_EQ(reply.result, invalid) << reply.text.data();
        }
        EXPECT_EQ(importer.memoryFileMappings(), 0U);
    }
}

TEST_F(RangeLifetimeTest, FieldCase35_AnotherUserIsRefused) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "only root can become somebody else";
    }
    const Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    Peer stranger;
    stranger.demand({.command = Command::BecomeNobody});
    const auto reply = stranger.tryOpen(handle);
    EXPECT_TRUE(reply.result == ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS || reply.result == invalid)
        << resultName(reply.result);
    EXPECT_STRNE(reply.text.data(), "");
    Peer friendly;
    EXPECT_EQ(friendly.checksum(friendly.open(handle), range.size()), range.checksum());
}

// The timeout is the driver's variable.
TEST_F(RangeLifetimeTest, FieldCase31_StoppedExporterTimesOut) {
    Peer exporter;
    const auto handle = exporter.exportRange(exporter.buildRange(3, chunk, theirs), 3 * chunk);
    Peer importer({.environment = {"CAUSEWAY_IPC_TIMEOUT_MS=300"}});
    importer.close(importer.open(handle));
    const auto descriptors = importer.descriptors();
    exporter.process().stop();
    const auto reply = importer.tryOpen(handle);
    exporter.process().resume();
    EXPECT_EQ(reply.result, ZE_RESULT_ERROR_NOT_AVAILABLE) << reply.text.data();
    EXPECT_LE(importer.descriptors(), descriptors);
    EXPECT_EQ(importer.goodEnds(importer.open(handle), chunk, 3, theirs), 3U);
}

// An importer dies at any moment, and the next one is served.
TEST_F(RangeLifetimeTest, FieldCase31_KilledImporterDoesNotDisturbTheNext) {
    constexpr size_t objects = 2000;
    const Range range(context(), manyPieces(objects), {.fill = Fill::Ends});
    const auto handle = range.exportWhole();
    for (int delay = 0; delay < 12; delay += 2) {
        Peer victim;
        victim.startOpen(handle);
        victim.process().isReadable(std::chrono::milliseconds(delay));
        victim.kill();
    }
    Peer next;
    const uint64_t base = next.open(handle);
    EXPECT_EQ(next.goodEnds(base, chunk, objects, range.objectNumber(0)), objects);
}

TEST_F(RangeLifetimeTest, FieldCase42_ExportsAreGivenBackRoundAfterRound) {
    Peer peer;
    size_t settled = SIZE_MAX;
    for (int round = 0; round < 30; ++round) {
        const Range range(context(), manyPieces(8, 16 * chunk), {.fill = Fill::Ends});
        const auto handle = range.exportWhole();
        peer.close(peer.open(handle));
        EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
        EXPECT_TRUE(eventually([&] { return openDescriptors().size() <= settled; }))
            << openDescriptors().size() << " in round " << round << ", once " << settled;
        settled = std::min(settled, openDescriptors().size());
    }
}

} // namespace causeway::black_box
