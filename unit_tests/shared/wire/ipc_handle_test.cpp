#include "shared/wire/ipc_handle.h"

#include "unit_tests/shared/wire/wire_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <string>

namespace causeway::wire {
namespace {

constexpr size_t magicOffset = 8;
constexpr size_t versionOffset = 12;
constexpr size_t handleBits = 8 * sizeof(HandleBytes);
constexpr size_t firstCoveredBit = 8 * magicOffset;

IpcHandle sampleHandle() {
    return {.fd = 0x11223344,
            .rendezvousFd = 17,
            .kind = HandleKind::Range,
            .serverId = 0x0123456789abcdef,
            .token = {0xa0,
                      0xa1,
                      0xa2,
                      0xa3,
                      0xa4,
                      0xa5,
                      0xa6,
                      0xa7,
                      0xa8,
                      0xa9,
                      0xaa,
                      0xab,
                      0xac,
                      0xad,
                      0xae,
                      0xaf},
            .sizeBytes = 0x0000001234567000,
            .fdIdentity = 0xfedcba9876543210,
            .pid = 4711};
}

// clang-format off
const std::vector<std::byte> goldenBytes = bytesOf({
    0x44, 0x33, 0x22, 0x11,                         // descriptor
    0x11, 0x00, 0x00, 0x00,                         // rendezvous
    'C', 'W', 'Y', 'H',                             // magic
    0x01,                                           // version
    0x03,                                           // kind: range
    0x00, 0x00,                                     // flags
    0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, // server id
    0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, // token
    0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf,
    0x00, 0x70, 0x56, 0x34, 0x12, 0x00, 0x00, 0x00, // size
    0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, // identity
    0x67, 0x12, 0x00, 0x00,                         // pid
    0xc0, 0xec, 0x2c, 0xd9,                         // CRC of bytes 8-59
});
// clang-format on

bool isAccepted(const Result<DecodedHandle> &decoded) {
    return decoded.has_value() && std::holds_alternative<IpcHandle>(*decoded);
}

void expectHandle(const HandleBytes &bytes, const IpcHandle &expected) {
    const auto decoded = decodeHandle(bytes);
    ASSERT_TRUE(isAccepted(decoded));
    EXPECT_EQ(std::get<IpcHandle>(*decoded), expected);
}

void expectDescriptorOnly(const HandleBytes &bytes, int32_t fd) {
    const auto decoded = decodeHandle(bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    ASSERT_TRUE(std::holds_alternative<DescriptorOnly>(*decoded));
    EXPECT_EQ(std::get<DescriptorOnly>(*decoded).fd, fd);
}

void expectError(const HandleBytes &bytes, Status status, std::string_view word) {
    const auto decoded = decodeHandle(bytes);
    ASSERT_FALSE(decoded.has_value());
    EXPECT_EQ(toString(decoded.error().status), toString(status));
    EXPECT_NE(decoded.error().message.find(word), std::string::npos) << decoded.error().message;
}

HandleBytes filledWith(uint8_t value) {
    HandleBytes bytes = {};
    bytes.fill(std::byte{value});
    return bytes;
}

template <typename Engine>
HandleBytes randomBytes(Engine &engine) {
    HandleBytes bytes = {};
    for (size_t i = 0; i < bytes.size(); i += 8) {
        poke(bytes, i, 8, engine());
    }
    return bytes;
}

TEST(IpcHandleTest, KnownHandleHasItsGoldenBytes) {
    EXPECT_TRUE(std::ranges::equal(encodeHandle(sampleHandle()), goldenBytes));
}

TEST(IpcHandleTest, GoldenBytesAreTheKnownHandle) {
    HandleBytes bytes = {};
    std::ranges::copy(goldenBytes, bytes.begin());
    expectHandle(bytes, sampleHandle());
}

TEST(IpcHandleTest, ExtremeFieldsSurviveARoundTrip) {
    for (const HandleKind kind :
         {HandleKind::SingleDevice, HandleKind::SingleHost, HandleKind::Range}) {
        const IpcHandle least = {.fd = std::numeric_limits<int32_t>::min(),
                                 .rendezvousFd = -1,
                                 .kind = kind,
                                 .sizeBytes = 1,
                                 .pid = std::numeric_limits<int32_t>::min()};
        expectHandle(encodeHandle(least), least);

        IpcHandle most = {.fd = std::numeric_limits<int32_t>::max(),
                          .rendezvousFd = std::numeric_limits<int32_t>::max(),
                          .kind = kind,
                          .serverId = UINT64_MAX,
                          .sizeBytes = UINT64_MAX,
                          .fdIdentity = UINT64_MAX,
                          .pid = std::numeric_limits<int32_t>::max()};
        most.token.fill(0xff);
        expectHandle(encodeHandle(most), most);
    }
}

TEST(IpcHandleTest, ClientsMayReplaceDescriptorAndRendezvous) {
    for (size_t bit = 0; bit < firstCoveredBit; ++bit) {
        HandleBytes bytes = encodeHandle(sampleHandle());
        flipBit(bytes, bit);
        const auto decoded = decodeHandle(bytes);
        ASSERT_TRUE(isAccepted(decoded)) << "bit " << bit;
        IpcHandle handle = std::get<IpcHandle>(*decoded);
        EXPECT_NE(handle, sampleHandle()) << "bit " << bit;
        handle.fd = sampleHandle().fd;
        handle.rendezvousFd = sampleHandle().rendezvousFd;
        EXPECT_EQ(handle, sampleHandle()) << "bit " << bit;
    }
}

TEST(IpcHandleTest, EveryOtherFlippedBitIsAnErrorAndNeverDescriptorOnly) {
    for (size_t bit = firstCoveredBit; bit < handleBits; ++bit) {
        HandleBytes bytes = encodeHandle(sampleHandle());
        flipBit(bytes, bit);
        const auto decoded = decodeHandle(bytes);
        ASSERT_FALSE(decoded.has_value()) << "bit " << bit;
        const Status expected =
            bit / 8 == versionOffset ? Status::UnsupportedVersion : Status::InvalidArgument;
        EXPECT_EQ(toString(decoded.error().status), toString(expected)) << "bit " << bit;
    }
}

TEST(IpcHandleTest, NoTwoFlippedBitsMakeAnotherAcceptedHandle) {
    HandleBytes bytes = encodeHandle(sampleHandle());
    for (size_t first = firstCoveredBit; first < handleBits; ++first) {
        flipBit(bytes, first);
        for (size_t second = first + 1; second < handleBits; ++second) {
            flipBit(bytes, second);
            ASSERT_FALSE(isAccepted(decodeHandle(bytes))) << "bits " << first << ", " << second;
            flipBit(bytes, second);
        }
        flipBit(bytes, first);
    }
}

TEST(IpcHandleTest, DescriptorWithZerosIsDescriptorOnly) {
    HandleBytes bytes = {};
    expectDescriptorOnly(bytes, 0);
    poke(bytes, 0, 4, 42);
    expectDescriptorOnly(bytes, 42);
}

TEST(IpcHandleTest, NegativeDescriptorIsLeftToTheCaller) {
    HandleBytes bytes = {};
    poke(bytes, 0, 4, 0xffffffff);
    expectDescriptorOnly(bytes, -1);
}

TEST(IpcHandleTest, DescriptorWithGarbageIsDescriptorOnly) {
    HandleBytes bytes = filledWith(0xff);
    expectDescriptorOnly(bytes, -1);
    poke(bytes, 0, 4, 7);
    expectDescriptorOnly(bytes, 7);
}

TEST(IpcHandleTest, RandomBytesAreDescriptorOnly) {
    std::mt19937_64 engine(20250101); // fixed: repeatable
    for (int i = 0; i < 10'000; ++i) {
        HandleBytes bytes = randomBytes(engine);
        poke(bytes, 0, 4, static_cast<uint64_t>(i));
        expectDescriptorOnly(bytes, i);
    }
}

TEST(IpcHandleTest, RandomBytesUnderOurMagicAreErrors) {
    std::mt19937_64 engine(20250102); // fixed: repeatable
    const HandleBytes valid = encodeHandle(sampleHandle());
    for (int i = 0; i < 10'000; ++i) {
        HandleBytes bytes = randomBytes(engine);
        std::copy_n(valid.begin() + magicOffset, 5, bytes.begin() + magicOffset);
        expectError(bytes, Status::InvalidArgument, "CRC");
    }
}

TEST(IpcHandleTest, LostMagicIsDamageAndNotDescriptorOnly) {
    for (const uint64_t magic : {uint64_t{0}, uint64_t{0xffffffff}, uint64_t{0x12345678}}) {
        HandleBytes bytes = encodeHandle(sampleHandle());
        poke(bytes, magicOffset, 4, magic);
        expectError(bytes, Status::InvalidArgument, "magic");
    }
}

TEST(IpcHandleTest, TailCutToZerosIsNeverAccepted) {
    for (size_t length = 0; length < sizeof(HandleBytes); ++length) {
        HandleBytes bytes = encodeHandle(sampleHandle());
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(length), bytes.end(), std::byte{0});
        EXPECT_FALSE(isAccepted(decodeHandle(bytes))) << "length " << length;
    }
}

TEST(IpcHandleTest, OtherVersionIsUnsupportedWhateverItsCrc) {
    for (const uint64_t version : {uint64_t{0}, uint64_t{handleVersion} + 1, uint64_t{255}}) {
        HandleBytes bytes = encodeHandle(sampleHandle());
        poke(bytes, versionOffset, 1, version);
        expectError(bytes, Status::UnsupportedVersion, std::to_string(version));
    }
}

TEST(IpcHandleTest, UnknownFlagIsUnsupported) {
    for (uint32_t bit = 0; bit < 16; ++bit) {
        IpcHandle handle = sampleHandle();
        handle.flags = static_cast<uint16_t>(1U << bit);
        expectError(encodeHandle(handle), Status::UnsupportedVersion, "flags");
    }
}

TEST(IpcHandleTest, UnknownKindIsInvalid) {
    for (const int kind : {0, 4, 254, 255}) {
        IpcHandle handle = sampleHandle();
        handle.kind = static_cast<HandleKind>(kind);
        expectError(encodeHandle(handle), Status::InvalidArgument, "kind");
    }
}

TEST(IpcHandleTest, SizeZeroIsInvalid) {
    IpcHandle handle = sampleHandle();
    handle.sizeBytes = 0;
    expectError(encodeHandle(handle), Status::InvalidArgument, "size");
}

TEST(FileIdentityTest, ValuesArePartOfTheVersion) {
    EXPECT_EQ(fileIdentity(0, 0), 0x89de4eb0eb2dba92);
    EXPECT_EQ(fileIdentity(1, 2), 0xbfd14d712a143b37);
    EXPECT_EQ(fileIdentity(0xfd01, 0x123456789a), 0xc8346dc8bc02efd3);
}

TEST(FileIdentityTest, NeighboursDiffer) {
    std::set<uint64_t> seen;
    for (uint64_t device = 0; device < 100; ++device) {
        for (uint64_t inode = 0; inode < 1000; ++inode) {
            seen.insert(fileIdentity(device, inode));
        }
    }
    EXPECT_EQ(seen.size(), 100'000U);
}

TEST(FileIdentityTest, IsNeverZero) {
    // The one inode of device 0 that mixes to nothing, found by undoing the mix.
    EXPECT_EQ(fileIdentity(0, 0xa9600fb215d9cc79), 1U);
}

} // namespace
} // namespace causeway::wire
