#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/black_box/raw_client.h"

#include <array>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <vector>

/// Nothing hangs, whatever the other side does or leaves undone, and a deadline is kept.
namespace causeway::black_box {
namespace {

constexpr uint64_t theirs = 4'000'000;
constexpr const char *shortTimeout = "CAUSEWAY_IPC_TIMEOUT_MS=600";

/// Shorter than the driver's own timeout: what is served within it did not wait for that to pass.
Deadline promptly() {
    return Deadline(defaultWait() / 2);
}

/// How a client keeps silent.
struct Silence {
    std::string_view name;
    std::function<void(const RawClient &, const RawRequest &)> begin;
};

std::span<const Silence> silences() {
    static const std::array<Silence, 4> all = {{
        {"connects", [](const RawClient &, const RawRequest &) {}},
        {"one byte",
         [](const RawClient &client, const RawRequest &request) {
             client.send(std::span(request).first(1));
         }},
        {"a header",
         [](const RawClient &client, const RawRequest &request) {
             client.send(std::span(request).first(8));
         }},
        {"a whole request, and takes no answer",
         [](const RawClient &client, const RawRequest &request) { client.send(request); }},
    }};
    return all;
}

class IpcHangTest : public IpcTest {
  protected:
    static constexpr uint64_t objects = 20;

    static ze_ipc_mem_handle_t shareFrom(Peer &exporter, uint64_t count = objects) {
        return exporter.exportRange(exporter.buildRange(count, chunk, theirs), count * chunk);
    }

    static void expectOpens(Peer &importer,
                            const ze_ipc_mem_handle_t &handle,
                            uint64_t count = objects) {
        const Reply opened = importer.tryOpen(handle);
        ASSERT_EQ(opened.result, ZE_RESULT_SUCCESS) << opened.text.data();
        EXPECT_EQ(importer.goodEnds(opened.address, chunk, count, theirs), count);
        EXPECT_EQ(importer.close(opened.address), ZE_RESULT_SUCCESS);
    }

    /// `count` clients that are silent in one of the first `kinds` ways, in turns.
    static std::list<RawClient> silentClients(const ze_ipc_mem_handle_t &handle,
                                              size_t count,
                                              size_t kinds) {
        std::list<RawClient> clients;
        while (clients.size() < count) {
            const Silence &silence = silences()[clients.size() % kinds];
            silence.begin(clients.emplace_back(handle), openRequest(handle, 1));
        }
        return clients;
    }
};

TEST_F(IpcHangTest, AnExporterStoppedAtAnyMomentOfAnOpenIsAnErrorOrAWholeView) {
    constexpr uint64_t many = 2000;
    Peer importer({.environment = {shortTimeout}});
    Peer exporter({.environment = {"CAUSEWAY_SOFT_DEDICATED=1"}, .descriptorLimit = 4096});
    const auto handle = shareFrom(exporter, many);
    expectOpens(importer, handle, many);
    const Holdings before = importer.holdings();
    for (int delay = 0; delay < 16; delay += 2) {
        importer.startOpen(handle);
        importer.process().isReadable(std::chrono::milliseconds(delay));
        exporter.process().stop();
        const Reply opened = importer.finishOpen(promptly());
        exporter.process().resume();
        if (opened.result == ZE_RESULT_SUCCESS) {
            EXPECT_EQ(importer.goodEnds(opened.address, chunk, many, theirs), many);
            EXPECT_EQ(importer.close(opened.address), ZE_RESULT_SUCCESS);
        } else {
            EXPECT_EQ(opened.result, ZE_RESULT_ERROR_NOT_AVAILABLE) << opened.text.data();
        }
        EXPECT_EQ(importer.holdings(), before) << delay << " ms";
    }
    expectOpens(importer, handle, many);
}

TEST_F(IpcHangTest, AnExporterThatWasStoppedBeforeTheOpenServesTheNext) {
    Peer importer({.environment = {shortTimeout}});
    Peer exporter;
    const auto handle = shareFrom(exporter);
    exporter.process().stop();
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(importer.tryOpen(handle).result, ZE_RESULT_ERROR_NOT_AVAILABLE);
    }
    exporter.process().resume();
    expectOpens(importer, handle);
}

TEST_F(IpcHangTest, SilentClientsDelayNobody) {
    Peer importer;
    Peer exporter;
    const auto handle = shareFrom(exporter);
    const auto before = exporter.descriptors();
    {
        const auto clients = silentClients(handle, 200, silences().size());
        const Deadline deadline = promptly();
        expectOpens(importer, handle);
        EXPECT_FALSE(deadline.isOver());
    }
    EXPECT_TRUE(eventually([&] { return exporter.descriptors() <= before; }));
}

/// More than it has connections for: who has shown no token makes room.
TEST_F(IpcHangTest, SilentClientsOfAnExporterWithFewDescriptorsDelayNobody) {
    constexpr size_t unauthorised = 3;
    Peer importer;
    Peer exporter({.descriptorLimit = 64});
    const auto handle = shareFrom(exporter);
    const auto clients = silentClients(handle, 200, unauthorised);
    const Deadline deadline = promptly();
    expectOpens(importer, handle);
    EXPECT_FALSE(deadline.isOver());
}

TEST_F(IpcHangTest, SilentClientsAreDroppedWhenTheirTimeIsUp) {
    Peer exporter({.environment = {shortTimeout}});
    const auto handle = shareFrom(exporter);
    for (const Silence &silence : silences()) {
        SCOPED_TRACE(silence.name);
        const RawClient client(handle);
        silence.begin(client, openRequest(handle, 1));
        EXPECT_TRUE(client.isDropped());
    }
}

TEST_F(IpcHangTest, AClientWithAnotherProtocolIsAnsweredAndDropped) {
    Peer exporter;
    const auto handle = shareFrom(exporter);
    for (const size_t damaged : {size_t{0}, size_t{4}, size_t{6}, size_t{8}, size_t{24}}) {
        RawRequest request = openRequest(handle, 1);
        request[damaged] ^= std::byte{0x40};
        const RawClient client(handle);
        client.send(request);
        EXPECT_TRUE(client.isDropped(promptly())) << "byte " << damaged;
    }
}

TEST_F(IpcHangTest, ManyLongOpensDelayNoShortOne) {
    constexpr uint64_t many = 2000;
    Peer exporter({.environment = {"CAUSEWAY_SOFT_DEDICATED=1"}, .descriptorLimit = 4096});
    const uint64_t base = exporter.buildRange(many, chunk, theirs);
    const auto handle = exporter.exportRange(base, many * chunk);
    const auto small = exporter.exportRange(base, chunk);
    std::vector<std::unique_ptr<Peer>> importers(6);
    for (auto &importer : importers) {
        importer = std::make_unique<Peer>();
    }
    Peer hasty;
    for (const auto &importer : importers) {
        importer->startOpen(handle);
    }
    for (int i = 0; i < 10; ++i) {
        expectOpens(hasty, small, 1);
    }
    for (const auto &importer : importers) {
        const Reply opened = importer->finishOpen();
        EXPECT_EQ(opened.result, ZE_RESULT_SUCCESS) << opened.text.data();
    }
}

TEST_F(IpcHangTest, SignalsDisturbNeitherSide) {
    constexpr uint64_t many = 600;
    Peer importer;
    Peer exporter({.environment = {"CAUSEWAY_SOFT_DEDICATED=1"}, .descriptorLimit = 4096});
    for (Peer *peer : {&importer, &exporter}) {
        peer->demand({.command = Command::StormOfSignals, .value = 1000});
    }
    for (int round = 0; round < 10; ++round) {
        const auto handle = shareFrom(exporter, many);
        expectOpens(importer, handle, many);
        EXPECT_EQ(exporter.put(handle), ZE_RESULT_SUCCESS);
        exporter.destroyRange();
    }
    for (Peer *peer : {&importer, &exporter}) {
        peer->demand({.command = Command::StormOfSignals, .value = 0});
    }
}

/// An interrupted wait goes on for what is left of its time, and not for all of it again.
TEST_F(IpcHangTest, SignalsDoNotProlongTheTimeout) {
    Peer importer({.environment = {shortTimeout}});
    Peer exporter;
    const auto handle = shareFrom(exporter);
    importer.demand({.command = Command::StormOfSignals, .value = 1000});
    exporter.process().stop();
    const Deadline deadline = promptly();
    EXPECT_EQ(importer.tryOpen(handle).result, ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_FALSE(deadline.isOver());
    exporter.process().resume();
    importer.demand({.command = Command::StormOfSignals, .value = 0});
    expectOpens(importer, handle);
}

} // namespace
} // namespace causeway::black_box
