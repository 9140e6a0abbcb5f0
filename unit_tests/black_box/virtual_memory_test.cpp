#include "unit_tests/black_box/virtual_memory_fixture.h"

#include <bit>

namespace causeway::black_box {

namespace {

const std::byte *hintAt(uintptr_t address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that nobody has given us
    return reinterpret_cast<const std::byte *>(address);
}

} // namespace

TEST_F(VirtualMemoryTest, PageSizeIs64KiBBelow2MiBAnd2MiBFromThere) {
    constexpr size_t large = 2 << 20;
    for (const size_t size : {size_t{0}, size_t{1}, smallPage, chunk, chunk + 1, large - 1}) {
        EXPECT_EQ(pageSize(size), chunk) << size;
    }
    for (const size_t size : {large, large + 1, size_t{1} << 30, size_t{1} << 50, SIZE_MAX}) {
        EXPECT_EQ(pageSize(size), large) << size;
    }
}

// What the query says is enough to create, reserve and map.
TEST_F(VirtualMemoryTest, FieldCase57_SizesRoundedToThePageSizeWork) {
    for (const size_t wanted :
         {1UL, 4096UL, chunk, 1UL << 20, (1UL << 20) + 1, 2UL << 20, (2UL << 20) + 1, 1UL << 30}) {
        const size_t page = pageSize(wanted);
        EXPECT_TRUE(std::has_single_bit(page)) << page;
        const size_t size = (wanted + page - 1) / page * page;
        const Range range(context(), manyPieces(1, size), {.fill = Fill::Ends});
        EXPECT_TRUE(hasEnds(range.base(), size, range.objectNumber(0))) << wanted;
        EXPECT_TRUE(isBadSize(createResult(size + 1))) << wanted;
    }
    EXPECT_EQ(createResult(0), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
}

TEST_F(VirtualMemoryTest, MultiplesOf64KiBAbove2MiBWork) {
    const Range range(context(), manyPieces(1, (2 << 20) + chunk));
    EXPECT_EQ(checksumOf(range.base(), range.size()), range.checksum());
}

TEST_F(VirtualMemoryTest, HostObjectsNeedNoDevice) {
    ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, 0, smallPage};
    desc.flags = ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST;
    ze_physical_mem_handle_t object = nullptr;
    ASSERT_EQ(zePhysicalMemCreate(context(), nullptr, &desc, &object), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zePhysicalMemDestroy(context(), object), ZE_RESULT_SUCCESS);
}

TEST_F(VirtualMemoryTest, HostObjectsHaveTheGranularityOfTheSystem) {
    const Range range(context(),
                      {Piece::of(3 * smallPage).onHost(), Piece::of(smallPage).onHost()});
    EXPECT_EQ(checksumOf(range.base(), range.size()), range.checksum());
}

TEST_F(VirtualMemoryTest, FreeHintIsHonoured) {
    auto *first = reserve(16 * chunk);
    release(first, 16 * chunk);
    auto *second = reserve(16 * chunk, first);
    EXPECT_EQ(second, first);
    release(second, 16 * chunk);
}

TEST_F(VirtualMemoryTest, TakenHintGivesAnotherAddress) {
    auto *first = reserve(chunk);
    auto *second = reserve(chunk, first);
    EXPECT_NE(second, first);
    release(first, chunk);
    release(second, chunk);
}

TEST_F(VirtualMemoryTest, OddHintIsNoError) {
    auto *address = reserve(chunk, hintAt(0x12345));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % chunk, 0U);
    release(address, chunk);
}

TEST_F(VirtualMemoryTest, ReservationIsAlignedToItsPageSize) {
    auto *small = reserve(chunk);
    auto *large = reserve(2 << 20);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(small) % chunk, 0U);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % (2 << 20), 0U);
    release(small, chunk);
    release(large, 2 << 20);
}

TEST_F(VirtualMemoryTest, ReservationsFrom1GiBTo64TiBSucceed_HugeReservation) {
    auto *hint = hintAt(0x7fff0000);
    for (size_t size = size_t{1} << 30; size <= size_t{64} << 40; size *= 2) {
        void *address = nullptr;
        ASSERT_EQ(zeVirtualMemReserve(context(), hint, size, &address), ZE_RESULT_SUCCESS) << size;
        EXPECT_EQ(zeVirtualMemFree(context(), address, size), ZE_RESULT_SUCCESS) << size;
    }
}

TEST_F(VirtualMemoryTest, ImpossibleReservationIsOutOfMemory_HugeReservation) {
    for (const size_t size : {size_t{1} << 48, size_t{1} << 60, SIZE_MAX - chunk + 1}) {
        void *address = nullptr;
        EXPECT_TRUE(isOutOfMemory(zeVirtualMemReserve(context(), nullptr, size, &address))) << size;
    }
}

TEST_F(VirtualMemoryTest, ReserveRefusesBadArguments) {
    void *address = nullptr;
    EXPECT_EQ(zeVirtualMemReserve(context(), nullptr, 0, &address),
              ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(zeVirtualMemReserve(context(), nullptr, chunk + 1, &address),
              ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(zeVirtualMemReserve(context(), nullptr, chunk, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(zeVirtualMemReserve(nullptr, nullptr, chunk, &address),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(VirtualMemoryTest, FreeRefusesWhatIsNotAReservation) {
    auto *address = reserve(4 * chunk);
    EXPECT_NE(zeVirtualMemFree(context(), address + chunk, chunk), ZE_RESULT_SUCCESS);
    EXPECT_NE(zeVirtualMemFree(context(), address, 5 * chunk), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeVirtualMemFree(context(), nullptr, chunk), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(zeVirtualMemFree(context(), address, 0), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    release(address, 4 * chunk);
    EXPECT_EQ(zeVirtualMemFree(context(), address, 4 * chunk), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(VirtualMemoryTest, CreateRefusesBadArguments) {
    EXPECT_EQ(createResult(0), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_TRUE(isBadSize(createResult(1)));
    EXPECT_TRUE(isBadSize(createResult(chunk + smallPage)));
    EXPECT_TRUE(isBadSize(createResult(smallPage + 1, ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST)));
    EXPECT_EQ(createResult(chunk, 4), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    ze_physical_mem_handle_t object = nullptr;
    EXPECT_EQ(zePhysicalMemCreate(context(), firstDevice(), nullptr, &object),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, 0, chunk};
    EXPECT_EQ(zePhysicalMemCreate(context(), nullptr, &desc, &object),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_EQ(zePhysicalMemCreate(context(), firstDevice(), &desc, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(VirtualMemoryTest, FreshObjectsAreZero) {
    auto *object = createObject(context(), chunk);
    auto *address = reserve(chunk);
    map(address, chunk, object);
    uint64_t seen = 0;
    for (size_t offset = 0; offset < chunk; offset += sizeof(uint64_t)) {
        seen |= loadWord(address + offset);
    }
    EXPECT_EQ(seen, 0U);
    release(address, chunk);
    destroy(object);
}

TEST_F(VirtualMemoryTest, DataPersistsOverUnmapAndMap) {
    auto *object = createObject(context(), chunk);
    auto *first = reserve(chunk);
    map(first, chunk, object);
    fillWhole(first, chunk, 7);
    const uint64_t sum = checksumOf(first, chunk);
    unmap(first, chunk);
    auto *second = reserve(chunk);
    map(second, chunk, object);
    EXPECT_EQ(checksumOf(second, chunk), sum);
    release(first, chunk);
    release(second, chunk);
    destroy(object);
}

TEST_F(VirtualMemoryTest, SeveralMappingsOfOneObjectAreCoherent) {
    auto *object = createObject(context(), 2 * chunk);
    auto *address = reserve(6 * chunk);
    map(address, 2 * chunk, object);
    map(address + 2 * chunk, chunk, object, chunk);
    map(address + 4 * chunk, 2 * chunk, object, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
    storeWord(address + 2 * chunk, 0xC0FFEE);
    EXPECT_EQ(loadWord(address + chunk), 0xC0FFEEU);
    EXPECT_EQ(loadWord(address + 5 * chunk), 0xC0FFEEU);
    release(address, 6 * chunk);
    destroy(object);
}

TEST_F(VirtualMemoryTest, MapSpansTwoAdjacentReservations) {
    const auto reservations = reserveAdjacent(context(), {2 * chunk, 2 * chunk});
    auto *object = createObject(context(), 2 * chunk);
    auto *address = reservations[0] + chunk;
    map(address, 2 * chunk, object);
    fillWhole(address, 2 * chunk, 9);
    // The first reservation goes with its half; the other half stays.
    release(reservations[0], 2 * chunk);
    EXPECT_EQ(loadWord(reservations[1]), patternWord(9, chunk));
    EXPECT_EQ(accessAt(reservations[1], chunk).access, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    release(reservations[1], 2 * chunk);
    destroy(object);
}

TEST_F(VirtualMemoryTest, FieldCase46_DestroyedObjectStaysWhereItIsMapped) {
    auto *object = createObject(context(), chunk);
    auto *address = reserve(chunk);
    map(address, chunk, object);
    fillWhole(address, chunk, 11);
    destroy(object);
    EXPECT_EQ(loadWord(address + smallPage), patternWord(11, smallPage));
    storeWord(address, 1);
    unmap(address, chunk);
    release(address, chunk);
}

TEST_F(VirtualMemoryTest, FieldCase48_SecondDestroyIsRefused) {
    auto *object = createObject(context(), chunk);
    destroy(object);
    EXPECT_EQ(zePhysicalMemDestroy(context(), object), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(VirtualMemoryTest, FieldCase46_FreeUnmapsWhatIsMappedAndLeavesTheObjectAlive) {
    auto *object = createObject(context(), chunk);
    auto *first = reserve(4 * chunk);
    map(first + chunk, chunk, object);
    fillWhole(first + chunk, chunk, 13);
    release(first, 4 * chunk);
    auto *second = reserve(chunk);
    map(second, chunk, object);
    EXPECT_EQ(loadWord(second + 8), patternWord(13, 8));
    release(second, chunk);
    destroy(object);
}

} // namespace causeway::black_box
