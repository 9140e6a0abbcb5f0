// Handles of single objects: what clients of the field and conformance tests do with them.

#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/black_box/usm_kinds.h"

#include <algorithm>
#include <iterator>

namespace causeway::black_box {

namespace {

constexpr size_t size = 2 * chunk;

class ObjectIpcCasesTest : public IpcTest {
  protected:
    [[nodiscard]] ze_ipc_mem_handle_t get(const void *ptr, void *chain = nullptr) const {
        ze_ipc_mem_handle_t handle = {};
        require(getIpcHandleWithProperties(context(), ptr, chain, &handle), "export");
        return handle;
    }

    [[nodiscard]] ze_memory_type_t typeOf(const void *ptr) const {
        ze_memory_allocation_properties_t properties = {};
        properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
        require(zeMemGetAllocProperties(context(), ptr, &properties, nullptr), "properties");
        return properties.type;
    }
};

} // namespace

TEST_F(ObjectIpcCasesTest, NoHandleIsAllZero) {
    auto *base = allocateFilled(context(), Kind::Device, size);
    const auto handle = get(base);
    EXPECT_TRUE(std::ranges::any_of(handle.data, [](char byte) { return byte != 0; }));
    require(zeMemFree(context(), base), "zeMemFree");
}

TEST_F(ObjectIpcCasesTest, CachingHintsAreAcceptedAndUnknownFlagsAreNot) {
    auto *base = allocateFilled(context(), Kind::Device, size);
    const auto handle = get(base);
    Peer peer;
    for (const uint32_t flags : {0U,
                                 uint32_t{ZE_IPC_MEMORY_FLAG_BIAS_CACHED},
                                 uint32_t{ZE_IPC_MEMORY_FLAG_BIAS_UNCACHED}}) {
        const auto reply = peer.tryOpen(handle, flags);
        EXPECT_EQ(reply.result, ZE_RESULT_SUCCESS) << flags;
        EXPECT_EQ(peer.checksum(reply.address, size), checksumOf(base, size));
    }
    EXPECT_EQ(peer.tryOpen(handle, 0x80).result, ZE_RESULT_ERROR_INVALID_ENUMERATION);
    require(zeMemFree(context(), base), "zeMemFree");
}

// What an open returns is there, also for the device, at once.
TEST_F(ObjectIpcCasesTest, FieldCase63_ADeviceCopyRightAfterTheOpenSeesTheMemory) {
    const Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    const size_t last = range.size() - 8;
    Peer peer;
    const uint64_t target = peer.buildRange(1, chunk, 1);
    for (uint64_t round = 0; round < 1000; ++round) {
        storeWord(range.base() + last, round);
        const uint64_t view = peer.open(handle);
        peer.demand({.command = Command::Copy, .address = target, .size = 8, .extra = view + last});
        ASSERT_EQ(peer.word(target), round);
        ASSERT_EQ(peer.close(view), ZE_RESULT_SUCCESS);
    }
}

// The handle says what it is, whatever was asked for it.
TEST_F(ObjectIpcCasesTest, FieldCase73_TheHandleTypeIsAskedForOrNot) {
    auto *base = allocateFilled(context(), Kind::Host, size);
    ze_ipc_mem_handle_type_ext_desc_t type = {ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC,
                                              nullptr,
                                              ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT};
    EXPECT_TRUE(equalBytes(get(base, &type), get(base)));
    Peer peer;
    EXPECT_EQ(peer.checksum(peer.open(get(base, &type)), size), checksumOf(base, size));
    type.typeFlags = ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE;
    ze_ipc_mem_handle_t handle = {};
    EXPECT_EQ(getIpcHandleWithProperties(context(), base, &type, &handle),
              ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_NE(lastErrorDescription(), "");
    require(zeMemFree(context(), base), "zeMemFree");
}

// Without its check value a handle is a descriptor, and this one names nothing there.
// Bytes 4-7 carry nothing, since clients overwrite them.
TEST_F(ObjectIpcCasesTest, FieldCase74_ADamagedHandleIsRefusedInAnotherProcess) {
    auto *base = allocateFilled(context(), Kind::Device, size);
    const auto handle = withDescriptor(get(base), 9999);
    Peer peer;
    const auto before = peer.descriptors();
    for (size_t byte = 8; byte < sizeof(handle.data); ++byte) {
        for (int bit = 0; bit < 8; ++bit) {
            auto damaged = handle;
            damaged.data[byte] = static_cast<char>(damaged.data[byte] ^ (1 << bit));
            const auto reply = peer.tryOpen(damaged);
            ASSERT_TRUE(reply.result == ZE_RESULT_ERROR_INVALID_ARGUMENT ||
                        reply.result == ZE_RESULT_ERROR_UNSUPPORTED_VERSION)
                << byte << ' ' << bit;
            ASSERT_NE(reply.text.front(), '\0');
        }
    }
    EXPECT_EQ(peer.descriptors(), before);
    EXPECT_EQ(peer.checksum(peer.open(handle), size), checksumOf(base, size));
    require(zeMemFree(context(), base), "zeMemFree");
}

// What was closed, and what another context opened, is nothing here.
TEST_F(ObjectIpcCasesTest, FieldCase78_AClosedAndAForeignImportAreUnknown) {
    auto *base = allocateFilled(context(), Kind::Device, size);
    const auto handle = get(base);
    View view(context(), handle);
    const auto *address = view.base();
    EXPECT_EQ(typeOf(address), ZE_MEMORY_TYPE_DEVICE);
    view.close();
    EXPECT_EQ(typeOf(address), ZE_MEMORY_TYPE_UNKNOWN);
    {
        const Context other;
        const View elsewhere(other.get(), handle);
        EXPECT_EQ(typeOf(elsewhere.base()), ZE_MEMORY_TYPE_UNKNOWN);
    }
    require(zeMemFree(context(), base), "zeMemFree");
}

// Neither an export nor an open moves or mirrors the memory.
TEST_F(ObjectIpcCasesTest, FieldCase43_FieldCase65_SharingTakesNoMemory) {
    Peer exporter({.environment = {"CAUSEWAY_SOFT_MEMORY=16777216"}});
    Peer importer({.environment = {"CAUSEWAY_SOFT_MEMORY=16777216"}});
    constexpr size_t most = 15U << 20; // of 16 MiB
    const uint64_t source = exporter.buildRange(1, most, 5);
    const auto handle = exporter.exportObject(source);
    for (int i = 0; i < 8; ++i) {
        const auto reply = importer.tryOpen(handle);
        ASSERT_EQ(reply.result, ZE_RESULT_SUCCESS) << reply.text.data();
        EXPECT_EQ(importer.goodEnds(reply.address, most, 1, 5), 1U);
    }
    EXPECT_EQ(importer.ask({.command = Command::CountObjects, .size = most, .value = 1}).result,
              ZE_RESULT_SUCCESS)
        << "imports are not charged to the importer";
    EXPECT_EQ(exporter.ask({.command = Command::CountObjects, .size = most, .value = 1}).result,
              ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}

} // namespace causeway::black_box
