#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/black_box/usm_kinds.h"

#include <array>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>

namespace causeway::black_box {

namespace {

struct Properties {
    ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
    uint64_t id = 0;
    uint64_t pageSize = 0;
    ze_device_handle_t device = nullptr;
};

class UsmTest : public DriverTest, public testing::WithParamInterface<Kind> {
  protected:
    ze_result_t tryAllocate(size_t size, size_t alignment, void **ptr) {
        return black_box::tryAllocate(context(), GetParam(), size, alignment, ptr);
    }

    std::byte *allocate(size_t size, size_t alignment = 0) {
        void *ptr = nullptr;
        require(tryAllocate(size, alignment, &ptr), "zeMemAlloc*");
        return static_cast<std::byte *>(ptr);
    }

    void free(void *ptr) { require(zeMemFree(context(), ptr), "zeMemFree"); }

    [[nodiscard]] Properties propertiesOf(const void *ptr) const {
        ze_memory_allocation_properties_t properties = {};
        properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
        ze_device_handle_t device = nullptr;
        require(zeMemGetAllocProperties(context(), ptr, &properties, &device),
                "zeMemGetAllocProperties");
        return {properties.type, properties.id, properties.pageSize, device};
    }

    static ze_memory_type_t expectedType() {
        switch (GetParam()) {
        case Kind::Device:
            return ZE_MEMORY_TYPE_DEVICE;
        case Kind::Host:
            return ZE_MEMORY_TYPE_HOST;
        case Kind::Shared:
            return ZE_MEMORY_TYPE_SHARED;
        }
        return ZE_MEMORY_TYPE_UNKNOWN;
    }
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Kinds,
                         UsmTest,
                         testing::Values(Kind::Device, Kind::Host, Kind::Shared),
                         kindName);

TEST_P(UsmTest, MemoryOfAnySizeIsWrittenAndRead) {
    for (const size_t size : {1UL, 100UL, 4096UL, 65537UL, (2UL << 20) + 1}) {
        auto *ptr = allocate(size);
        ptr[0] = std::byte{0x5A};
        ptr[size - 1] = std::byte{0xA5};
        EXPECT_EQ(ptr[size - 1], std::byte{0xA5});
        free(ptr);
    }
}

TEST_P(UsmTest, AlignmentIsHonoured) {
    for (const size_t alignment : {1UL, 64UL, 4096UL, 65536UL, 2UL << 20, 8UL << 20}) {
        auto *ptr = allocate(100, alignment);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(ptr) % alignment, 0U) << alignment;
        free(ptr);
    }
}

TEST_P(UsmTest, BadArgumentsAreRefused) {
    void *ptr = nullptr;
    EXPECT_EQ(tryAllocate(0, 0, &ptr), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(tryAllocate(100, 3, &ptr), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    EXPECT_EQ(tryAllocate(100, 0, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_NE(tryAllocate(SIZE_MAX, 0, &ptr), ZE_RESULT_SUCCESS);
}

TEST_P(UsmTest, FieldCase48_SecondFreeIsRefused) {
    auto *ptr = allocate(chunk);
    int local = 0;
    free(ptr);
    EXPECT_EQ(zeMemFree(context(), ptr), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(zeMemFree(context(), nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(zeMemFree(context(), &local), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_P(UsmTest, AddressRangeOfInteriorPointersIsTheAllocation) {
    constexpr size_t size = 3 * chunk;
    auto *ptr = allocate(size);
    for (const size_t offset : {size_t{0}, size_t{1}, chunk + 3, size - 1}) {
        void *base = nullptr;
        size_t found = 0;
        EXPECT_EQ(zeMemGetAddressRange(context(), ptr + offset, &base, &found), ZE_RESULT_SUCCESS);
        EXPECT_EQ(base, ptr);
        EXPECT_GE(found, size);
        EXPECT_LT(found, size + (2 << 20)) << "rounded to a page at most";
    }
    free(ptr);
}

TEST_P(UsmTest, AddressRangeWorksWithoutOutputs) {
    auto *ptr = allocate(chunk);
    void *base = nullptr;
    size_t size = 0;
    EXPECT_EQ(zeMemGetAddressRange(context(), ptr, &base, nullptr), ZE_RESULT_SUCCESS);
    EXPECT_EQ(base, ptr);
    EXPECT_EQ(zeMemGetAddressRange(context(), ptr, nullptr, &size), ZE_RESULT_SUCCESS);
    EXPECT_GE(size, chunk);
    EXPECT_EQ(zeMemGetAddressRange(context(), ptr, nullptr, nullptr), ZE_RESULT_SUCCESS);
    free(ptr);
    EXPECT_EQ(zeMemGetAddressRange(context(), ptr, &base, &size),
              ZE_RESULT_ERROR_ADDRESS_NOT_FOUND);
}

TEST_P(UsmTest, PropertiesTellTheKind) {
    auto *ptr = allocate(chunk);
    for (auto *inside : {ptr, ptr + chunk - 1}) {
        const auto properties = propertiesOf(inside);
        EXPECT_EQ(properties.type, expectedType());
        EXPECT_NE(properties.id, 0U);
        EXPECT_NE(properties.pageSize, 0U);
        if (GetParam() != Kind::Host) {
            EXPECT_EQ(properties.device, firstDevice());
        }
    }
    free(ptr);
}

TEST_P(UsmTest, FreedMemoryIsUnknown) {
    auto *ptr = allocate(chunk);
    free(ptr);
    EXPECT_EQ(propertiesOf(ptr).type, ZE_MEMORY_TYPE_UNKNOWN);
}

// The one signal by which clients know that an address has other memory now.
TEST_P(UsmTest, FieldCase37_IdsAreNeverUsedAgain) {
    std::set<uint64_t> ids;
    for (int round = 0; round < 200; ++round) {
        auto *ptr = allocate(chunk);
        ids.insert(propertiesOf(ptr).id);
        free(ptr);
    }
    EXPECT_EQ(ids.size(), 200U);
}

TEST_P(UsmTest, WhatIsNotFreedGoesWithTheContext) {
    auto *ptr = allocate(4 * chunk);
    ptr[0] = std::byte{1};
    // The fixture finds what stays behind.
}

using UnknownMemoryTest = UsmTest;
INSTANTIATE_TEST_SUITE_P(Once, UnknownMemoryTest, testing::Values(Kind::Device), kindName);

TEST_P(UnknownMemoryTest, FieldCase78_StackAndHeapAreUnknown) {
    int local = 0;
    EXPECT_EQ(propertiesOf(&local).type, ZE_MEMORY_TYPE_UNKNOWN);
    const auto heap = std::make_unique<int>(1);
    EXPECT_EQ(propertiesOf(heap.get()).type, ZE_MEMORY_TYPE_UNKNOWN);
    EXPECT_EQ(zeMemGetAddressRange(context(), &local, nullptr, nullptr),
              ZE_RESULT_ERROR_ADDRESS_NOT_FOUND);
}

TEST_P(UnknownMemoryTest, FieldCase78_ReservedSpaceIsUnknown) {
    auto *space = reserveAdjacent(context(), {chunk}).front();
    EXPECT_EQ(propertiesOf(space).type, ZE_MEMORY_TYPE_UNKNOWN);
    require(zeVirtualMemFree(context(), space, chunk), "zeVirtualMemFree");
}

TEST_P(UnknownMemoryTest, FieldCase12_MappedVirtualMemoryHasTheKindOfItsObject) {
    const Range range(context(), {Piece::of(chunk), Piece::of(chunk).onHost()});
    EXPECT_EQ(propertiesOf(range.piece(0)).type, ZE_MEMORY_TYPE_DEVICE);
    EXPECT_EQ(propertiesOf(range.piece(0) + 1).device, firstDevice());
    EXPECT_EQ(propertiesOf(range.piece(1)).type, ZE_MEMORY_TYPE_HOST);
    EXPECT_NE(propertiesOf(range.piece(0)).id, 0U);
    EXPECT_NE(propertiesOf(range.piece(0)).id, propertiesOf(range.piece(1)).id);
}

TEST_P(UnknownMemoryTest, FieldCase37_EachMappingHasANewId) {
    Range range(context(), manyPieces(3));
    std::set<uint64_t> ids = {propertiesOf(range.piece(1)).id};
    const uint64_t neighbour = propertiesOf(range.piece(0)).id;
    for (int round = 0; round < 50; ++round) {
        range.unmapPiece(1);
        range.mapNewObject(1);
        ids.insert(propertiesOf(range.piece(1)).id);
    }
    EXPECT_EQ(ids.size(), 51U);
    EXPECT_EQ(propertiesOf(range.piece(0)).id, neighbour);
}

} // namespace causeway::black_box
