#include "unit_tests/source/memory/memory_fixture.h"

namespace causeway::memory {
namespace {

class PointerQueryTest : public MemoryFixture {};

void expectUnknown(const PointerInfo &info) {
    EXPECT_EQ(info.kind, PointerKind::Unknown);
    EXPECT_EQ(info.id, 0U);
    EXPECT_EQ(info.pageBytes, 0U);
    EXPECT_EQ(info.device, nullptr);
}

TEST_F(PointerQueryTest, WhatIsNotOursIsUnknown) {
    const uint64_t va = reserve(2);
    map(va, 1, object(1));

    for (const uint64_t address : {uint64_t{0}, UINT64_MAX, va - 1, va + devicePage}) {
        expectUnknown(manager_->pointerInfo(address));
        EXPECT_TRUE(failsWith(manager_->addressRange(address), Status::AddressNotFound));
    }
}

TEST_F(PointerQueryTest, AMappingIsWhatItsObjectIs) {
    const uint64_t va = reserve(2);
    map(va, 1, object(1));
    map(va + devicePage, 1, object(1, Placement::Host));

    const PointerInfo onDevice = manager_->pointerInfo(va + 5);
    const PointerInfo host = manager_->pointerInfo(va + devicePage + 5);

    EXPECT_EQ(onDevice.kind, PointerKind::Device);
    EXPECT_EQ(onDevice.device, &device());
    EXPECT_EQ(host.kind, PointerKind::Host);
    EXPECT_EQ(host.device, nullptr);
    EXPECT_NE(onDevice.id, host.id);
}

TEST_F(PointerQueryTest, PageSizeFollowsTheObjectsSize) {
    constexpr uint64_t largePage = uint64_t{2} << 20;
    const uint64_t va = must(manager_->reserve(0, 2 * largePage));
    map(va, 1, object(1));
    map(va + largePage, 1, object(largePage / devicePage));

    EXPECT_EQ(manager_->pointerInfo(va).pageBytes, devicePage);
    EXPECT_EQ(manager_->pointerInfo(va + largePage).pageBytes, largePage);
}

TEST_F(PointerQueryTest, AnImportIsItsWholeWindow) {
    const uint64_t va = importRange({Access::ReadWrite, Access::ReadOnly}, 100, 200);

    for (const uint64_t inside : {va, va + devicePage, va + 2 * devicePage - 301}) {
        const auto range = must(manager_->addressRange(inside));
        EXPECT_EQ(range.base, va);
        EXPECT_EQ(range.sizeBytes, 2 * devicePage - 300);
        EXPECT_EQ(manager_->pointerInfo(inside).kind, PointerKind::Device);
        EXPECT_EQ(manager_->pointerInfo(inside).device, &device());
        EXPECT_EQ(manager_->pointerInfo(inside).id, manager_->pointerInfo(va).id);
    }
}

TEST_F(PointerQueryTest, WhatFillsAnImportsPagesIsNotOurs) {
    const uint64_t va = importRange({Access::ReadWrite}, 100, 200);

    for (const uint64_t outside : {va - 1, va + devicePage - 300}) {
        expectUnknown(manager_->pointerInfo(outside));
        EXPECT_TRUE(failsWith(manager_->addressRange(outside), Status::AddressNotFound));
    }
}

TEST_F(PointerQueryTest, AnImportOfHostMemoryHasNoDevice) {
    const uint64_t va = importRange({Access::ReadWrite}, 0, 0, Placement::Host);

    EXPECT_EQ(manager_->pointerInfo(va).kind, PointerKind::Host);
    EXPECT_EQ(manager_->pointerInfo(va).device, nullptr);
}

TEST_F(PointerQueryTest, MappingsThatTouchAreTwo) {
    const uint64_t va = reserve(2);
    const auto memory = object(2);
    map(va, 1, memory, 0);
    map(va + devicePage, 1, memory, 1);

    EXPECT_EQ(must(manager_->addressRange(va)).sizeBytes, devicePage);
    EXPECT_EQ(must(manager_->addressRange(va + devicePage)).base, va + devicePage);
}

class ContextEndTest : public MemoryFixture {};

TEST_F(ContextEndTest, ReleasesAllThatIsLive) {
    const uint64_t first = reserve(2);
    const uint64_t second = reserveBehind(first, 2, 2);
    map(first + devicePage, 2, object(2));
    map(second + devicePage, 1, object(1, Placement::Host));
    (void)allocate(AllocationKind::Shared, devicePage);
    (void)importRange({Access::ReadWrite, Access::ReadOnly}, 10, 10);

    manager_.reset();

    EXPECT_EQ(backend_.fake().liveMemory(), 0U);
    EXPECT_EQ(backend_.fake().liveBackings(), 0U);
}

TEST_F(ContextEndTest, ObjectsLiveOnWhereTheApplicationHoldsThem) {
    const auto memory = object(1);
    map(reserve(1), 1, memory);

    manager_.reset();

    EXPECT_EQ(backend_.fake().liveMemory(), 1U);
}

TEST_F(ContextEndTest, SnapshotsHoldTheObjects) {
    const uint64_t va = reserve(1);
    map(va, 1, object(1));
    const RangeSnapshot snapshot = must(manager_->snapshot(va, devicePage));

    manager_.reset();

    EXPECT_EQ(backend_.fake().liveMemory(), 1U);
    EXPECT_EQ(snapshot.pieces.front().object->sizeBytes(), devicePage);
}

TEST_F(ContextEndTest, EachStepOfItsBeginningCanFail) {
    for (uint64_t k = 1; k <= 2; ++k) {
        WatchedBackend backend;
        backend.fake().failAt(k, Status::OutOfHostMemory);
        EXPECT_TRUE(failsWith(MemoryManager::create(backend, osPage), Status::OutOfHostMemory));
    }
}

} // namespace
} // namespace causeway::memory
