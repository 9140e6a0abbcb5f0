#include "unit_tests/black_box/ipc_fixture.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>

namespace causeway::black_box {

namespace {

using Open = std::function<Reply(const ze_ipc_mem_handle_t &)>;

/// The check value of a handle (shared/wire/README.md): CRC-32 of bytes 8-59, in bytes 60-63.
void seal(ze_ipc_mem_handle_t &handle) {
    uint32_t crc = ~0U;
    for (const char byte : std::span(handle.data).subspan(8, 52)) {
        crc ^= static_cast<uint8_t>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) * 0xEDB88320U);
        }
    }
    crc = ~crc;
    std::copy_n(reinterpret_cast<const char *>(&crc), sizeof(crc), handle.data + 60);
}

/// Damaged handles end in an error with a sentence, and nothing is lost.
class RangeDamagedHandleTest : public IpcTest {
  protected:
    void SetUp() override {
        IpcTest::SetUp();
        range_ = std::make_unique<Range>(context(), manyPieces(3));
        handle_ = range_->exportWhole();
    }

    void TearDown() override {
        range_.reset();
        IpcTest::TearDown();
    }

    [[nodiscard]] const ze_ipc_mem_handle_t &handle() const { return handle_; }

    [[nodiscard]] const Range &range() const { return *range_; }

    Reply openHere(const ze_ipc_mem_handle_t &damaged) {
        Reply reply;
        void *ptr = nullptr;
        reply.result = zeMemOpenIpcHandle(context(), firstDevice(), damaged, 0, &ptr);
        const auto text = lastErrorDescription().substr(0, reply.text.size() - 1);
        std::copy(text.begin(), text.end(), reply.text.begin());
        return reply;
    }

    static void expectRefused(const Open &open, const ze_ipc_mem_handle_t &damaged, int which) {
        const auto reply = open(damaged);
        EXPECT_TRUE(reply.result == ZE_RESULT_ERROR_INVALID_ARGUMENT ||
                    reply.result == ZE_RESULT_ERROR_UNSUPPORTED_VERSION)
            << resultName(reply.result) << ", variant " << which;
        EXPECT_STRNE(reply.text.data(), "") << "variant " << which;
    }

    /// Flips each bit of bytes 8-63; what is before, clients overwrite.
    void flipEveryBit(const Open &open) {
        for (int bit = 64; bit < 512; ++bit) {
            auto damaged = handle_;
            auto &byte = damaged.data[bit / 8];
            byte = static_cast<char>(byte ^ (1 << (bit % 8)));
            expectRefused(open, damaged, bit);
        }
    }

    void openNonsense(const Open &open, uint32_t count = 1000) {
        ze_ipc_mem_handle_t damaged = {};
        expectRefused(open, damaged, 0);
        std::fill(std::begin(damaged.data), std::end(damaged.data), '\xFF');
        expectRefused(open, damaged, 1);
        for (uint32_t seed = 2; seed < count; ++seed) {
            expectRefused(open, withGarbage({}, 0, 64, seed), static_cast<int>(seed));
        }
    }

    /// Shifted by a byte, and two handles of one process put together within or after their tokens.
    void openMixtures(const Open &open) {
        auto shifted = handle_;
        std::rotate(std::begin(shifted.data), std::begin(shifted.data) + 1, std::end(shifted.data));
        expectRefused(open, withDescriptor(shifted, -1), 0);
        const auto other = range_->exportWindow(0, chunk);
        for (const int middle : {28, 32, 40, 48, 56, 60}) {
            auto mixed = withDescriptor(handle_, -1);
            std::copy(other.data + middle, std::end(other.data), mixed.data + middle);
            expectRefused(open, mixed, middle);
        }
    }

  private:
    std::unique_ptr<Range> range_;
    ze_ipc_mem_handle_t handle_ = {};
};

} // namespace

TEST_F(RangeDamagedHandleTest, FieldCase74_EveryFlippedBitIsFoundInThePeer) {
    Peer peer;
    flipEveryBit([&](const auto &damaged) { return peer.tryOpen(damaged); });
    EXPECT_EQ(peer.checksum(peer.open(handle()), range().size()), range().checksum());
}

TEST_F(RangeDamagedHandleTest, FieldCase74_EveryFlippedBitIsFoundInTheExporter) {
    flipEveryBit([&](const auto &damaged) { return openHere(damaged); });
    EXPECT_EQ(openResult(context(), handle()), ZE_RESULT_SUCCESS);
}

TEST_F(RangeDamagedHandleTest, FieldCase74_NonsenseIsRefusedInThePeer) {
    Peer peer;
    openNonsense([&](const auto &damaged) { return peer.tryOpen(damaged); }, 10'000);
}

TEST_F(RangeDamagedHandleTest, FieldCase74_NonsenseIsRefusedInTheExporter) {
    openNonsense([&](const auto &damaged) { return openHere(damaged); }, 10'000);
}

TEST_F(RangeDamagedHandleTest, FieldCase74_MixedHandlesAreRefusedInThePeer) {
    Peer peer;
    openMixtures([&](const auto &damaged) { return peer.tryOpen(damaged); });
}

/// One that a later driver made, as it may be once versions meet.
TEST_F(RangeDamagedHandleTest, ALaterVersionAndUnknownFlagsAreSaidToBeSo) {
    constexpr size_t flagsAt = 14;
    constexpr size_t versionAt = 12;
    Peer peer;
    for (const size_t at : {flagsAt, versionAt}) {
        auto later = handle();
        ++later.data[at];
        seal(later);
        EXPECT_EQ(openResult(context(), later), ZE_RESULT_ERROR_UNSUPPORTED_VERSION) << at;
        const Reply refused = peer.tryOpen(later);
        EXPECT_EQ(refused.result, ZE_RESULT_ERROR_UNSUPPORTED_VERSION) << at;
        EXPECT_STRNE(refused.text.data(), "");
    }
}

TEST_F(RangeDamagedHandleTest, FieldCase20_RefusedArgumentsLoseNothing) {
    constexpr auto invalid = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    auto ofAnotherKind = withDescriptor(handle(), -1);
    ofAnotherKind.data[13] = 9;
    seal(ofAnotherKind);
    auto sealed = handle();
    std::fill_n(sealed.data + 60, 4, '\0');
    seal(sealed);
    ASSERT_TRUE(equalBytes(sealed, handle()));
    auto truncated = withDescriptor(handle(), -1);
    std::fill(std::begin(truncated.data) + 32, std::end(truncated.data), '\0');
    const auto descriptors = openDescriptors();
    const auto mappings = memoryFileMappings();
    const auto space = addressSpaceBytes();
    for (int round = 0; round < 500; ++round) {
        void *ptr = nullptr;
        ASSERT_EQ(openResult(context(), truncated), invalid);
        ASSERT_EQ(openResult(context(), ofAnotherKind), invalid);
        ASSERT_EQ(openResult(context(), handle(), 0x80), ZE_RESULT_ERROR_INVALID_ENUMERATION);
        ASSERT_EQ(zeMemOpenIpcHandle(context(), nullptr, handle(), 0, &ptr),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
        ASSERT_EQ(ptr, nullptr);
    }
    EXPECT_EQ(difference(descriptors, openDescriptors()), "");
    EXPECT_EQ(memoryFileMappings(), mappings);
    EXPECT_LT(addressSpaceBytes(), space + (16 << 20));
}

TEST_F(RangeDamagedHandleTest, FieldCase20_FieldCase74_RefusalsLoseNothingInThePeer) {
    Peer peer;
    peer.close(peer.open(handle()));
    const auto descriptors = peer.descriptors();
    const auto mappings = peer.memoryFileMappings();
    const auto space = peer.addressSpace();
    flipEveryBit([&](const auto &damaged) { return peer.tryOpen(damaged); });
    openNonsense([&](const auto &damaged) { return peer.tryOpen(damaged); });
    EXPECT_EQ(peer.descriptors(), descriptors);
    EXPECT_EQ(peer.memoryFileMappings(), mappings);
    EXPECT_LT(peer.addressSpace(), space + (16 << 20));
}

TEST_F(RangeDamagedHandleTest, FieldCase20_FieldCase74_RefusalsLoseNothingInTheExporter) {
    const auto descriptors = openDescriptors();
    const auto mappings = memoryFileMappings();
    flipEveryBit([&](const auto &damaged) { return openHere(damaged); });
    openNonsense([&](const auto &damaged) { return openHere(damaged); });
    EXPECT_EQ(difference(descriptors, openDescriptors()), "");
    EXPECT_EQ(memoryFileMappings(), mappings);
}

} // namespace causeway::black_box
