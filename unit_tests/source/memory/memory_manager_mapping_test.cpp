#include "unit_tests/source/memory/memory_fixture.h"

namespace causeway::memory {
namespace {

class MappingTest : public MemoryFixture {
  protected:
    [[nodiscard]] Result<void> tryMap(uint64_t va,
                                      uint64_t sizeBytes,
                                      const PhysicalMemoryRef &memory,
                                      uint64_t offset = 0) {
        return manager_->map(va, sizeBytes, memory, offset, Access::ReadWrite);
    }
};

TEST_F(MappingTest, ObjectSizesAreMultiplesOfTheGranularity) {
    const auto create = [&](Placement placement, uint64_t sizeBytes) {
        return manager_->createPhysical(device(), placement, sizeBytes);
    };

    EXPECT_TRUE(failsWith(create(Placement::Device, 0), Status::UnsupportedSize, "not 0"));
    EXPECT_TRUE(failsWith(create(Placement::Device, osPage), Status::UnsupportedSize, "65536"));
    EXPECT_TRUE(failsWith(create(Placement::Host, osPage + 1), Status::UnsupportedSize, "4096"));
    EXPECT_TRUE(succeeds(create(Placement::Host, osPage)));
    EXPECT_TRUE(succeeds(create(Placement::Device, 3 * devicePage)));
}

TEST_F(MappingTest, AnObjectBeyondTheDevicesMemoryIsOutOfDeviceMemory) {
    EXPECT_TRUE(failsWith(manager_->createPhysical(device(), Placement::Device, uint64_t{1} << 50),
                          Status::OutOfDeviceMemory));
}

TEST_F(MappingTest, SizeMustBeAMultipleOfTheGranularity) {
    const uint64_t va = reserve(4);
    const auto memory = object(4);

    EXPECT_TRUE(failsWith(tryMap(va, 0, memory), Status::UnsupportedSize, "not 0"));
    EXPECT_TRUE(failsWith(tryMap(va, osPage, memory), Status::UnsupportedSize, "not 4096"));
}

TEST_F(MappingTest, AddressAndOffsetMustBeAligned) {
    const uint64_t va = reserve(4);
    const auto memory = object(4);

    EXPECT_TRUE(failsWith(tryMap(va + osPage, devicePage, memory), Status::UnsupportedAlignment));
    EXPECT_TRUE(failsWith(tryMap(va, devicePage, memory, osPage), Status::UnsupportedAlignment));
}

TEST_F(MappingTest, HostMemoryIsMappedInOsPages) {
    const uint64_t va = reserve(1);
    const auto memory = object(1, Placement::Host);

    EXPECT_TRUE(succeeds(tryMap(va + osPage, 3 * osPage, memory, 5 * osPage)));

    EXPECT_EQ(backend_.space().bindingAt(va + osPage)->offset, 5 * osPage);
}

TEST_F(MappingTest, MustNotReachBeyondTheObject) {
    const uint64_t va = reserve(4);
    const auto memory = object(2);

    EXPECT_TRUE(failsWith(tryMap(va, 3 * devicePage, memory), Status::InvalidArgument, "131072"));
    EXPECT_TRUE(failsWith(tryMap(va, 2 * devicePage, memory, devicePage), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(tryMap(va, devicePage, memory, uint64_t{0} - devicePage),
                          Status::InvalidArgument));
}

TEST_F(MappingTest, MustNotWrapAround) {
    const auto memory = object(2);

    EXPECT_TRUE(failsWith(
        tryMap(uint64_t{0} - devicePage, 2 * devicePage, memory), Status::InvalidArgument, "wrap"));
}

TEST_F(MappingTest, MustLieWhollyInReservedAddresses) {
    const uint64_t va = reserve(2);
    const auto memory = object(4);

    EXPECT_TRUE(failsWith(tryMap(va, 3 * devicePage, memory),
                          Status::InvalidArgument,
                          fmt::format("{:#x} is not reserved", va + 2 * devicePage)));
    EXPECT_TRUE(failsWith(tryMap(va - devicePage, 2 * devicePage, memory),
                          Status::InvalidArgument,
                          fmt::format("{:#x} is not reserved", va - devicePage)));
    EXPECT_TRUE(backend_.space().bindings().empty());
}

TEST_F(MappingTest, MustNotLieOverAnother) {
    const uint64_t va = reserve(4);
    const auto memory = object(4);
    map(va + devicePage, 1, memory);
    const MemoryState before = state();

    for (const uint64_t start : {va, va + devicePage}) {
        EXPECT_TRUE(
            failsWith(tryMap(start, 2 * devicePage, memory), Status::InvalidArgument, "overlaps"));
    }
    EXPECT_EQ(difference(before, state()), "");
}

TEST_F(MappingTest, MustNotLieOverAllocationsOrImports) {
    const auto memory = object(1);
    const uint64_t allocation = allocate(AllocationKind::Device, devicePage);
    const uint64_t import = importRange({Access::ReadWrite});

    EXPECT_TRUE(
        failsWith(tryMap(allocation, devicePage, memory), Status::InvalidArgument, "allocation"));
    EXPECT_TRUE(
        failsWith(tryMap(import, devicePage, memory), Status::InvalidArgument, "imported range"));
}

TEST_F(MappingTest, MaySpanReservationsThatTouch) {
    const uint64_t first = reserve(2);
    const uint64_t second = reserveBehind(first, 2, 2);

    map(first + devicePage, 2, object(2));

    const auto whole = must(manager_->addressRange(second));
    EXPECT_EQ(whole.base, first + devicePage);
    EXPECT_EQ(whole.sizeBytes, 2 * devicePage);
}

TEST_F(MappingTest, OneObjectMayBeMappedManyTimes) {
    const uint64_t va = reserve(4);
    const auto memory = object(2);

    map(va, 2, memory);
    map(va + 2 * devicePage, 1, memory, 1);
    map(va + 3 * devicePage, 1, memory, 1);

    EXPECT_EQ(backend_.space().bindings().size(), 3U);
    EXPECT_NE(manager_->pointerInfo(va + 2 * devicePage).id,
              manager_->pointerInfo(va + 3 * devicePage).id);
}

TEST_F(MappingTest, KeepsTheObjectAlive) {
    const uint64_t va = reserve(1);
    map(va, 1, object(1));

    EXPECT_EQ(backend_.fake().liveMemory(), 1U);
    must(manager_->unmap(va, devicePage));
    EXPECT_EQ(backend_.fake().liveMemory(), 0U);
}

TEST_F(MappingTest, IdsAreNeverReused) {
    const uint64_t va = reserve(1);
    const auto memory = object(1);
    uint64_t last = 0;
    for (int i = 0; i < 5; ++i) {
        map(va, 1, memory);
        const uint64_t mapping = manager_->pointerInfo(va).id;
        const uint64_t allocation = allocate(AllocationKind::Host, osPage);
        const uint64_t allocated = manager_->pointerInfo(allocation).id;
        EXPECT_GT(mapping, last);
        EXPECT_GT(allocated, mapping);
        last = allocated;
        must(manager_->free(allocation));
        must(manager_->unmap(va, devicePage));
    }
}

TEST_F(MappingTest, IdsAreNotReusedByAnotherContext) {
    const uint64_t va = reserve(1);
    map(va, 1, object(1));
    const uint64_t id = manager_->pointerInfo(va).id;
    WatchedBackend backend;
    const auto other = must(MemoryManager::create(backend, osPage));
    const uint64_t there = must(other->reserve(0, devicePage));
    must(other->map(
        there,
        devicePage,
        must(other->createPhysical(*backend.devices()[0], Placement::Device, devicePage)),
        0,
        Access::ReadWrite));

    EXPECT_GT(other->pointerInfo(there).id, id);
}

} // namespace
} // namespace causeway::memory
