#include "unit_tests/black_box/ipc_fixture.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

namespace causeway::black_box {

namespace {

constexpr auto notFound = ZE_RESULT_ERROR_ADDRESS_NOT_FOUND;

class RangeExportTest : public IpcTest {
  protected:
    [[nodiscard]] ze_result_t result(const std::byte *ptr, size_t size) const {
        return exportResult(context(), ptr, size);
    }

    /// Exports with this chain and checks that the peer reads the whole range.
    void expectChainWorks(const Range &range, void *chain) {
        ze_ipc_mem_handle_t handle = {};
        ASSERT_EQ(getIpcHandleWithProperties(context(), range.base(), chain, &handle),
                  ZE_RESULT_SUCCESS);
        Peer peer;
        EXPECT_EQ(peer.checksum(peer.open(handle), range.size()), range.checksum());
    }

    static ze_ipc_mem_handle_type_ext_desc_t handleType(ze_ipc_mem_handle_type_flags_t flags,
                                                        const void *pNext = nullptr) {
        return {ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC, pNext, flags};
    }
};

/// A structure that this driver has never heard of.
struct UnknownDescriptor {
    uint32_t stype = 0x7EEE0001;
    const void *pNext = nullptr;
};

} // namespace

// The rows of the specification's result table, from here on.

TEST_F(RangeExportTest, SizeZeroIsInvalidSize) {
    const Range range(context(), manyPieces(2));
    EXPECT_EQ(result(range.base(), 0), ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_NE(lastErrorDescription(), "");
    int local = 0;
    EXPECT_EQ(exportResult(context(), &local, 0), ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_F(RangeExportTest, NullPointerIsJudgedFirst) {
    EXPECT_EQ(result(nullptr, chunk), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(result(nullptr, 0), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_NE(lastErrorDescription(), "");
}

TEST_F(RangeExportTest, MissingOutputsAreRefused) {
    const Range range(context(), manyPieces(1));
    EXPECT_EQ(tryExport(context(), range.base(), chunk, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(exportResult(nullptr, range.base(), chunk), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(RangeExportTest, HoleAtTheStartIsNotFound) {
    const Range range(context(), {Piece::hole(chunk), Piece::of(2 * chunk)});
    EXPECT_EQ(result(range.base(), range.size()), notFound);
    EXPECT_EQ(result(range.piece(1) - 1, chunk), notFound);
    EXPECT_EQ(result(range.piece(1), 2 * chunk), ZE_RESULT_SUCCESS);
}

TEST_F(RangeExportTest, HoleInTheMiddleIsNotFound) {
    const Range range(context(),
                      {Piece::of(2 * chunk), Piece::hole(2 * chunk), Piece::of(2 * chunk)});
    EXPECT_EQ(result(range.base(), range.size()), notFound);
    EXPECT_EQ(result(range.base(), 2 * chunk), ZE_RESULT_SUCCESS);
    EXPECT_EQ(result(range.piece(2), 2 * chunk), ZE_RESULT_SUCCESS);
}

TEST_F(RangeExportTest, HoleAtTheEndIsNotFound) {
    const Range range(context(), {Piece::of(2 * chunk), Piece::hole(chunk)});
    EXPECT_EQ(result(range.base(), range.size()), notFound);
    EXPECT_EQ(result(range.base(), 2 * chunk + 1), notFound);
    EXPECT_EQ(result(range.base(), 2 * chunk), ZE_RESULT_SUCCESS);
}

TEST_F(RangeExportTest, HoleOfOnePageIsNotFound) {
    std::vector<Piece> pieces = {Piece::of(8 * smallPage).onHost(),
                                 Piece::hole(smallPage),
                                 Piece::of(7 * smallPage).onHost()};
    const Range range(context(), pieces);
    EXPECT_EQ(result(range.base(), range.size()), notFound);
    EXPECT_EQ(result(range.piece(1) - 1, 2), notFound);
    EXPECT_EQ(result(range.piece(1) - 1, 1), ZE_RESULT_SUCCESS);
}

// At the scale of the report.
TEST_F(RangeExportTest, FieldCase08_HalfMappedReservationIsExportedAsFarAsItIsMapped) {
    auto pieces = manyPieces(50);
    pieces.push_back(Piece::hole(50 * chunk));
    Range range(context(), pieces, {.fill = Fill::Ends});
    EXPECT_EQ(result(range.base(), 100 * chunk), notFound);
    EXPECT_EQ(result(range.base(), 50 * chunk), ZE_RESULT_SUCCESS);
    range.unmapPiece(25);
    EXPECT_EQ(result(range.base(), 50 * chunk), notFound);
    EXPECT_EQ(result(range.base(), 25 * chunk), ZE_RESULT_SUCCESS);
    EXPECT_EQ(result(range.base(), 25 * chunk + 1), notFound);
}

TEST_F(RangeExportTest, UnmappedReservationIsNotFound) {
    const Range range(context(), {Piece::hole(4 * chunk)});
    EXPECT_EQ(result(range.base(), chunk), notFound);
    EXPECT_NE(lastErrorDescription(), "");
}

TEST_F(RangeExportTest, FieldCase05_HeapMemoryIsNotFound) {
    const std::vector<std::byte> heap(4 * chunk);
    EXPECT_EQ(result(heap.data(), heap.size()), notFound);
    int local = 0;
    EXPECT_EQ(exportResult(context(), &local, sizeof(local)), notFound);
}

TEST_F(RangeExportTest, WindowThatWrapsAroundIsNotFound) {
    const Range range(context(), manyPieces(2));
    const auto address = reinterpret_cast<uintptr_t>(range.base());
    for (const size_t size :
         {SIZE_MAX, SIZE_MAX - address, SIZE_MAX - address + 1, SIZE_MAX - address + 2 + chunk}) {
        EXPECT_EQ(result(range.base(), size), notFound) << size;
    }
}

TEST_F(RangeExportTest, FieldCase05_DeviceHostAndSharedAllocationsAreInvalid) {
    const ze_device_mem_alloc_desc_t device = {
        ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
    const ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    std::array<void *, 3> usm = {};
    require(zeMemAllocDevice(context(), &device, 4 * chunk, 0, firstDevice(), &usm[0]), "device");
    require(zeMemAllocHost(context(), &host, 4 * chunk, 0, &usm[1]), "host");
    require(zeMemAllocShared(context(), &device, &host, 4 * chunk, 0, firstDevice(), &usm[2]),
            "shared");
    const auto before = openDescriptors();
    const auto mappings = memoryFileMappings();
    for (auto *ptr : usm) {
        const auto *bytes = static_cast<const std::byte *>(ptr);
        EXPECT_EQ(result(bytes, 4 * chunk), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_NE(lastErrorDescription(), "");
        EXPECT_EQ(result(bytes + chunk + 1, 5), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(result(bytes, size_t{1} << 30), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(result(bytes, 0), ZE_RESULT_ERROR_INVALID_SIZE);
    }
    EXPECT_EQ(openDescriptors(), before);
    EXPECT_EQ(memoryFileMappings(), mappings);
    for (auto *ptr : usm) {
        EXPECT_EQ(zeMemFree(context(), ptr), ZE_RESULT_SUCCESS);
    }
}

// Mapped memory first, an allocation right behind it.
TEST_F(RangeExportTest, FieldCase05_WindowThatReachesIntoAnAllocationIsInvalid) {
    const ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    void *usm = nullptr;
    require(zeMemAllocHost(context(), &host, chunk, 2 << 20, &usm), "zeMemAllocHost");
    const auto *wanted = static_cast<const std::byte *>(usm) - chunk;
    void *space = nullptr;
    require(zeVirtualMemReserve(context(), wanted, chunk, &space), "zeVirtualMemReserve");
    auto *object = createObject(context(), chunk);
    require(
        zeVirtualMemMap(context(), space, chunk, object, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
        "zeVirtualMemMap");
    const bool isAdjacent = space == wanted;
    const auto answer = result(wanted, 2 * chunk);
    require(zeVirtualMemFree(context(), space, chunk), "zeVirtualMemFree");
    require(zePhysicalMemDestroy(context(), object), "zePhysicalMemDestroy");
    require(zeMemFree(context(), usm), "zeMemFree");
    if (!isAdjacent) {
        GTEST_SKIP() << "the address space below the allocation is taken";
    }
    EXPECT_EQ(answer, ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(RangeExportTest, FailedExportLeavesTheHandleAlone) {
    ze_ipc_mem_handle_t handle = withGarbage({}, 0, sizeof(handle.data), 3);
    const auto before = handle;
    EXPECT_EQ(tryExport(context(), &handle, chunk, &handle), notFound);
    EXPECT_TRUE(equalBytes(handle, before));
}

TEST_F(RangeExportTest, FailedExportsTakeNoDescriptor) {
    const Range range(context(), {Piece::of(chunk), Piece::hole(chunk)});
    const auto before = openDescriptors();
    for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(result(range.base(), range.size()), notFound);
    }
    EXPECT_EQ(openDescriptors(), before);
}

// The pNext chain, from here on.

TEST_F(RangeExportTest, FieldCase73_HandleTypeDescriptorBehindTheRangeDescriptor) {
    const Range range(context(), manyPieces(3));
    const auto type = handleType(ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT);
    auto desc = rangeDescriptor(range.size(), &type);
    expectChainWorks(range, &desc);
}

TEST_F(RangeExportTest, FieldCase73_HandleTypeDescriptorBeforeTheRangeDescriptor) {
    const Range range(context(), manyPieces(3));
    const auto desc = rangeDescriptor(range.size());
    auto type = handleType(ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT, &desc);
    expectChainWorks(range, &type);
}

TEST_F(RangeExportTest, UnknownDescriptorsAreSkipped) {
    const Range range(context(), manyPieces(2));
    UnknownDescriptor last;
    const auto desc = rangeDescriptor(range.size(), &last);
    UnknownDescriptor first{.pNext = &desc};
    expectChainWorks(range, &first);
}

TEST_F(RangeExportTest, RangeDescriptorTwiceIsInvalid) {
    const Range range(context(), manyPieces(2));
    const auto second = rangeDescriptor(chunk);
    auto first = rangeDescriptor(chunk, &second);
    ze_ipc_mem_handle_t handle = {};
    EXPECT_EQ(getIpcHandleWithProperties(context(), range.base(), &first, &handle),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(RangeExportTest, FieldCase73_FabricHandlesAreUnsupportedInEitherOrder) {
    const Range range(context(), manyPieces(2));
    const auto fabric = handleType(ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE);
    auto desc = rangeDescriptor(range.size(), &fabric);
    ze_ipc_mem_handle_t handle = {};
    EXPECT_EQ(getIpcHandleWithProperties(context(), range.base(), &desc, &handle),
              ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    const auto plain = rangeDescriptor(range.size());
    auto first = handleType(ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE, &plain);
    EXPECT_EQ(getIpcHandleWithProperties(context(), range.base(), &first, &handle),
              ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_NE(lastErrorDescription(), "");
}

// What a handle is, and how often, from here on.

TEST_F(RangeExportTest, HandleIsNotZero) {
    const Range range(context(), manyPieces(2));
    EXPECT_FALSE(equalBytes(range.exportWhole(), ze_ipc_mem_handle_t{}));
}

TEST_F(RangeExportTest, SameRangeGivesTheSameHandle) {
    const Range range(context(), manyPieces(3));
    EXPECT_TRUE(equalBytes(range.exportWhole(), range.exportWhole()));
}

TEST_F(RangeExportTest, OtherWindowGivesAnotherHandle) {
    const Range range(context(), manyPieces(3));
    const auto whole = range.exportWhole();
    EXPECT_FALSE(equalBytes(whole, range.exportWindow(0, 2 * chunk)));
    EXPECT_FALSE(equalBytes(whole, range.exportWindow(1, 3 * chunk - 1)));
}

TEST_F(RangeExportTest, ChangedLayoutGivesAnotherHandle) {
    Range range(context(), manyPieces(3));
    const auto before = range.exportWhole();
    range.unmapPiece(1);
    range.mapNewObject(1);
    EXPECT_FALSE(equalBytes(before, range.exportWhole()));
}

TEST_F(RangeExportTest, FieldCase16_ThousandsOfGetsHoldOneDescriptor) {
    const Range range(context(), manyPieces(2));
    const auto handle = range.exportWhole();
    const auto before = openDescriptors();
    for (int i = 0; i < 5000; ++i) {
        ASSERT_TRUE(equalBytes(handle, range.exportWhole()));
    }
    EXPECT_EQ(openDescriptors(), before);
}

TEST_F(RangeExportTest, BytesZeroToThreeAreAnOpenDescriptor) {
    const Range range(context(), manyPieces(2));
    const auto before = openDescriptors();
    const int fd = descriptorOf(range.exportWhole());
    EXPECT_EQ(before.count(fd), 0U);
    EXPECT_EQ(openDescriptors().count(fd), 1U);
}

} // namespace causeway::black_box
