#include "shared/os/linux_os.h"
#include "source/kmd/soft/soft_backend.h"
#include "source/memory/memory_manager.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/memory/limited_os.h"
#include "unit_tests/source/memory/result_checks.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <vector>

namespace causeway::memory {
namespace {

constexpr uint64_t osPage = 4096;
constexpr uint64_t devicePage = 64 * 1024;

/// The memory manager on the soft device: real addresses, real bytes, real failures.
class SoftMemoryManagerTest : public fakes::ResourceCheckedTest {
  protected:
    SoftMemoryManagerTest() : manager_(must(MemoryManager::create(backend_, osPage))) {}

    [[nodiscard]] const kmd::Device &device() const { return *backend_.devices()[0]; }

    [[nodiscard]] PhysicalMemoryRef object(uint64_t pages) {
        return must(manager_->createPhysical(device(), Placement::Device, pages * devicePage));
    }

    static std::byte &byteAt(uint64_t va) {
        return *reinterpret_cast<std::byte *>(va); // NOLINT(performance-no-int-to-ptr)
    }

    /// A reservation of three pages with one object, each page's first byte its number.
    [[nodiscard]] uint64_t mapThreePages() {
        const uint64_t va = must(manager_->reserve(0, 3 * devicePage));
        must(manager_->map(va, 3 * devicePage, object(3), 0, Access::ReadWrite));
        for (uint64_t page = 0; page < 3; ++page) {
            byteAt(va + page * devicePage) = static_cast<std::byte>(page + 1);
        }
        return va;
    }

    /// Each system call that `allocate` makes fails once, and nothing is left.
    void sweep(const std::function<Result<uint64_t>()> &allocate);

    void expectThreePages(uint64_t va) {
        const auto whole = must(manager_->addressRange(va));
        EXPECT_EQ(whole.base, va);
        EXPECT_EQ(whole.sizeBytes, 3 * devicePage);
        EXPECT_EQ(must(manager_->snapshot(va, 3 * devicePage)).pieces.size(), 1U);
        EXPECT_EQ(must(manager_->access(va, 3 * devicePage)).sizeBytes, 3 * devicePage);
        for (uint64_t page = 0; page < 3; ++page) {
            EXPECT_EQ(byteAt(va + page * devicePage), static_cast<std::byte>(page + 1));
        }
    }

    /// Each system call of a kind that `call` makes fails; nothing changed for the application.
    void expectUndone(fakes::OsCall kind, uint64_t va, const std::function<Result<void>()> &call) {
        faults_.failKindAt(kind, 1, ENOMEM);
        const auto before = fakes::ResourceSnapshot::take();
        EXPECT_TRUE(failsWith(call(), Status::OutOfDeviceMemory));
        EXPECT_EQ(faults_.lastFault(), kind);
        EXPECT_EQ(difference(before, fakes::ResourceSnapshot::take()), "");
        expectThreePages(va);
        EXPECT_TRUE(succeeds(call()));
    }

    fakes::FaultyOs faults_{linuxOs()};
    LimitedOs os_{faults_};
    kmd::soft::SoftBackend backend_{os_, {}};
    std::unique_ptr<MemoryManager> manager_;
};

TEST_F(SoftMemoryManagerTest, TheSameMemoryShowsAtEachMapping) {
    const uint64_t va = must(manager_->reserve(0, 2 * devicePage));
    const auto memory = object(1);
    must(manager_->map(va, devicePage, memory, 0, Access::ReadWrite));
    must(manager_->map(va + devicePage, devicePage, memory, 0, Access::ReadWrite));

    byteAt(va + 7) = std::byte{0x42};

    EXPECT_EQ(byteAt(va + devicePage + 7), std::byte{0x42});
}

TEST_F(SoftMemoryManagerTest, WhatIsUnmappedAndMappedAnewKeepsItsBytes) {
    const uint64_t va = must(manager_->reserve(0, devicePage));
    const auto memory = object(1);
    must(manager_->map(va, devicePage, memory, 0, Access::ReadWrite));
    byteAt(va) = std::byte{0x42};
    must(manager_->unmap(va, devicePage));
    must(manager_->map(va, devicePage, memory, 0, Access::ReadOnly));

    EXPECT_EQ(byteAt(va), std::byte{0x42});
}

TEST_F(SoftMemoryManagerTest, AnAllocationIsZeroedAndWritable) {
    const uint64_t va = must(manager_->allocate({.kind = AllocationKind::Shared,
                                                 .device = &device(),
                                                 .sizeBytes = 3 * devicePage,
                                                 .alignment = 0}));

    EXPECT_EQ(byteAt(va + 3 * devicePage - 1), std::byte{0});
    byteAt(va + 3 * devicePage - 1) = std::byte{1};
    must(manager_->free(va));
}

TEST_F(SoftMemoryManagerTest, AMappingAcrossTwoReservationsSurvivesTheFirstsEnd) {
    // Room for both, so that the hint is free.
    const uint64_t room = must(manager_->reserve(0, 3 * devicePage));
    must(manager_->freeReservation(room, 3 * devicePage));
    const uint64_t first = must(manager_->reserve(room, devicePage));
    const uint64_t second = must(manager_->reserve(room + devicePage, 2 * devicePage));
    if (first != room || second != room + devicePage) {
        GTEST_SKIP() << "somebody else took the room";
    }
    must(manager_->map(first, 3 * devicePage, object(3), 0, Access::ReadWrite));
    byteAt(second) = std::byte{0x42};

    must(manager_->freeReservation(first, devicePage));

    EXPECT_EQ(byteAt(second), std::byte{0x42});
    EXPECT_EQ(must(manager_->addressRange(second)).sizeBytes, 2 * devicePage);
}

TEST_F(SoftMemoryManagerTest, ReservesFarMoreThanThereIsMemory_HugeReservation) {
    constexpr uint64_t huge = uint64_t{32} << 40;
    const uint64_t va = must(manager_->reserve(0, huge));
    must(manager_->map(va + huge - devicePage, devicePage, object(1), 0, Access::ReadWrite));

    byteAt(va + huge - 1) = std::byte{1};

    must(manager_->freeReservation(va, huge));
}

TEST_F(SoftMemoryManagerTest, AFailedUnmapLeavesTheMappingWhole) {
    const uint64_t va = mapThreePages();
    expectUndone(fakes::OsCall::BlankAddress, va, [&] {
        return manager_->unmap(va + devicePage, devicePage);
    });
    EXPECT_EQ(must(manager_->addressRange(va)).sizeBytes, devicePage);
}

TEST_F(SoftMemoryManagerTest, AFailedChangeOfAccessLeavesTheMappingWhole) {
    const uint64_t va = mapThreePages();
    expectUndone(fakes::OsCall::Protect, va, [&] {
        return manager_->setAccess(va + devicePage, devicePage, Access::ReadOnly);
    });
}

TEST_F(SoftMemoryManagerTest, AFailedFreeLeavesTheReservationWhole) {
    const uint64_t va = mapThreePages();
    expectUndone(
        fakes::OsCall::Unmap, va, [&] { return manager_->freeReservation(va, 3 * devicePage); });
}

// What a command was recorded for is gone, and something else that is in use lies there, freed.
TEST_F(SoftMemoryManagerTest, AUseOfAReservationIsNotThatOfWhatLiesThereNext) {
    const uint64_t va = must(manager_->reserve(0, devicePage));
    must(manager_->map(va, devicePage, object(1), 0, Access::ReadWrite));
    const AddressUse before = must(manager_->use(va, devicePage, Access::ReadWrite));
    must(before.check());
    must(manager_->freeReservation(va, devicePage));
    const uint64_t next = must(manager_->allocate(
        {.kind = AllocationKind::Device, .device = &device(), .sizeBytes = devicePage}));
    if (next != va) {
        must(manager_->free(next));
        GTEST_SKIP() << "the kernel gave another address";
    }
    const AddressUse after = must(manager_->use(next, devicePage, Access::ReadWrite));
    must(manager_->free(next));
    must(after.check());
    EXPECT_TRUE(failsWith(before.check(), Status::DeviceLost));
}

void SoftMemoryManagerTest::sweep(const std::function<Result<uint64_t>()> &allocate) {
    uint64_t failures = 0;
    const auto resources = fakes::ResourceSnapshot::take();
    for (uint64_t k = 1; k < 100; ++k) {
        const uint64_t before = faults_.faults();
        faults_.failAt(k, ENOMEM); // a shortage of descriptors would be met with a bank
        const auto va = allocate();
        faults_.heal();
        // What trimming to the alignment could not give back, the next call does.
        must(manager_->freeReservation(must(manager_->reserve(0, osPage)), osPage));
        if (faults_.faults() == before) {
            EXPECT_TRUE(succeeds(va));
            break;
        }
        if (va) {
            must(manager_->free(*va));
        } else {
            ++failures;
            EXPECT_EQ(difference(resources, fakes::ResourceSnapshot::take()), "")
                << toString(*faults_.lastFault());
        }
    }
    EXPECT_GE(failures, 2U);
}

TEST_F(SoftMemoryManagerTest, EachSystemCallOfAnAllocationCanFail) {
    sweep([&] {
        return manager_->allocate(
            {.kind = AllocationKind::Device, .device = &device(), .sizeBytes = devicePage});
    });
}

TEST_F(SoftMemoryManagerTest, EachSystemCallOfAnImportCanFail) {
    const auto original = must(
        manager_->createPhysical(device(), Placement::Device, devicePage, kmd::FileNeed::OfItsOwn));
    const kmd::Extent whole = {.offset = 0, .sizeBytes = devicePage};
    const auto fd = must(original->backing()->exportDescriptor({&whole, 1}));
    sweep([&] {
        return manager_->importAllocation(
            {.kind = AllocationKind::Device, .device = &device(), .sizeBytes = devicePage},
            std::move(*linuxOs().duplicate(fd.get())));
    });
}

/// Where a context's end cannot release an address, the rest is released all the same.
TEST_F(SoftMemoryManagerTest, WhereMemoryIsShortItIsTriedOnceMore) {
    const uint64_t all = device().properties().memoryBytes / devicePage * devicePage;
    auto held = must(manager_->createPhysical(device(), Placement::Device, all));
    int asked = 0;
    manager_->onShortage([&] { ++asked; });
    EXPECT_TRUE(failsWith(manager_->createPhysical(device(), Placement::Device, devicePage),
                          Status::OutOfDeviceMemory));
    EXPECT_EQ(asked, 1);
    manager_->onShortage([&] { held.reset(); });
    EXPECT_TRUE(manager_->createPhysical(device(), Placement::Device, devicePage));
}

TEST_F(SoftMemoryManagerTest, AnAddressThatIsNotTakenBackAtOnceIsBeforeTheContextsEnd) {
    const auto resources = fakes::ResourceSnapshot::take();
    ASSERT_NE(mapThreePages(), mapThreePages());
    faults_.failKindAt(fakes::OsCall::Unmap, 1, ENOMEM);

    manager_.reset();

    EXPECT_EQ(device().freeBytes(), device().properties().memoryBytes);
    EXPECT_EQ(difference(resources, fakes::ResourceSnapshot::take()), "");
}

} // namespace
} // namespace causeway::memory
