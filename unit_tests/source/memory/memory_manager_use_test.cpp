#include "unit_tests/source/memory/memory_fixture.h"

#include <optional>

namespace causeway::memory {
namespace {

class MemoryManagerUseTest : public MemoryFixture {
  protected:
    Result<AddressUse> use(uint64_t address, uint64_t bytes, Access needed = Access::ReadWrite) {
        return manager_->use(address, bytes, needed);
    }

    [[nodiscard]] bool isKnown(uint64_t address) const {
        return manager_->pointerInfo(address).kind != PointerKind::Unknown;
    }
};

TEST_F(MemoryManagerUseTest, ForeignMemoryAndNothingAreNobodysAffair) {
    const uint64_t va = allocate(AllocationKind::Device, 100);
    EXPECT_FALSE(must(use(0x1000, 4096)).isOurs());
    EXPECT_FALSE(must(use(va, 0)).isOurs());
    EXPECT_TRUE(failsWith(use(UINT64_MAX, 2), Status::InvalidArgument, "address space"));
    must(manager_->free(va));
}

TEST_F(MemoryManagerUseTest, AnAllocationThatIsFreedInUseStaysUntilTheLastUseEnds) {
    const uint64_t va = allocate(AllocationKind::Host, 100);
    const size_t bound = backend_.space().bindings().size();
    std::optional<AddressUse> first = must(use(va, 100));
    std::optional<AddressUse> second = must(use(va + 50, 1, Access::ReadOnly));
    EXPECT_TRUE(first->isOurs());
    must(manager_->free(va));
    EXPECT_FALSE(isKnown(va));
    EXPECT_TRUE(failsWith(manager_->free(va), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(manager_->addressRange(va), Status::AddressNotFound));
    EXPECT_EQ(backend_.space().bindings().size(), bound);
    must(first->check());
    first.reset();
    EXPECT_EQ(backend_.space().bindings().size(), bound);
    second.reset();
    EXPECT_EQ(backend_.space().bindings().size(), bound - 1);
}

TEST_F(MemoryManagerUseTest, AMovedUseEndsOnce) {
    const uint64_t va = allocate(AllocationKind::Host, 100);
    {
        AddressUse first = must(use(va, 100));
        const AddressUse second = std::move(first);
        EXPECT_TRUE(second.isOurs());
    }
    must(manager_->free(va));
    EXPECT_TRUE(backend_.space().bindings().empty());
}

TEST_F(MemoryManagerUseTest, AWindowEndsWithItsAllocation) {
    const uint64_t va = allocate(AllocationKind::Device, 100);
    EXPECT_TRUE(failsWith(use(va + 1, 100), Status::InvalidArgument, "beyond the 100 bytes"));
    EXPECT_TRUE(failsWith(use(va + 100, 1), Status::InvalidArgument, "beyond"));
    EXPECT_TRUE(failsWith(use(va - 8, 16), Status::InvalidArgument, "begin outside"));
    must(manager_->free(va));
}

TEST_F(MemoryManagerUseTest, AnImportThatIsClosedInUseStays) {
    const uint64_t va = importRange({Access::ReadWrite, Access::ReadOnly}, 100, 200);
    const uint64_t window = 2 * devicePage - 300;
    std::optional<AddressUse> reading = must(use(va, window, Access::ReadOnly));
    EXPECT_TRUE(failsWith(use(va, window), Status::InvalidArgument, "must not be written"));
    EXPECT_TRUE(
        failsWith(use(va, window + 1, Access::ReadOnly), Status::InvalidArgument, "beyond"));
    EXPECT_TRUE(failsWith(use(va - 1, 2, Access::ReadOnly), Status::InvalidArgument, "beyond"));
    must(manager_->closeImport(va));
    EXPECT_FALSE(isKnown(va));
    must(reading->check());
    EXPECT_FALSE(backend_.space().bindings().empty());
    reading.reset();
    EXPECT_TRUE(backend_.space().bindings().empty());
}

TEST_F(MemoryManagerUseTest, AnImportMustKeepTheAccess) {
    const uint64_t va = importRange({Access::ReadWrite});
    const AddressUse writing = must(use(va, 8));
    must(manager_->setAccess(va, devicePage, Access::ReadOnly));
    EXPECT_TRUE(failsWith(writing.check(), Status::DeviceLost, "must not be written"));
    must(manager_->closeImport(va));
}

TEST_F(MemoryManagerUseTest, MappedWindowsMayCrossObjectsAndReservations) {
    const uint64_t first = reserve(2);
    const uint64_t second = reserveBehind(first, 2, 1);
    map(first, 1, object(1));
    map(first + devicePage, 2, object(2));
    const AddressUse all = must(use(first + 8, 3 * devicePage - 8));
    must(all.check());
    must(manager_->unmap(second, devicePage));
    EXPECT_TRUE(failsWith(all.check(), Status::DeviceLost, "nothing is mapped"));
    EXPECT_TRUE(
        failsWith(use(first, 3 * devicePage), Status::InvalidArgument, "nothing is mapped"));
}

TEST_F(MemoryManagerUseTest, WhatIsUnmappedInUseIsGoneAndTheUseTellsSo) {
    const uint64_t va = reserve(2);
    std::weak_ptr<PhysicalMemory> used;
    {
        const auto memory = object(1);
        used = memory;
        map(va, 1, memory);
    }
    const AddressUse reading = must(use(va, 8, Access::ReadOnly));
    must(manager_->unmap(va, devicePage));
    EXPECT_TRUE(used.expired());
    EXPECT_TRUE(failsWith(reading.check(), Status::DeviceLost));
}

TEST_F(MemoryManagerUseTest, MappedWindowsNeedTheAccess) {
    const uint64_t va = reserve(2);
    map(va, 1, object(1), 0, Access::ReadOnly);
    map(va + devicePage, 1, object(1), 0, Access::None);
    EXPECT_TRUE(must(use(va, devicePage, Access::ReadOnly)).isOurs());
    EXPECT_TRUE(failsWith(use(va, 1), Status::InvalidArgument, "must not be written"));
    EXPECT_TRUE(failsWith(
        use(va + devicePage, 1, Access::ReadOnly), Status::InvalidArgument, "must not be read"));
}

} // namespace
} // namespace causeway::memory
