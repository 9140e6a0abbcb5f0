#include "unit_tests/black_box/confinement.h"
#include "unit_tests/black_box/ipc_fixture.h"

#include <fstream>
#include <memory>
#include <vector>

/// Where something has run out on either side: the right error, all undone, and success once there
/// is enough again. range_exhaustion_test.cpp has the importer's descriptors and address space.
namespace causeway::black_box {
namespace {

constexpr uint64_t theirs = 6'000'000;
constexpr uint64_t objects = 60;

class IpcStarvationTest : public IpcTest {
  protected:
    static void ask(Peer &peer, Command command, uint64_t value) {
        peer.demand({.command = command, .value = value});
    }

    static void end(Peer &peer, Command pressure) { ask(peer, pressure, UINT64_MAX); }

    static ze_ipc_mem_handle_t shareFrom(Peer &exporter) {
        return exporter.exportRange(exporter.buildRange(objects, chunk, theirs), objects * chunk);
    }

    static void expectOpens(Peer &importer, const ze_ipc_mem_handle_t &handle) {
        const Reply opened = importer.tryOpen(handle);
        ASSERT_EQ(opened.result, ZE_RESULT_SUCCESS) << opened.text.data();
        EXPECT_EQ(importer.goodEnds(opened.address, chunk, objects, theirs), objects);
        EXPECT_EQ(importer.close(opened.address), ZE_RESULT_SUCCESS);
    }

    static Reply tryExport(Peer &exporter, uint64_t base) {
        return exporter.ask({.command = Command::Export, .address = base, .size = objects * chunk});
    }

    static Reply tryBuild(Peer &exporter) {
        return exporter.ask(
            {.command = Command::BuildRange, .size = chunk, .value = objects, .extra = theirs});
    }

    static bool isOutOfMemory(const Reply &reply) {
        return reply.result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ||
               reply.result == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }

    /// Whether this machine's limit of mappings can be reached in reasonable time.
    static bool canFillMappings() {
        std::ifstream file("/proc/sys/vm/max_map_count");
        size_t limit = 0;
        file >> limit;
        return limit <= 500'000;
    }
};

TEST_F(IpcStarvationTest, AnExporterWithThreeDescriptorsServes) {
    Peer importer;
    for (const char *files : {"CAUSEWAY_SOFT_DEDICATED=0", "CAUSEWAY_SOFT_DEDICATED=1"}) {
        Peer exporter({.environment = {files}, .descriptorLimit = 256});
        const auto handle = shareFrom(exporter);
        ask(exporter, Command::LeaveDescriptors, 3);
        expectOpens(importer, handle);
        end(exporter, Command::LeaveDescriptors);
        expectOpens(importer, handle);
    }
}

TEST_F(IpcStarvationTest, AnImporterWithThreeDescriptorsOpensOrLosesNothing) {
    Peer exporter({.environment = {"CAUSEWAY_SOFT_DEDICATED=1"}});
    const auto handle = shareFrom(exporter);
    Peer importer({.descriptorLimit = 100});
    expectOpens(importer, handle);
    const Holdings before = importer.holdings();
    ask(importer, Command::LeaveDescriptors, 3);
    const Reply opened = importer.tryOpen(handle);
    end(importer, Command::LeaveDescriptors);
    EXPECT_TRUE(opened.result == ZE_RESULT_SUCCESS || isOutOfMemory(opened)) << opened.text.data();
    if (opened.result == ZE_RESULT_SUCCESS) {
        EXPECT_EQ(importer.close(opened.address), ZE_RESULT_SUCCESS);
    }
    EXPECT_EQ(importer.holdings(), before);
    expectOpens(importer, handle);
}

TEST_F(IpcStarvationTest, AServerThatCannotStartIsStartedByTheNextExport) {
    Peer importer;
    Peer exporter({.descriptorLimit = 256});
    const uint64_t base = exporter.buildRange(objects, chunk, theirs);
    const Holdings before = exporter.holdings();
    ask(exporter, Command::LeaveDescriptors, 3);
    const Reply refused = tryExport(exporter, base);
    end(exporter, Command::LeaveDescriptors);
    EXPECT_EQ(refused.result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    EXPECT_STRNE(refused.text.data(), "");
    EXPECT_EQ(exporter.holdings(), before);
    expectOpens(importer, exporter.exportRange(base, objects * chunk));
}

TEST_F(IpcStarvationTest, AnExporterWithoutThreadsLosesNothing) {
    if (const char *reason = whyNotBeAnotherUser()) {
        GTEST_SKIP() << reason << ", and root has no limit of threads";
    }
    Peer importer({.confinement = "user"});
    Peer exporter({.confinement = "user"});
    const uint64_t base = exporter.buildRange(objects, chunk, theirs);
    const Holdings before = exporter.holdings();
    ask(exporter, Command::LimitThreads, 0);
    const Reply refused = tryExport(exporter, base);
    EXPECT_EQ(refused.result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY) << refused.text.data();
    EXPECT_STRNE(refused.text.data(), "");
    EXPECT_EQ(exporter.holdings(), before);
    end(exporter, Command::LimitThreads);
    expectOpens(importer, exporter.exportRange(base, objects * chunk));
}

TEST_F(IpcStarvationTest, WithoutNewMemoryFilesOldOnesAreSharedAndOpened) {
    Peer importer;
    Peer exporter;
    const uint64_t base = exporter.buildRange(objects, chunk, theirs);
    exporter.demand({.command = Command::DenyMemoryFiles});
    importer.demand({.command = Command::DenyMemoryFiles});
    expectOpens(importer, exporter.exportRange(base, objects * chunk));

    exporter.destroyRange();
    const Reply refused = tryBuild(exporter);
    EXPECT_EQ(refused.result, ZE_RESULT_ERROR_UNKNOWN) << "as the harness tells it";
    EXPECT_NE(std::string(refused.text.data()).find("INSUFFICIENT_PERMISSIONS"), std::string::npos)
        << refused.text.data();
}

TEST_F(IpcStarvationTest, AnImporterWithoutMappingsLosesNothing_LastMapping) {
    if (!canFillMappings()) {
        GTEST_SKIP() << "vm.max_map_count is out of reach";
    }
    Peer exporter({.environment = {"CAUSEWAY_SOFT_DEDICATED=1"}});
    const auto handle = shareFrom(exporter);
    Peer importer;
    expectOpens(importer, handle);
    const Holdings before = importer.holdings();
    const uint64_t space = importer.addressSpace();
    for (const uint64_t room : {0U, 4U, 40U}) {
        ask(importer, Command::FillMappings, room);
        const Reply refused = importer.tryOpen(handle);
        end(importer, Command::FillMappings);
        EXPECT_TRUE(isOutOfMemory(refused)) << room << ": " << refused.text.data();
        EXPECT_STRNE(refused.text.data(), "");
        EXPECT_EQ(importer.holdings(), before);
    }
    expectOpens(importer, handle);
    EXPECT_EQ(importer.addressSpace(), space);
}

TEST_F(IpcStarvationTest, AnExporterWithoutMappingsServesAndLosesNothing_LastMapping) {
    if (!canFillMappings()) {
        GTEST_SKIP() << "vm.max_map_count is out of reach";
    }
    Peer importer;
    Peer exporter({.environment = {"CAUSEWAY_SOFT_DEDICATED=1"}});
    const uint64_t base = exporter.buildRange(objects, chunk, theirs);
    const auto handle = exporter.exportRange(base, objects * chunk);
    expectOpens(importer, handle);
    const uint64_t mappings = exporter.memoryFileMappings();
    ask(exporter, Command::FillMappings, 0);
    expectOpens(importer, handle);
    // What needs no room works on; an open of its own does need some.
    const Reply refused = exporter.ask({.command = Command::Open, .handle = handle});
    end(exporter, Command::FillMappings);
    EXPECT_TRUE(isOutOfMemory(refused)) << refused.text.data();
    EXPECT_EQ(exporter.memoryFileMappings(), mappings);
    expectOpens(importer, handle);
}

TEST_F(IpcStarvationTest, AnExporterWithoutAddressSpaceLosesNothing_HugeReservation) {
    Peer importer;
    Peer exporter;
    const auto handle = shareFrom(exporter);
    expectOpens(importer, handle);
    ask(exporter, Command::LimitAddressSpace, 1 << 20);
    const Reply refused = exporter.ask({.command = Command::Open, .handle = handle});
    EXPECT_TRUE(isOutOfMemory(refused)) << refused.text.data();
    expectOpens(importer, handle);
    end(exporter, Command::LimitAddressSpace);
    const Reply opened = exporter.ask({.command = Command::Open, .handle = handle});
    EXPECT_EQ(opened.result, ZE_RESULT_SUCCESS) << opened.text.data();
}

/// Descriptors that were sent and not received count against the limit of the sender's user,
/// whoever keeps them waiting.
TEST_F(IpcStarvationTest, DescriptorsInFlightAreWaitedFor) {
    if (const char *reason = whyNotBeAnotherUser()) {
        GTEST_SKIP() << reason << ", and root has no limit of descriptors in flight";
    }
    const ChildOptions unprivileged{
        .environment = {"CAUSEWAY_SOFT_DEDICATED=1", "CAUSEWAY_IPC_TIMEOUT_MS=60000"},
        .descriptorLimit = 128,
        .confinement = "user"};
    Peer exporter(unprivileged);
    const auto handle = shareFrom(exporter);
    Peer slow(unprivileged);
    ChildOptions hasty = unprivileged;
    hasty.environment[1] = "CAUSEWAY_IPC_TIMEOUT_MS=600";
    Peer importer(hasty);
    Peer patient(unprivileged);
    expectOpens(importer, handle);
    const Holdings before = importer.holdings();
    const Request talk = {.command = Command::TalkAndNeverRead, .value = 8, .handle = handle};
    for (int i = 0; i < 2; ++i) {
        slow.demand(talk);
    }
    const Reply refused = importer.tryOpen(handle);
    EXPECT_EQ(refused.result, ZE_RESULT_ERROR_NOT_AVAILABLE) << refused.text.data();
    EXPECT_EQ(importer.holdings(), before);
    patient.startOpen(handle);
    slow.demand({.command = Command::StopTalking});
    const Reply opened = patient.finishOpen();
    ASSERT_EQ(opened.result, ZE_RESULT_SUCCESS) << opened.text.data();
    EXPECT_EQ(patient.goodEnds(opened.address, chunk, objects, theirs), objects);
    expectOpens(importer, handle);
}

} // namespace
} // namespace causeway::black_box
