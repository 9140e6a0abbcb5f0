#include "source/ipc/range_fetcher.h"
#include "unit_tests/source/ipc/peer.h"
#include "unit_tests/source/ipc/test_client.h"

namespace causeway::ipc {
namespace {

/// A shares a range, B opens it and shares it again, C opens that.
class ReexportTest : public fakes::ResourceCheckedTest {
  protected:
    [[nodiscard]] uint64_t openAtB(const Range &range) {
        handleOfA_ = must(a_->share(range.va, range.sizeBytes));
        return must(b_.open(handleOfA_));
    }

    static void expectOpens(Peer &peer,
                            const wire::HandleBytes &handle,
                            uint64_t original,
                            uint64_t sizeBytes) {
        const auto va = peer.open(handle);
        ASSERT_TRUE(succeeds(va));
        EXPECT_TRUE(sameBytes(*va, original, sizeBytes));
        peer.close(*va);
    }

    std::unique_ptr<Peer> a_ = std::make_unique<Peer>();
    Peer b_;
    Peer c_;
    wire::HandleBytes handleOfA_ = {};
};

TEST_F(ReexportTest, TheThirdProcessSeesTheFirstsMemory) {
    const Range range = makeRange(*a_, 5);
    const uint64_t atB = openAtB(range);

    const uint64_t atC = must(c_.open(must(b_.share(atB, range.sizeBytes))));

    EXPECT_TRUE(sameBytes(atC, range.va, range.sizeBytes));
    bytesAt(atC, range.sizeBytes)[devicePage + 3] = std::byte{0xC3};
    EXPECT_EQ(bytesAt(range.va, range.sizeBytes)[devicePage + 3], std::byte{0xC3});
    c_.close(atC);
    b_.close(atB);
}

TEST_F(ReexportTest, APartOfAWindowMayBeShared) {
    const Range range = makeRange(*a_, 5);
    const uint64_t atB = openAtB(range);
    const uint64_t from = devicePage + 100;
    const uint64_t size = 2 * devicePage;

    expectOpens(c_, must(b_.share(atB + from, size)), range.va + from, size);

    EXPECT_TRUE(failsWith(b_.share(atB, range.sizeBytes + 1), Status::AddressNotFound));
    b_.close(atB);
}

TEST_F(ReexportTest, ItIsStillTheFirstsMemory) {
    const Range range = makeRange(*a_, 2);
    Peer two({.deviceCount = 2});
    const kmd::Device &second = *two.backend.devices()[1];
    const auto first = must(a_->share(range.va, range.sizeBytes));
    const uint64_t va = must(two.service.open(*two.memory, second, first));

    const auto handle = must(wire::decodeHandle(must(two.share(va, range.sizeBytes))));
    const auto fetcher =
        RangeFetcher::open(linuxOs(), std::get<wire::IpcHandle>(handle), IpcConfig());

    ASSERT_TRUE(succeeds(fetcher));
    ASSERT_EQ(fetcher->table().objects.size(), 2U);
    EXPECT_EQ(fetcher->table().objects[0].device, a_->device().properties().uuid);
    EXPECT_NE(fetcher->table().objects[0].device, second.properties().uuid);
    two.close(va);
}

TEST_F(ReexportTest, WorksForBanks) {
    a_ = std::make_unique<Peer>(bankedConfig());
    const Range range = makeRange(*a_, 6);
    const uint64_t atB = openAtB(range);

    expectOpens(c_, must(b_.share(atB, range.sizeBytes)), range.va, range.sizeBytes);

    b_.close(atB);
}

TEST_F(ReexportTest, ReadOnlyStaysReadOnly) {
    const Range range = makeRange(*a_, 2);
    must(a_->memory->setAccess(range.va, devicePage, Access::ReadOnly));
    const uint64_t atB = openAtB(range);

    const uint64_t atC = must(c_.open(must(b_.share(atB, range.sizeBytes))));

    EXPECT_EQ(must(c_.memory->access(atC, osPage)).access, Access::ReadOnly);
    EXPECT_TRUE(failsWith(c_.memory->setAccess(atC, devicePage, Access::ReadWrite),
                          Status::InvalidArgument));
    c_.close(atC);
    b_.close(atB);
}

TEST_F(ReexportTest, AChainGoesOn) {
    Peer d;
    const Range range = makeRange(*a_, 3);
    const uint64_t atB = openAtB(range);
    const uint64_t atC = must(c_.open(must(b_.share(atB, range.sizeBytes))));

    expectOpens(d, must(c_.share(atC, range.sizeBytes)), range.va, range.sizeBytes);

    c_.close(atC);
    b_.close(atB);
}

TEST_F(ReexportTest, TheSharerOpensItsOwnHandle) {
    const Range range = makeRange(*a_, 3);
    const uint64_t atB = openAtB(range);
    const wire::HandleBytes handle = must(b_.share(atB, range.sizeBytes));

    expectOpens(b_, handle, range.va, range.sizeBytes);

    b_.close(atB);
}

TEST_F(ReexportTest, TheFirstProcessOpensItsOwnMemoryFromTheSecond) {
    const Range range = makeRange(*a_, 3);
    const uint64_t atB = openAtB(range);

    expectOpens(*a_, must(b_.share(atB, range.sizeBytes)), range.va, range.sizeBytes);

    b_.close(atB);
}

TEST_F(ReexportTest, ItOutlivesTheViewAndTheFirstProcess) {
    const Range range = makeRange(*a_, 3);
    const std::vector<std::byte> bytes(bytesAt(range.va, range.sizeBytes).begin(),
                                       bytesAt(range.va, range.sizeBytes).end());
    const uint64_t atB = openAtB(range);
    const wire::HandleBytes handle = must(b_.share(atB, range.sizeBytes));
    b_.close(atB);
    a_.reset();

    const uint64_t atC = must(c_.open(handle));

    EXPECT_TRUE(std::ranges::equal(bytesAt(atC, bytes.size()), bytes));
    c_.close(atC);
}

TEST_F(ReexportTest, WithTheFirstProcessGoneItIsAnErrorThatSaysSo) {
    const Range range = makeRange(*a_, 3);
    const uint64_t size = range.sizeBytes;
    const uint64_t atB = openAtB(range);
    const uint64_t serverOfA = decoded(handleOfA_).serverId;
    a_.reset();

    const auto shared = b_.share(atB, size);

    EXPECT_TRUE(failsWith(shared, Status::InvalidArgument, "shared anew through its exporter"));
    EXPECT_TRUE(failsWith(shared, Status::InvalidArgument, serverName(serverOfA)));
    EXPECT_EQ(b_.service.liveExports(), 0U);
    EXPECT_EQ(b_.faults.calls(fakes::OsCall::StartThread), 0U);
    EXPECT_EQ(bytesAt(atB, size)[0], std::byte{0}) << "what is open stays readable";
    b_.close(atB);
}

TEST_F(ReexportTest, WithTheFirstHandlePutItIsAnErrorThatSaysSo) {
    const Range range = makeRange(*a_, 3);
    const uint64_t atB = openAtB(range);
    a_->put(handleOfA_);

    EXPECT_TRUE(failsWith(
        b_.share(atB, range.sizeBytes), Status::InvalidArgument, "no longer shares this handle"));
    b_.close(atB);
}

TEST_F(ReexportTest, SharedAgainItIsTheSameHandleEvenWithTheFirstProcessGone) {
    const Range range = makeRange(*a_, 3);
    const uint64_t size = range.sizeBytes;
    const uint64_t atB = openAtB(range);
    const wire::HandleBytes first = must(b_.share(atB, size));
    a_.reset();

    EXPECT_EQ(must(b_.share(atB, size)), first);
    b_.close(atB);
}

TEST_F(ReexportTest, HoldsOneDescriptorForEachFileUntilItIsPut) {
    const Range range = makeRange(*a_, 4);
    const Range own = makeRange(b_, 1);
    handleOfA_ = must(a_->share(range.va, range.sizeBytes));
    (void)must(b_.share(own.va, own.sizeBytes));
    // Both servers run, nobody is connected.
    const auto descriptors = [] { return fakes::ResourceSnapshot::take().descriptors.size(); };
    const size_t before = descriptors();

    const uint64_t atB = must(b_.open(handleOfA_));
    EXPECT_TRUE(eventually([&] { return descriptors() == before; })) << "a view needs none";

    const wire::HandleBytes handle = must(b_.share(atB, range.sizeBytes));
    EXPECT_TRUE(eventually([&] { return descriptors() == before + 4 + 1; })) << "files and ticket";

    b_.put(handle);
    EXPECT_TRUE(eventually([&] { return descriptors() == before; }));
    b_.close(atB);
}

} // namespace
} // namespace causeway::ipc
