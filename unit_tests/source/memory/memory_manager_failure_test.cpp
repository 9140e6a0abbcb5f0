#include "unit_tests/source/memory/memory_fixture.h"

#include <functional>

namespace causeway::memory {
namespace {

/// Each operation of the back end that a call makes fails in turn: the call reports it, and all is
/// as before. Afterwards the call succeeds.
class FailureTest : public MemoryFixture {
  protected:
    void sweep(uint64_t operations, const std::function<Result<void>()> &call) {
        for (uint64_t k = 1; k <= operations; ++k) {
            SCOPED_TRACE(testing::Message() << "operation " << k);
            const MemoryState before = state();
            backend_.fake().failAt(k, Status::DeviceLost);
            EXPECT_TRUE(failsWith(call(), Status::DeviceLost, "was told to fail"));
            EXPECT_EQ(difference(before, state()), "") << backend_.fake().lastFault();
        }
        const uint64_t first = backend_.fake().operations();
        EXPECT_TRUE(succeeds(call()));
        EXPECT_EQ(backend_.fake().operations() - first, operations);
    }
};

TEST_F(FailureTest, OfAReservation) {
    sweep(1, [&]() -> Result<void> {
        auto va = manager_->reserve(0, devicePage);
        return va ? Result<void>() : forward(va);
    });
}

TEST_F(FailureTest, OfAReservationAtATakenHint) {
    const uint64_t taken = reserve(1);
    // Giving back the address that was not wanted may fail: then that one is taken after all.
    for (uint64_t k = 1; k <= 3; ++k) {
        SCOPED_TRACE(testing::Message() << "operation " << k);
        const size_t before = backend_.space().reservationCount();
        backend_.fake().failAt(k, Status::DeviceLost);
        const auto va = manager_->reserve(taken, devicePage);
        backend_.fake().failAt(0, Status::Unknown);
        EXPECT_EQ(backend_.space().reservationCount(), before + (va ? 1 : 0));
        if (va) {
            EXPECT_TRUE(succeeds(manager_->freeReservation(*va, devicePage)));
        }
    }
}

TEST_F(FailureTest, OfFreeingAReservation) {
    const uint64_t va = reserve(2);
    map(va, 2, object(2));

    sweep(1, [&] { return manager_->freeReservation(va, 2 * devicePage); });
}

TEST_F(FailureTest, OfFreeingAReservationThatCutsAMappingAtBothEnds) {
    const uint64_t first = reserve(1);
    const uint64_t middle = reserveBehind(first, 1, 1);
    (void)reserveBehind(middle, 1, 1);
    map(first, 3, object(3));

    sweep(1, [&] { return manager_->freeReservation(middle, devicePage); });
}

TEST_F(FailureTest, OfAnObject) {
    sweep(1, [&]() -> Result<void> {
        auto made = manager_->createPhysical(device(), Placement::Device, devicePage);
        return made ? Result<void>() : forward(made);
    });
}

TEST_F(FailureTest, OfAMapping) {
    const uint64_t va = reserve(2);
    const auto memory = object(2);

    sweep(1, [&] { return manager_->map(va, devicePage, memory, 0, Access::ReadOnly); });
}

TEST_F(FailureTest, OfUnmappingAWholeMapping) {
    const uint64_t va = reserve(1);
    map(va, 1, object(1));

    sweep(1, [&] { return manager_->unmap(va, devicePage); });
}

TEST_F(FailureTest, OfUnmappingTheMiddle) {
    const uint64_t va = reserve(3);
    map(va, 3, object(3));

    sweep(1, [&] { return manager_->unmap(va + devicePage, devicePage); });
}

TEST_F(FailureTest, OfUnmappingAcrossTwoMappings) {
    const uint64_t va = reserve(4);
    map(va, 2, object(2));
    map(va + 2 * devicePage, 2, object(2));

    sweep(1, [&] { return manager_->unmap(va + devicePage, 2 * devicePage); });
}

TEST_F(FailureTest, OfChangingTheAccessOfAPart) {
    const uint64_t va = reserve(3);
    map(va, 3, object(3));

    sweep(1, [&] { return manager_->setAccess(va + devicePage, devicePage, Access::None); });
}

TEST_F(FailureTest, OfAnAllocation) {
    sweep(3, [&]() -> Result<void> {
        auto va = manager_->allocate({.kind = AllocationKind::Device,
                                      .device = &device(),
                                      .sizeBytes = devicePage,
                                      .alignment = 0});
        return va ? Result<void>() : forward(va);
    });
}

TEST_F(FailureTest, OfFreeingAnAllocation) {
    const uint64_t va = allocate(AllocationKind::Device, devicePage);

    sweep(1, [&] { return manager_->free(va); });
}

TEST_F(FailureTest, OfClosingAnImport) {
    const uint64_t va = importRange({Access::ReadWrite, Access::ReadOnly}, 10, 10);

    sweep(1, [&] { return manager_->closeImport(va); });
}

TEST_F(FailureTest, OfAnImport) {
    sweep(5, [&]() -> Result<void> {
        auto transaction = manager_->beginImport(2 * devicePage);
        if (!transaction) {
            return forward(transaction);
        }
        for (const uint64_t position : {uint64_t{0}, devicePage}) {
            auto imported = manager_->importObject(
                device(), UniqueFd(), {.placement = Placement::Device, .sizeBytes = devicePage});
            if (!imported) {
                return forward(imported);
            }
            const ImportTransaction::Piece one = {.position = position,
                                                  .object = *imported,
                                                  .offset = 0,
                                                  .sizeBytes = devicePage,
                                                  .access = Access::ReadWrite,
                                                  .origin = {}};
            if (auto bound = transaction->bind({&one, 1}); !bound) {
                return bound;
            }
        }
        (void)transaction->commit(0, 2 * devicePage, device());
        return {};
    });
}

} // namespace
} // namespace causeway::memory
