#include "unit_tests/source/memory/memory_fixture.h"

#include <limits>

namespace causeway::memory {
namespace {

class ReservationTest : public MemoryFixture {};

TEST_F(ReservationTest, IsAlignedToTheDevicesPage) {
    const uint64_t va = must(manager_->reserve(0, osPage));

    EXPECT_EQ(va % devicePage, 0U);
    EXPECT_TRUE(succeeds(manager_->freeReservation(va, osPage)));
}

TEST_F(ReservationTest, LargeOneIsAlignedToTheLargePage) {
    constexpr uint64_t largePage = uint64_t{2} << 20;
    (void)reserve(1);

    const uint64_t va = must(manager_->reserve(0, largePage));

    EXPECT_EQ(va % largePage, 0U);
}

TEST_F(ReservationTest, SizeMustBeAMultipleOfTheOsPageAboveZero) {
    EXPECT_TRUE(failsWith(manager_->reserve(0, 0), Status::UnsupportedSize, "not 0"));
    EXPECT_TRUE(failsWith(manager_->reserve(0, osPage + 1), Status::UnsupportedSize, "not 4097"));
    EXPECT_EQ(backend_.space().reservationCount(), 0U);
}

TEST_F(ReservationTest, MoreThanThereIsIsOutOfDeviceMemory) {
    EXPECT_TRUE(failsWith(manager_->reserve(0, uint64_t{1} << 60), Status::OutOfDeviceMemory));
    EXPECT_TRUE(failsWith(manager_->reserve(0, std::numeric_limits<uint64_t>::max() - osPage + 1),
                          Status::OutOfDeviceMemory));
}

TEST_F(ReservationTest, TakesAHugeStretchOfAddresses) {
    constexpr uint64_t huge = uint64_t{64} << 40;

    const uint64_t va = must(manager_->reserve(0, huge));

    EXPECT_TRUE(succeeds(manager_->freeReservation(va, huge)));
}

TEST_F(ReservationTest, KeepsAHintThatIsFreeEvenBelowTheLargePage) {
    constexpr uint64_t large = uint64_t{4} << 20;
    const uint64_t first = reserve(1);

    EXPECT_EQ(must(manager_->reserve(first + devicePage, large)), first + devicePage);
}

TEST_F(ReservationTest, TakesAnotherAddressWhereTheHintIsTaken) {
    const uint64_t first = reserve(4);

    const uint64_t second = reserve(4, first + devicePage);

    EXPECT_TRUE(second >= first + 4 * devicePage || second + 4 * devicePage <= first);
    EXPECT_EQ(backend_.space().reservationCount(), 2U);
}

TEST_F(ReservationTest, AHintIsNeverAnError) {
    for (const uint64_t hint : {uint64_t{1}, uint64_t{0xfff}, UINT64_MAX, UINT64_MAX - 0xffff}) {
        EXPECT_TRUE(succeeds(manager_->reserve(hint, devicePage))) << hint;
    }
}

TEST_F(ReservationTest, IsFreedWholeOnly) {
    const uint64_t va = reserve(4);
    const MemoryState before = state();

    EXPECT_TRUE(
        failsWith(manager_->freeReservation(va, devicePage), Status::InvalidArgument, "not 65536"));
    EXPECT_TRUE(
        failsWith(manager_->freeReservation(va, 5 * devicePage), Status::InvalidArgument, "has"));
    EXPECT_TRUE(failsWith(manager_->freeReservation(va, 0), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(manager_->freeReservation(va + devicePage, 3 * devicePage),
                          Status::InvalidArgument,
                          "not the start"));
    EXPECT_EQ(difference(before, state()), "");
    EXPECT_TRUE(succeeds(manager_->freeReservation(va, 4 * devicePage)));
}

TEST_F(ReservationTest, IsFreedOnce) {
    const uint64_t va = reserve(1);
    must(manager_->freeReservation(va, devicePage));

    EXPECT_TRUE(failsWith(manager_->freeReservation(va, devicePage), Status::InvalidArgument));
}

TEST_F(ReservationTest, ForeignAddressesCannotBeFreed) {
    EXPECT_TRUE(failsWith(manager_->freeReservation(0, devicePage), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(manager_->freeReservation(UINT64_MAX, 1), Status::InvalidArgument));
}

TEST_F(ReservationTest, AllocationsAndImportsAreNoReservations) {
    const uint64_t allocation = allocate(AllocationKind::Device, devicePage);
    const uint64_t import = importRange({Access::ReadWrite});

    EXPECT_TRUE(
        failsWith(manager_->freeReservation(allocation, devicePage), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(manager_->freeReservation(import, devicePage), Status::InvalidArgument));
}

TEST_F(ReservationTest, FreeingItUnmapsWhatIsInItAndKeepsTheObject) {
    const uint64_t va = reserve(4);
    const auto memory = object(2);
    map(va, 2, memory);
    map(va + 2 * devicePage, 1, memory, 1);

    EXPECT_TRUE(succeeds(manager_->freeReservation(va, 4 * devicePage)));

    EXPECT_TRUE(backend_.space().bindings().empty());
    EXPECT_EQ(backend_.fake().liveMemory(), 1U);
    const uint64_t again = reserve(2);
    map(again, 2, memory);
}

TEST_F(ReservationTest, FreeingItDropsObjectsThatNobodyElseHolds) {
    const uint64_t va = reserve(1);
    map(va, 1, object(1));
    ASSERT_EQ(backend_.fake().liveMemory(), 1U);

    must(manager_->freeReservation(va, devicePage));

    EXPECT_EQ(backend_.fake().liveMemory(), 0U);
}

TEST_F(ReservationTest, FreeingTheFirstOfTwoUnderOneMappingKeepsTheOtherPart) {
    const uint64_t first = reserve(2);
    const uint64_t second = reserveBehind(first, 2, 3);
    const auto memory = object(5);
    map(first, 5, memory);

    must(manager_->freeReservation(first, 2 * devicePage));

    const auto left = manager_->addressRange(second + devicePage);
    ASSERT_TRUE(succeeds(left));
    EXPECT_EQ(left->base, second);
    EXPECT_EQ(left->sizeBytes, 3 * devicePage);
    EXPECT_EQ(backend_.space().bindingAt(second)->offset, 2 * devicePage);
    EXPECT_EQ(must(manager_->snapshot(second, devicePage)).pieces.front().offset, 2 * devicePage);
    EXPECT_TRUE(failsWith(manager_->addressRange(first), Status::AddressNotFound));
}

TEST_F(ReservationTest, FreeingTheSecondOfTwoUnderOneMappingKeepsTheOtherPart) {
    const uint64_t first = reserve(2);
    const uint64_t second = reserveBehind(first, 2, 3);
    map(first + devicePage, 3, object(3));

    must(manager_->freeReservation(second, 3 * devicePage));

    const auto left = must(manager_->addressRange(first + devicePage));
    EXPECT_EQ(left.base, first + devicePage);
    EXPECT_EQ(left.sizeBytes, devicePage);
    must(manager_->freeReservation(first, 2 * devicePage));
    EXPECT_EQ(backend_.fake().liveMemory(), 0U);
}

TEST_F(ReservationTest, FreeingTheMiddleOfThreeUnderOneMappingKeepsBothEnds) {
    const uint64_t first = reserve(1);
    const uint64_t middle = reserveBehind(first, 1, 1);
    const uint64_t last = reserveBehind(middle, 1, 1);
    map(first, 3, object(3));

    must(manager_->freeReservation(middle, devicePage));

    EXPECT_EQ(must(manager_->addressRange(first)).sizeBytes, devicePage);
    EXPECT_EQ(must(manager_->addressRange(last)).base, last);
    EXPECT_EQ(manager_->pointerInfo(first).id, manager_->pointerInfo(last).id);
}

TEST_F(ReservationTest, ItsAddressIsUsableAgain) {
    const uint64_t va = reserve(2);
    map(va, 2, object(2));
    must(manager_->freeReservation(va, 2 * devicePage));

    EXPECT_EQ(reserve(2, va), va);
    map(va, 2, object(2));
}

} // namespace
} // namespace causeway::memory
