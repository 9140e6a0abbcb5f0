#include "unit_tests/black_box/ipc_fixture.h"

#include <filesystem>
#include <memory>
#include <vector>

/// Nothing is left of what is over: descriptors, mappings, threads, sockets and memory on both
/// sides.
namespace causeway::black_box {
namespace {

constexpr uint64_t theirs = 5'000'000;
constexpr uint64_t objects = 24;

class IpcLeakTest : public IpcTest {
  protected:
    static ze_ipc_mem_handle_t shareFrom(Peer &exporter, uint64_t count = objects) {
        return exporter.exportRange(exporter.buildRange(count, chunk, theirs), count * chunk);
    }

    /// Waits for what a server does in its own time.
    static void expectHoldings(Peer &peer, const Holdings &expected) {
        Holdings now;
        EXPECT_TRUE(eventually([&] { return (now = peer.holdings()) == expected; }))
            << now << ", and not " << expected;
    }
};

/// A handle that has no reason to open.
std::vector<ze_ipc_mem_handle_t> uselessHandles(Peer &exporter) {
    const auto revoked = exporter.exportRange(exporter.buildRange(2, chunk, theirs), 2 * chunk);
    exporter.put(revoked);
    ze_ipc_mem_handle_t orphaned = {};
    {
        Peer dead;
        orphaned = dead.exportRange(dead.buildRange(2, chunk, theirs), 2 * chunk);
    }
    auto flipped = revoked;
    flipped.data[30] ^= 1;
    return {revoked, orphaned, flipped, withGarbage({}, 0, 64, 5), withZeroRest(revoked), {}};
}

TEST_F(IpcLeakTest, TenThousandOpensLeaveNothing) {
    Peer exporter;
    Peer importer;
    const auto handle = shareFrom(exporter);
    ASSERT_EQ(importer.openInThreads(handle, 2, 50).value, 0U); // an arena of the heap for each
    const Holdings exported = exporter.holdingsAtRest();
    const Holdings imported = importer.holdings();
    const uint64_t space = importer.addressSpace();
    for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(importer.openInThreads(handle, 2, 500).value, 0U);
    }
    expectHoldings(importer, imported);
    expectHoldings(exporter, exported);
    EXPECT_LE(importer.addressSpace(), space + objects * chunk);
}

TEST_F(IpcLeakTest, AThousandFailedOpensOfEveryKindLeaveNothing) {
    Peer exporter;
    Peer importer;
    const auto useless = uselessHandles(exporter);
    const auto good = exporter.exportRange(exporter.buildRange(objects, chunk, theirs), chunk);
    const auto fail = [&](size_t kind) {
        if (kind < useless.size()) {
            EXPECT_NE(importer.tryOpen(useless[kind]).result, ZE_RESULT_SUCCESS) << kind;
            return;
        }
        const Reply refused = importer.tryOpen(good, 0x80);
        EXPECT_EQ(refused.result, ZE_RESULT_ERROR_INVALID_ENUMERATION);
    };
    importer.close(importer.open(good));
    for (size_t kind = 0; kind <= useless.size(); ++kind) {
        fail(kind);
    }
    const Holdings exported = exporter.holdingsAtRest();
    const Holdings imported = importer.holdings();
    const uint64_t space = importer.addressSpace();
    for (int round = 0; round < 1000; ++round) {
        fail(static_cast<size_t>(round) % (useless.size() + 1));
    }
    expectHoldings(importer, imported);
    expectHoldings(exporter, exported);
    EXPECT_LE(importer.addressSpace(), space + (1 << 20));
}

TEST_F(IpcLeakTest, AHundredKilledImportersLeaveNothing) {
    constexpr uint64_t many = 300;
    Peer exporter({.environment = {"CAUSEWAY_SOFT_DEDICATED=1"}, .descriptorLimit = 1024});
    const auto handle = shareFrom(exporter, many);
    {
        Peer first;
        first.open(handle);
    }
    const Holdings before = exporter.holdingsAtRest();
    for (int i = 0; i < 100; ++i) {
        Peer victim;
        victim.startOpen(handle);
        victim.process().isReadable(std::chrono::milliseconds(i % 8));
        victim.kill();
    }
    expectHoldings(exporter, before);
    Peer last;
    EXPECT_EQ(last.goodEnds(last.open(handle), chunk, many, theirs), many);
}

TEST_F(IpcLeakTest, AHundredKilledExportersLeaveNothing) {
    constexpr size_t objectSize = size_t{256} << 10;
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("causeway-leak-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    const ChildOptions shared{.environment = {"CAUSEWAY_IPC_DIR=" + folder.string()}};
    Peer importer;
    {
        Peer first;
        importer.close(importer.open(shareFrom(first)));
    }
    const Holdings before = importer.holdings();
    const uint64_t memory = sharedMemoryOfTheSystem();
    const uint64_t each = objects * objectSize;
    for (int i = 0; i < 100; ++i) {
        Peer victim(shared);
        const auto base = victim.buildRange(objects, objectSize, theirs);
        const auto handle = victim.exportRange(base, each);
        victim.checksum(base, each); // so that there is memory behind all of it
        importer.startOpen(handle);
        if (i % 2 == 0) {
            importer.process().isReadable(std::chrono::milliseconds(i % 5));
        }
        victim.kill();
        const Reply opened = importer.finishOpen();
        if (opened.result == ZE_RESULT_SUCCESS) {
            EXPECT_EQ(importer.close(opened.address), ZE_RESULT_SUCCESS);
        }
    }
    expectHoldings(importer, before);
    // Others use memory too: a third of what all of them would have left.
    const uint64_t tolerance = 100 * each / 3;
    EXPECT_TRUE(eventually([&] { return sharedMemoryOfTheSystem() <= memory + tolerance; }));
    {
        Peer next(shared); // tidies up after those that could not
        shareFrom(next);
        size_t sockets = 0;
        for (const auto &entry : std::filesystem::recursive_directory_iterator(folder)) {
            sockets += entry.is_socket() ? 1 : 0;
        }
        EXPECT_EQ(sockets, 1U);
    }
    std::filesystem::remove_all(folder);
}

TEST_F(IpcLeakTest, ALiveExportHoldsOneDescriptorAndALiveImportNone) {
    Peer exporter({.descriptorLimit = 4096});
    Peer importer;
    const uint64_t base = exporter.buildRange(200, chunk, theirs);
    const auto first = exporter.exportRange(base, chunk);
    importer.open(first);
    const auto exported = exporter.holdingsAtRest().descriptors;
    const auto imported = importer.descriptors();
    for (uint64_t i = 1; i < 200; ++i) {
        importer.open(exporter.exportRange(base, (i + 1) * chunk));
    }
    EXPECT_TRUE(eventually([&] { return exporter.descriptors() == exported + 199; }))
        << exporter.descriptors() - exported << " descriptors for 199 exports";
    EXPECT_EQ(importer.descriptors(), imported);
}

} // namespace
} // namespace causeway::black_box
