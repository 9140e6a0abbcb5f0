#include "unit_tests/black_box/ipc_fixture.h"

#include <memory>
#include <vector>

namespace causeway::black_box {

namespace {

constexpr uint64_t theirs = 2'000'000;

class RangeScaleTest : public IpcTest {};

/// Objects around the limits of one message (253 descriptors) and of two.
class RangeCountTest : public IpcTest, public testing::WithParamInterface<size_t> {};

} // namespace

INSTANTIATE_TEST_SUITE_P(
    Objects,
    RangeCountTest,
    testing::Values(1, 2, 16, 252, 253, 254, 255, 300, 506, 507, 1024, 2000, 16384),
    testing::PrintToStringParamName());

TEST_P(RangeCountTest, FieldCase23_FieldCase62_EveryObjectArrives) {
    const size_t objects = GetParam();
    const Range range(context(), manyPieces(objects), {.fill = Fill::Ends});
    Peer peer;
    const uint64_t base = peer.open(range.exportWhole());
    EXPECT_EQ(peer.goodEnds(base, chunk, objects, range.objectNumber(0)), objects);
    EXPECT_EQ(peer.addressRange(base + 1).size, objects * chunk);
    EXPECT_EQ(peer.close(base), ZE_RESULT_SUCCESS);
    EXPECT_EQ(peer.memoryFileMappings(), 0U);
}

TEST_P(RangeCountTest, FieldCase62_SameProcessOpensEveryObject) {
    const size_t objects = GetParam();
    const Range range(context(), manyPieces(objects), {.fill = Fill::Ends});
    const View view(context(), range.exportWhole());
    size_t good = 0;
    for (size_t i = 0; i < objects; ++i) {
        good += hasEnds(view.base() + i * chunk, chunk, range.objectNumber(i)) ? 1 : 0;
    }
    EXPECT_EQ(good, objects);
}

TEST_F(RangeScaleTest, FieldCase13_DescriptorsStayFlatOverManyOpens) {
    const Range range(context(), manyPieces(4));
    const auto handle = range.exportWhole();
    Peer peer;
    peer.close(peer.open(handle));
    const auto theirDescriptors = peer.descriptors();
    const auto theirSpace = peer.addressSpace();
    const auto ours = openDescriptors().size();
    for (int round = 0; round < 1000; ++round) {
        const uint64_t base = peer.open(handle);
        ASSERT_EQ(peer.word(base + 3 * chunk), patternWord(range.objectNumber(3), 0));
        ASSERT_EQ(peer.close(base), ZE_RESULT_SUCCESS);
        if (round % 100 == 0) {
            EXPECT_EQ(peer.descriptors(), theirDescriptors) << round;
        }
    }
    peer.demand({.command = Command::ReplaceContext});
    EXPECT_EQ(peer.descriptors(), theirDescriptors);
    EXPECT_EQ(peer.memoryFileMappings(), 0U);
    EXPECT_LT(peer.addressSpace(), theirSpace + (16 << 20));
    EXPECT_TRUE(eventually([&] { return openDescriptors().size() <= ours; }))
        << openDescriptors().size() << " instead of " << ours;
}

// What is open costs no descriptor.
TEST_F(RangeScaleTest, FieldCase25_OpenRangesHoldNoDescriptors) {
    const Range range(context(), manyPieces(8));
    Peer peer;
    peer.open(range.exportWhole());
    const auto descriptors = peer.descriptors();
    for (size_t i = 1; i <= 500; ++i) {
        peer.open(range.exportWindow(i, range.size() - i));
    }
    EXPECT_EQ(peer.descriptors(), descriptors);
}

TEST_F(RangeScaleTest, TwoImportersOpenAtOnce) {
    constexpr size_t objects = 1500;
    const Range range(context(), manyPieces(objects), {.fill = Fill::Ends});
    const auto handle = range.exportWhole();
    Peer first;
    Peer second;
    for (int round = 0; round < 5; ++round) {
        first.startOpen(handle);
        second.startOpen(handle);
        for (auto *peer : {&first, &second}) {
            const auto reply = peer->finishOpen();
            ASSERT_EQ(reply.result, ZE_RESULT_SUCCESS) << reply.text.data();
            EXPECT_EQ(peer->goodEnds(reply.address, chunk, objects, range.objectNumber(0)),
                      objects);
            EXPECT_EQ(peer->close(reply.address), ZE_RESULT_SUCCESS);
        }
    }
}

TEST_F(RangeScaleTest, EightThreadsOpenAtOnce) {
    const Range range(context(), manyPieces(16));
    const auto handle = range.exportWhole();
    Peer peer;
    const auto reply = peer.openInThreads(handle, 8, 25);
    EXPECT_EQ(reply.result, ZE_RESULT_SUCCESS) << reply.text.data();
    EXPECT_EQ(reply.value, 0U) << "failed opens";
    EXPECT_EQ(peer.memoryFileMappings(), 0U);
}

// Each object is a file of its own, and so travels alone.
TEST_F(RangeScaleTest, FieldCase24_EightUnprivilegedImportersOfFilesAtOnce) {
    constexpr size_t objects = 600;
    Peer exporter({.environment = {"CAUSEWAY_SOFT_DEDICATED=1"},
                   .descriptorLimit = 1024,
                   .isUnprivileged = true});
    const uint64_t start = exporter.buildRange(objects, chunk, theirs);
    const auto handle = exporter.exportRange(start, objects * chunk);
    constexpr size_t peers = 8;
    std::vector<std::unique_ptr<Peer>> importers;
    importers.reserve(peers);
    while (importers.size() < peers) {
        importers.push_back(std::make_unique<Peer>(ChildOptions{.isUnprivileged = true}));
    }
    for (const auto &importer : importers) {
        importer->startOpen(handle);
    }
    for (const auto &importer : importers) {
        const auto reply = importer->finishOpen();
        ASSERT_EQ(reply.result, ZE_RESULT_SUCCESS) << reply.text.data();
        EXPECT_EQ(importer->goodEnds(reply.address, chunk, objects, theirs), objects);
    }
}

TEST_F(RangeScaleTest, FieldCase58_AccessOfManyObjectsChangesAtOnce) {
    constexpr auto readOnly = ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY;
    constexpr auto readWrite = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
    Peer peer;
    for (const size_t objects : {1U, 3U, 1000U}) {
        const Range range(context(), manyPieces(objects), {.fill = Fill::Ends});
        for (const auto access : {readOnly, readWrite}) {
            EXPECT_EQ(zeVirtualMemSetAccessAttribute(context(), range.base(), range.size(), access),
                      ZE_RESULT_SUCCESS);
            auto found = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
            size_t stretch = 0;
            EXPECT_EQ(zeVirtualMemGetAccessAttribute(
                          context(), range.base(), range.size(), &found, &stretch),
                      ZE_RESULT_SUCCESS);
            EXPECT_EQ(found, access);
            EXPECT_EQ(stretch, range.size());
        }
        const uint64_t base = peer.open(range.exportWhole());
        EXPECT_EQ(peer.setAccess(base, range.size(), readOnly), ZE_RESULT_SUCCESS);
        const auto imported = peer.access(base, range.size());
        EXPECT_EQ(imported.number, readOnly);
        EXPECT_EQ(imported.size, range.size());
    }
}

TEST_F(RangeScaleTest, FieldCase21_NothingIsInheritedOverExec) {
    const Range range(context(), manyPieces(20));
    const auto handle = range.exportWhole();
    const View view(context(), handle);
    Peer peer;
    peer.open(handle);
    EXPECT_EQ(peer.demand({.command = Command::InheritedByOthers}).value, 0U) << "by the importer";
    uint64_t inherited = 0;
    Child lister("lister");
    lister.receive(std::as_writable_bytes(std::span(&inherited, 1)));
    EXPECT_EQ(inherited, 0U) << "by the exporter";
}

} // namespace causeway::black_box
