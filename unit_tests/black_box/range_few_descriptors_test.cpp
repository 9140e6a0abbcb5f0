#include "unit_tests/black_box/ipc_fixture.h"

#include <memory>
#include <vector>

namespace causeway::black_box {

namespace {

constexpr uint64_t theirs = 2'000'000;
constexpr unsigned fewDescriptors = 64;

/// Both processes may open 64 files, and share a thousand objects and more.
class RangeFewDescriptorsTest : public IpcTest {
  protected:
    static constexpr size_t objects = 1200;
    static constexpr size_t bytes = objects * chunk;

    void SetUp() override {
        IpcTest::SetUp();
        const ChildOptions few{.descriptorLimit = fewDescriptors, .isUnprivileged = true};
        exporter_ = std::make_unique<Peer>(few);
        importer_ = std::make_unique<Peer>(few);
    }

    void TearDown() override {
        exporter_.reset();
        importer_.reset();
        IpcTest::TearDown();
    }

    Peer &exporter() { return *exporter_; }

    Peer &importer() { return *importer_; }

    ze_ipc_mem_handle_t share(uint64_t firstObject) {
        return exporter().exportRange(exporter().buildRange(objects, chunk, firstObject), bytes);
    }

    void retract(const ze_ipc_mem_handle_t &handle) {
        EXPECT_EQ(exporter().put(handle), ZE_RESULT_SUCCESS);
        exporter().destroyRange();
    }

    static uint64_t good(Peer &peer, uint64_t base, uint64_t firstObject) {
        return peer.goodEnds(base, chunk, objects, firstObject);
    }

  private:
    std::unique_ptr<Peer> exporter_;
    std::unique_ptr<Peer> importer_;
};

} // namespace

TEST_F(RangeFewDescriptorsTest, FieldCase22_EveryObjectArrives) {
    const uint64_t base = importer().open(share(theirs));
    EXPECT_EQ(good(importer(), base, theirs), objects);
    EXPECT_EQ(importer().addressRange(base).size, bytes);
    EXPECT_EQ(importer().close(base), ZE_RESULT_SUCCESS);
}

TEST_F(RangeFewDescriptorsTest, ImporterWritesBack) {
    const uint64_t start = exporter().buildRange(objects, chunk, theirs);
    const uint64_t base = importer().open(exporter().exportRange(start, bytes));
    for (const size_t i : {size_t{0}, objects / 2, objects - 1}) {
        importer().setWord(base + i * chunk + 8, i + 5);
        EXPECT_EQ(exporter().word(start + i * chunk + 8), i + 5);
    }
}

TEST_F(RangeFewDescriptorsTest, FourThousandObjectsArrive) {
    constexpr size_t many = 4096;
    const uint64_t start = exporter().buildRange(many, chunk, theirs);
    const uint64_t base = importer().open(exporter().exportRange(start, many * chunk));
    EXPECT_EQ(importer().goodEnds(base, chunk, many, theirs), many);
}

TEST_F(RangeFewDescriptorsTest, WindowsAreByteExact) {
    const uint64_t start = exporter().buildRange(objects, chunk, theirs);
    for (const uint64_t offset : {5UL, 3 * chunk + 7, bytes - 40 * chunk - 1}) {
        const uint64_t size = 40 * chunk + 1;
        const uint64_t base = importer().open(exporter().exportRange(start + offset, size));
        EXPECT_EQ(importer().checksum(base, size), exporter().checksum(start + offset, size));
        EXPECT_EQ(importer().addressRange(base).size, size);
    }
}

// Beyond the descriptor budget a handle has no ticket; it opens by value.
TEST_F(RangeFewDescriptorsTest, HundredsOfExportsOpen) {
    constexpr uint64_t exports = 200;
    const uint64_t start = exporter().buildRange(exports, chunk, theirs);
    std::vector<ze_ipc_mem_handle_t> handles;
    handles.reserve(exports);
    for (uint64_t i = 0; i < exports; ++i) {
        handles.push_back(exporter().exportRange(start + i * chunk, chunk));
    }
    EXPECT_LT(exporter().descriptors(), fewDescriptors);
    for (uint64_t i = 0; i < exports; ++i) {
        const uint64_t base = importer().open(handles[i]);
        EXPECT_EQ(importer().goodEnds(base, chunk, 1, theirs + i), 1U);
    }
    for (const auto &handle : handles) {
        EXPECT_EQ(exporter().put(handle), ZE_RESULT_SUCCESS);
    }
}

// Descriptors in flight are counted per user against the sender's limit.
TEST_F(RangeFewDescriptorsTest, FieldCase24_EightImportersAtOnce) {
    const auto handle = share(theirs);
    constexpr size_t peers = 8;
    std::vector<std::unique_ptr<Peer>> importers;
    importers.reserve(peers);
    while (importers.size() < peers) {
        importers.push_back(std::make_unique<Peer>(ChildOptions{.isUnprivileged = true}));
    }
    for (const auto &peer : importers) {
        peer->startOpen(handle);
    }
    for (const auto &peer : importers) {
        const auto reply = peer->finishOpen();
        ASSERT_EQ(reply.result, ZE_RESULT_SUCCESS) << reply.text.data();
        EXPECT_EQ(good(*peer, reply.address, theirs), objects);
    }
}

TEST_F(RangeFewDescriptorsTest, DescriptorsStayFlat) {
    const auto handle = share(theirs);
    importer().close(importer().open(handle));
    const auto exported = exporter().descriptors();
    const auto imported = importer().descriptors();
    for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(importer().close(importer().open(handle)), ZE_RESULT_SUCCESS);
    }
    EXPECT_EQ(importer().descriptors(), imported);
    EXPECT_TRUE(eventually([&] { return exporter().descriptors() <= exported; }))
        << exporter().descriptors() << ", not " << exported;
}

// Banks: a slot that a peer maps is not used again, from here on.

TEST_F(RangeFewDescriptorsTest, ViewIsUnchangedWhenItsMemoryIsReplaced) {
    const auto handle = share(theirs);
    const uint64_t base = importer().open(handle);
    for (uint64_t round = 1; round <= 3; ++round) {
        const uint64_t newer = theirs + 10'000 * round;
        round == 1 ? retract(handle) : exporter().destroyRange();
        exporter().buildRange(objects, chunk, newer);
        EXPECT_EQ(good(importer(), base, theirs), objects) << "round " << round;
        importer().setWord(base + 16, round);
        EXPECT_EQ(importer().word(base + 16), round);
    }
}

TEST_F(RangeFewDescriptorsTest, ViewOfAForkIsUnchangedWhenItsMemoryIsReplaced) {
    const auto handle = share(theirs);
    const uint64_t base = importer().open(handle);
    importer().demand({.command = Command::ForkAndServe, .address = base});
    retract(handle);
    exporter().buildRange(objects, chunk, theirs + 10'000);
    EXPECT_EQ(good(importer(), base, theirs), objects);
}

TEST_F(RangeFewDescriptorsTest, KilledImportersDoNotUseUpTheExporter) {
    uint64_t settled = 0;
    for (int round = 0; round < 8; ++round) {
        const uint64_t first = theirs + 10'000 * static_cast<uint64_t>(round);
        const auto handle = share(first);
        Peer victim({.descriptorLimit = fewDescriptors, .isUnprivileged = true});
        EXPECT_EQ(good(victim, victim.open(handle), first), objects);
        victim.kill();
        retract(handle);
        if (round == 1) {
            settled = exporter().descriptors();
        }
    }
    EXPECT_TRUE(eventually([&] { return exporter().descriptors() <= settled; }))
        << exporter().descriptors() << " after 8 rounds, " << settled << " after 2";
}

TEST_F(RangeFewDescriptorsTest, ReusedMemoryIsZero) {
    const Request fresh = {.command = Command::FreshIsZero, .size = chunk, .value = objects};
    for (uint64_t round = 0; round < 2; ++round) {
        const auto handle = share(theirs);
        importer().close(importer().open(handle));
        retract(handle);
        EXPECT_EQ(exporter().demand(fresh).value, 0U) << "objects with old bytes";
    }
}

} // namespace causeway::black_box
