#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/fakes/file_size_limit.h"

#include <algorithm>
#include <fstream>
#include <vector>

namespace causeway::black_box {

namespace {

/// An importer that runs out of something fails cleanly and opens the next time.
class RangeExhaustionTest : public IpcTest {
  protected:
    static void leave(Peer &peer, uint64_t descriptors) {
        peer.demand({.command = Command::LeaveDescriptors, .value = descriptors});
    }

    static void restore(Peer &peer) { leave(peer, UINT64_MAX); }

    /// Opens something of another exporter: what a sanitizer looks up once, with a descriptor of
    /// its own, is then known, and the exporter of the test is still a stranger.
    static void warmUp(Peer &importer) {
        Peer other;
        const uint64_t start = other.buildRange(2, chunk, 3'000'000);
        importer.close(importer.open(other.exportRange(start, 2 * chunk)));
    }
};

constexpr size_t objects = 300;

/// Two objects in turn, so that no two neighbours are one mapping.
std::vector<Piece> alternatingPieces(size_t count) {
    std::vector<Piece> pieces = {Piece::of(chunk), Piece::of(chunk)};
    while (pieces.size() < count) {
        pieces.push_back(Piece::again(pieces.size() % 2, 0, chunk));
    }
    return pieces;
}

size_t mappingLimit() {
    std::ifstream file("/proc/sys/vm/max_map_count");
    size_t limit = 0;
    file >> limit;
    return limit;
}

} // namespace

TEST_F(RangeExhaustionTest, ImporterWithoutDescriptorsIsOutOfHostMemory) {
    const Range range(context(), manyPieces(objects), {.fill = Fill::Ends});
    const auto handle = range.exportWhole();
    Peer peer({.descriptorLimit = 100});
    warmUp(peer);
    const auto before = peer.descriptors();
    leave(peer, 0);
    const auto reply = peer.tryOpen(handle);
    restore(peer);
    EXPECT_EQ(reply.result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY) << reply.text.data();
    EXPECT_STRNE(reply.text.data(), "");
    EXPECT_LE(peer.descriptors(), before);
    EXPECT_EQ(peer.memoryFileMappings(), 0U);
    EXPECT_EQ(peer.goodEnds(peer.open(handle), chunk, objects, range.objectNumber(0)), objects);
}

TEST_F(RangeExhaustionTest, ImporterWithAHandfulOfDescriptorsOpens) {
    const Range range(context(), manyPieces(objects), {.fill = Fill::Ends});
    const auto handle = range.exportWhole();
    for (const uint64_t few : {8U, 20U}) {
        Peer peer({.descriptorLimit = 100});
        warmUp(peer);
        leave(peer, few);
        const auto reply = peer.tryOpen(handle);
        restore(peer);
        ASSERT_EQ(reply.result, ZE_RESULT_SUCCESS) << few << ": " << reply.text.data();
        EXPECT_EQ(peer.goodEnds(reply.address, chunk, objects, range.objectNumber(0)), objects);
    }
}

TEST_F(RangeExhaustionTest, FieldCase49_ImporterLosesNothingAtAnyShortage) {
    const Range range(context(), manyPieces(objects), {.fill = Fill::Ends});
    const auto handle = range.exportWhole();
    Peer peer({.descriptorLimit = 100});
    peer.close(peer.open(handle));
    const auto before = peer.descriptors();
    for (uint64_t few = 0; few < 12; ++few) {
        leave(peer, few);
        const auto reply = peer.tryOpen(handle);
        restore(peer);
        if (reply.result == ZE_RESULT_SUCCESS) {
            EXPECT_EQ(peer.close(reply.address), ZE_RESULT_SUCCESS);
        } else {
            EXPECT_EQ(reply.result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
                << few << ": " << reply.text.data();
        }
        EXPECT_LE(peer.descriptors(), before) << few;
        EXPECT_EQ(peer.memoryFileMappings(), 0U) << few;
        EXPECT_EQ(peer.close(peer.open(handle)), ZE_RESULT_SUCCESS) << few;
    }
}

// By the number of mappings that a process may have.
TEST_F(RangeExhaustionTest, FieldCase59_ImporterWithoutMappingsFailsCleanly) {
    constexpr size_t many = 16'000;
    const size_t limit = mappingLimit();
    if (limit > 20 * many) {
        GTEST_SKIP() << "vm.max_map_count is " << limit;
    }
    const Range range(context(), alternatingPieces(many));
    const auto handle = range.exportWhole();
    Peer peer;
    const uint64_t first = peer.open(handle);
    uint64_t last = first;
    uint64_t before = 0;
    Reply reply;
    while ((before = peer.memoryFileMappings(), reply = peer.tryOpen(handle)).result ==
           ZE_RESULT_SUCCESS) {
        last = reply.address;
    }
    EXPECT_EQ(reply.result, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY) << reply.text.data();
    EXPECT_STRNE(reply.text.data(), "");
    EXPECT_EQ(peer.memoryFileMappings(), before) << "the failed open is undone";
    EXPECT_EQ(peer.close(first), ZE_RESULT_SUCCESS);
    const uint64_t again = peer.open(handle);
    for (const uint64_t base : {last, again}) {
        EXPECT_EQ(peer.word(base + (many - 1) * chunk), patternWord(range.objectNumber(1), 0));
    }
}

TEST_F(RangeExhaustionTest, FieldCase59_FourThousandOpensTakeTheirSizeOfAddressSpace) {
    constexpr size_t opens = 4000;
    constexpr size_t slack = 16 << 20; // of the heap
    const Range range(context(), manyPieces(2));
    const auto handle = range.exportWhole();
    Peer peer;
    peer.close(peer.open(handle));
    const auto space = peer.addressSpace();
    std::vector<uint64_t> views(opens);
    std::ranges::generate(views, [&] { return peer.open(handle); });
    EXPECT_LE(peer.addressSpace(), space + opens * (range.size() + chunk) + slack);
    for (const uint64_t view : views) {
        ASSERT_EQ(peer.close(view), ZE_RESULT_SUCCESS);
    }
    EXPECT_LE(peer.addressSpace(), space + slack);
    EXPECT_EQ(peer.checksum(peer.open(handle), range.size()), range.checksum());
}

// Pieces come grouped by their objects; each still costs one mapping.
TEST_F(RangeExhaustionTest, LayoutThatFitsTheExporterFitsTheImporter) {
    const size_t many = std::min<size_t>(mappingLimit() * 6 / 10, 40'000);
    const Range range(context(), alternatingPieces(many), {.fill = Fill::Ends});
    Peer peer;
    const uint64_t base = peer.open(range.exportWhole());
    EXPECT_EQ(peer.word(base + (many - 1) * chunk),
              patternWord(range.objectNumber((many - 1) % 2), 0));
}

// By a limit on the process's address space.
TEST_F(RangeExhaustionTest, FieldCase59_ImporterWithoutAddressSpaceFailsCleanly_HugeReservation) {
    const Range range(context(), manyPieces(64, 4 << 20), {.fill = Fill::Ends});
    const auto handle = range.exportWhole();
    Peer peer;
    peer.close(peer.open(handle));
    const auto descriptors = peer.descriptors();
    peer.demand({.command = Command::LimitAddressSpace, .value = 64 << 20});
    const auto reply = peer.tryOpen(handle);
    EXPECT_EQ(reply.result, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY) << reply.text.data();
    EXPECT_STRNE(reply.text.data(), "");
    EXPECT_EQ(peer.descriptors(), descriptors);
    EXPECT_EQ(peer.memoryFileMappings(), 0U);
    peer.demand({.command = Command::LimitAddressSpace, .value = UINT64_MAX});
    EXPECT_EQ(peer.goodEnds(peer.open(handle), 4 << 20, 64, range.objectNumber(0)), 64U);
}

// `ulimit -f` counts our files too, and the kernel's way to say so is a signal that ends the
// process.
TEST_F(RangeExhaustionTest, FileSizeLimitIsAnErrorAndBanksFitBelowIt) {
    constexpr size_t many = 200;
    const fakes::FileSizeLimit limit(4 << 20);
    Peer exporter({.descriptorLimit = 64});
    const uint64_t start = exporter.buildRange(many, chunk, 1'000'000);
    Peer importer({.descriptorLimit = 64});
    const uint64_t address = importer.open(exporter.exportRange(start, many * chunk));
    EXPECT_EQ(importer.goodEnds(address, chunk, many, 1'000'000), many);

    ze_physical_mem_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC;
    desc.size = 8 << 20;
    ze_physical_mem_handle_t object = nullptr;
    EXPECT_EQ(zePhysicalMemCreate(context(), firstDevice(), &desc, &object),
              ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    EXPECT_NE(lastErrorDescription(), "");
}

} // namespace causeway::black_box
