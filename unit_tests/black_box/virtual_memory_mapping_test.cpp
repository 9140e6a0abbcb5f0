#include "unit_tests/black_box/fault_probe.h"
#include "unit_tests/black_box/virtual_memory_fixture.h"

#include <csignal>
#include <cstdlib>
#include <memory>

namespace causeway::black_box {

namespace {

constexpr auto readWrite = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
constexpr auto readOnly = ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY;
constexpr auto noAccess = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;

/// What a C program can pass, and the header forbids.
ze_memory_access_attribute_t wrongAccess() {
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): that is the point
    return static_cast<ze_memory_access_attribute_t>(9);
}

/// A reservation of six pages with an object of four in its middle.
class MappingTest : public VirtualMemoryTest {
  protected:
    static constexpr size_t reserved = 6 * chunk;
    static constexpr size_t mapped = 4 * chunk;
    static constexpr uint64_t number = 5;

    void SetUp() override {
        VirtualMemoryTest::SetUp();
        object_ = createObject(context(), mapped);
        reservation_ = reserve(reserved);
        map(start(), mapped, object_);
        fillWhole(start(), mapped, number);
    }

    void TearDown() override {
        release(reservation_, reserved);
        destroy(object_);
        VirtualMemoryTest::TearDown();
    }

    [[nodiscard]] std::byte *reservation() const { return reservation_; }

    [[nodiscard]] std::byte *start() const { return reservation_ + chunk; }

    [[nodiscard]] std::byte *page(size_t index) const { return start() + index * chunk; }

    [[nodiscard]] ze_physical_mem_handle_t object() const { return object_; }

    ze_result_t mapResult(const std::byte *address,
                          size_t size,
                          size_t offset = 0,
                          ze_memory_access_attribute_t access = readWrite) {
        return zeVirtualMemMap(context(), address, size, object_, offset, access);
    }

    [[nodiscard]] ze_result_t setAccess(const std::byte *address,
                                        size_t size,
                                        ze_memory_access_attribute_t access) const {
        return zeVirtualMemSetAccessAttribute(context(), address, size, access);
    }

  private:
    ze_physical_mem_handle_t object_ = nullptr;
    std::byte *reservation_ = nullptr;
};

} // namespace

TEST_F(MappingTest, FieldCase48_SecondUnmapIsSuccess) {
    unmap(start(), mapped);
    EXPECT_EQ(zeVirtualMemUnmap(context(), start(), mapped), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeVirtualMemUnmap(context(), reservation(), reserved), ZE_RESULT_SUCCESS);
}

// A part of a mapping goes, the rest stays as it was.
TEST_F(MappingTest, FieldCase47_UnmapInTheMiddleSplitsTheMapping) {
    unmap(page(1), 2 * chunk);
    EXPECT_EQ(loadWord(page(0)), patternWord(number, 0));
    EXPECT_EQ(loadWord(page(3)), patternWord(number, 3 * chunk));
    EXPECT_EQ(signalOfRead(page(1)), SIGSEGV);
    EXPECT_EQ(signalOfRead(page(2)), SIGSEGV);
    EXPECT_EQ(accessAt(start(), mapped).size, chunk);
}

TEST_F(MappingTest, HoleTakesAnotherPartOfTheObject) {
    unmap(page(1), chunk);
    map(page(1), chunk, object(), 3 * chunk);
    EXPECT_EQ(loadWord(page(1)), patternWord(number, 3 * chunk));
    storeWord(page(1), 77);
    EXPECT_EQ(loadWord(page(3)), 77U);
}

TEST_F(MappingTest, FieldCase47_OneUnmapRemovesSeveralMappings) {
    unmap(page(1), chunk);
    auto *other = createObject(context(), chunk);
    map(page(1), chunk, other);
    unmap(reservation(), reserved);
    for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(accessAt(page(i), chunk).access, noAccess);
    }
    map(start(), mapped, object());
    EXPECT_EQ(loadWord(page(1)), patternWord(number, chunk));
    destroy(other);
}

TEST_F(MappingTest, FieldCase47_TheMiddleOfThreeObjectsIsUnmappedAlone) {
    unmap(page(1), 2 * chunk);
    auto *other = createObject(context(), 2 * chunk);
    map(page(1), 2 * chunk, other);
    fillWhole(page(1), 2 * chunk, 6);
    unmap(page(1), 2 * chunk);
    EXPECT_EQ(signalOfRead(page(1)), SIGSEGV);
    EXPECT_EQ(loadWord(page(0)), patternWord(number, 0));
    EXPECT_EQ(loadWord(page(3)), patternWord(number, 3 * chunk));
    map(page(1), 2 * chunk, other);
    EXPECT_EQ(loadWord(page(2)), patternWord(6, chunk));
    destroy(other);
}

TEST_F(MappingTest, MapOverAMappingIsRefusedAndChangesNothing) {
    for (const size_t first : {size_t{0}, size_t{3}}) {
        EXPECT_EQ(mapResult(page(first), chunk), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    EXPECT_EQ(mapResult(reservation(), 2 * chunk), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(mapResult(page(3), 2 * chunk), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(signalOfRead(reservation()), SIGSEGV) << "nothing may be mapped in part";
    EXPECT_EQ(signalOfRead(page(4)), SIGSEGV);
    for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(loadWord(page(i)), patternWord(number, i * chunk));
    }
}

TEST_F(MappingTest, MapRefusesBadArguments) {
    unmap(start(), mapped);
    EXPECT_EQ(mapResult(start(), 0), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_TRUE(isBadSize(mapResult(start(), chunk + 1)));
    EXPECT_EQ(mapResult(start() + 1, chunk), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    EXPECT_TRUE(isBadSize(mapResult(start(), chunk, 1)));
    EXPECT_EQ(mapResult(nullptr, chunk), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(mapResult(start(), chunk, 0, wrongAccess()), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_EQ(zeVirtualMemMap(context(), start(), chunk, nullptr, 0, readWrite),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(MappingTest, MapBeyondTheObjectIsRefused) {
    unmap(start(), mapped);
    EXPECT_EQ(mapResult(start(), 2 * chunk, 3 * chunk), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(mapResult(start(), mapped + chunk), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(mapResult(start(), chunk, SIZE_MAX - chunk + 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(MappingTest, MapOutsideAReservationIsRefused) {
    unmap(start(), mapped);
    EXPECT_EQ(mapResult(reservation() + reserved - chunk, 2 * chunk),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    const std::unique_ptr<void, decltype(&std::free)> heap(std::aligned_alloc(chunk, chunk),
                                                           &std::free);
    EXPECT_EQ(mapResult(static_cast<std::byte *>(heap.get()), chunk),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(MappingTest, UnmapRefusesBadArguments) {
    EXPECT_EQ(zeVirtualMemUnmap(context(), nullptr, chunk), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(zeVirtualMemUnmap(context(), start(), 0), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(zeVirtualMemUnmap(context(), start(), chunk + 1), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(zeVirtualMemUnmap(context(), start() + 1, chunk),
              ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    EXPECT_EQ(loadWord(start()), patternWord(number, 0));
}

TEST_F(MappingTest, ReservedSpaceHasNoAccess) {
    unmap(start(), mapped);
    const auto stretch = accessAt(reservation(), reserved);
    EXPECT_EQ(stretch.access, noAccess);
    EXPECT_EQ(stretch.size, reserved);
    EXPECT_EQ(signalOfRead(start()), SIGSEGV);
}

TEST_F(MappingTest, ReadOnlyMappingIsReadAndNotWritten) {
    unmap(start(), mapped);
    map(start(), mapped, object(), 0, readOnly);
    EXPECT_EQ(loadWord(page(2)), patternWord(number, 2 * chunk));
    EXPECT_EQ(signalOfWrite(page(2)), SIGSEGV);
    EXPECT_EQ(accessAt(start(), mapped).access, readOnly);
}

TEST_F(MappingTest, MappingWithoutAccessIsNotRead) {
    unmap(start(), mapped);
    map(start(), mapped, object(), 0, noAccess);
    EXPECT_EQ(signalOfRead(start()), SIGSEGV);
    EXPECT_EQ(setAccess(start(), mapped, readOnly), ZE_RESULT_SUCCESS);
    EXPECT_EQ(loadWord(start()), patternWord(number, 0));
    EXPECT_EQ(setAccess(start(), mapped, readWrite), ZE_RESULT_SUCCESS);
    storeWord(start(), 1);
}

TEST_F(MappingTest, FieldCase58_AccessIsReportedPerStretch) {
    EXPECT_EQ(setAccess(page(1), 2 * chunk, readOnly), ZE_RESULT_SUCCESS);
    const auto first = accessAt(start(), mapped);
    EXPECT_EQ(first.access, readWrite);
    EXPECT_EQ(first.size, chunk);
    const auto middle = accessAt(page(1), 3 * chunk);
    EXPECT_EQ(middle.access, readOnly);
    EXPECT_EQ(middle.size, 2 * chunk);
    const auto last = accessAt(page(3), 2 * chunk);
    EXPECT_EQ(last.access, readWrite);
    EXPECT_EQ(last.size, chunk);
}

TEST_F(MappingTest, OneStretchCoversSeveralMappings) {
    unmap(page(2), 2 * chunk);
    auto *other = createObject(context(), 2 * chunk);
    map(page(2), 2 * chunk, other);
    EXPECT_EQ(accessAt(start(), mapped).size, mapped);
    destroy(other);
}

TEST_F(MappingTest, FieldCase58_AccessOfSeveralMappingsChangesAtOnce) {
    unmap(page(2), 2 * chunk);
    auto *other = createObject(context(), 2 * chunk);
    map(page(2), 2 * chunk, other);
    EXPECT_EQ(setAccess(page(1), 2 * chunk, readOnly), ZE_RESULT_SUCCESS);
    EXPECT_EQ(signalOfWrite(page(0)), 0);
    EXPECT_EQ(signalOfWrite(page(1)), SIGSEGV);
    EXPECT_EQ(signalOfWrite(page(2)), SIGSEGV);
    EXPECT_EQ(signalOfWrite(page(3)), 0);
    destroy(other);
}

TEST_F(MappingTest, FieldCase58_AccessOverAHoleIsRefusedAndChangesNothing) {
    unmap(page(1), chunk);
    EXPECT_NE(setAccess(start(), mapped, readOnly), ZE_RESULT_SUCCESS);
    EXPECT_EQ(accessAt(page(0), chunk).access, readWrite);
    EXPECT_EQ(accessAt(page(2), 2 * chunk).access, readWrite);
    storeWord(page(0), 1);
}

TEST_F(MappingTest, AccessSurvivesASplit) {
    EXPECT_EQ(setAccess(start(), mapped, readOnly), ZE_RESULT_SUCCESS);
    unmap(page(1), chunk);
    EXPECT_EQ(accessAt(page(0), chunk).access, readOnly);
    EXPECT_EQ(accessAt(page(2), 2 * chunk).access, readOnly);
    EXPECT_EQ(signalOfWrite(page(3)), SIGSEGV);
}

TEST_F(MappingTest, AccessCallsRefuseBadArguments) {
    auto access = noAccess;
    size_t size = 0;
    EXPECT_EQ(setAccess(start(), 0, readOnly), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(setAccess(start() + 1, chunk, readOnly), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    EXPECT_EQ(setAccess(start(), chunk, wrongAccess()), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_EQ(zeVirtualMemGetAccessAttribute(context(), start(), 0, &access, &size),
              ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(zeVirtualMemGetAccessAttribute(context(), start() + 1, chunk, &access, &size),
              ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    EXPECT_EQ(zeVirtualMemGetAccessAttribute(context(), start(), chunk, nullptr, &size),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(zeVirtualMemGetAccessAttribute(context(), start(), chunk, &access, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(MappingTest, AddressRangeIsTheMapping) {
    void *base = nullptr;
    size_t size = 0;
    EXPECT_EQ(zeMemGetAddressRange(context(), page(2) + 5, &base, &size), ZE_RESULT_SUCCESS);
    EXPECT_EQ(base, start());
    EXPECT_EQ(size, mapped);
    EXPECT_EQ(zeMemGetAddressRange(context(), reservation(), &base, &size),
              ZE_RESULT_ERROR_ADDRESS_NOT_FOUND);
}

} // namespace causeway::black_box
