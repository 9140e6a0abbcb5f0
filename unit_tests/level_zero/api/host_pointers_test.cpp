#include "unit_tests/level_zero/driver_fixture.h"

#include <array>

namespace causeway::api {
namespace {

class HostPointersTest : public DriverTest {
  protected:
    ze_result_t import(size_t from, size_t size) {
        return zexDriverImportExternalPointer(driver_, &bytes_[from], size);
    }

    ze_result_t release(size_t from) {
        return zexDriverReleaseImportedPointer(driver_, &bytes_[from]);
    }

    /// Where the memory that holds the byte begins, from the array's start; -1: nowhere.
    ptrdiff_t baseOf(size_t index) {
        void *base = nullptr;
        const auto result = zexDriverGetHostPointerBaseAddress(driver_, &bytes_[index], &base);
        return result == ZE_RESULT_SUCCESS ? static_cast<char *>(base) - bytes_.data() : -1;
    }

    std::array<char, 400> bytes_ = {};
};

TEST_F(HostPointersTest, ImportedMemoryHasABaseUntilItIsReleased) {
    EXPECT_EQ(import(100, 100), ZE_RESULT_SUCCESS);
    EXPECT_EQ(baseOf(99), -1);
    EXPECT_EQ(baseOf(100), 100);
    EXPECT_EQ(baseOf(199), 100);
    EXPECT_EQ(baseOf(200), -1);
    EXPECT_EQ(release(101), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(release(100), ZE_RESULT_SUCCESS);
    EXPECT_EQ(release(100), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(baseOf(100), -1);
}

TEST_F(HostPointersTest, MemoryIsImportedAsAWholeOrInPartsOfWhatIs) {
    EXPECT_EQ(import(100, 100), ZE_RESULT_SUCCESS);
    EXPECT_EQ(import(100, 100), ZE_RESULT_SUCCESS);
    EXPECT_EQ(import(150, 50), ZE_RESULT_SUCCESS);
    EXPECT_EQ(baseOf(150), 100);
    EXPECT_EQ(import(150, 51), ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    EXPECT_EQ(import(50, 51), ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    EXPECT_EQ(import(200, 100), ZE_RESULT_SUCCESS);
    EXPECT_EQ(baseOf(250), 200);
}

TEST_F(HostPointersTest, BadArguments) {
    EXPECT_EQ(import(0, 0), ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_EQ(import(0, SIZE_MAX), ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_EQ(zexDriverImportExternalPointer(driver_, nullptr, 8),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(zexDriverReleaseImportedPointer(driver_, nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(zexDriverGetHostPointerBaseAddress(driver_, bytes_.data(), nullptr),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

/// Clients ask for these too, and have a way without them.
TEST_F(HostPointersTest, NoHandlesOfSeveralDescriptorsAreOffered) {
    for (const char *const name : {"zexMemGetIpcHandles", "zexMemOpenIpcHandles"}) {
        void *function = &bytes_;
        EXPECT_EQ(api::zeDriverGetExtensionFunctionAddress(driver_, name, &function),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(function, nullptr);
    }
}

} // namespace
} // namespace causeway::api
