#include "unit_tests/level_zero/command_fixture.h"

#include <bit>

namespace causeway::api {
namespace {

class CommandCopyTest : public CommandFixture {
  protected:
    /// Nothing of a test's failed calls was recorded.
    void TearDown() override {
        expectRecordedNothing(list_);
        CommandFixture::TearDown();
    }

    ze_result_t copy(void *dst, const void *src, size_t size = bytes) {
        return api::zeCommandListAppendMemoryCopy(list_, dst, src, size, event_, 0, nullptr);
    }

    ze_result_t copyFrom(ze_context_handle_t context, void *dst, const void *src) {
        return api::zeCommandListAppendMemoryCopyFromContext(
            list_, dst, context, src, bytes, event_, 0, nullptr);
    }

    ze_result_t fill(void *ptr, const void *pattern, size_t patternSize, size_t size = bytes) {
        return api::zeCommandListAppendMemoryFill(
            list_, ptr, pattern, patternSize, size, event_, 0, nullptr);
    }

    ze_result_t copyRegion(void *dst,
                           const ze_copy_region_t *dstRegion,
                           const void *src,
                           const ze_copy_region_t *srcRegion,
                           uint32_t pitch = 8) {
        return api::zeCommandListAppendMemoryCopyRegion(
            list_, dst, dstRegion, pitch, 64, src, srcRegion, 8, 64, event_, 0, nullptr);
    }

    /// Of `append(signal, waitCount, waits)`, whose other arguments are good ones.
    template <typename Append>
    void expectEventsAreChecked(std::string_view name, const Append &append) {
        std::array waits = {event_, destroyedEvent()};
        expectRefused(name, append(nullptr, 1, nullptr), ZE_RESULT_ERROR_INVALID_SIZE);
        constexpr auto expected = ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
        expectRefused(name, append(waits[1], 0, nullptr), expected);
        expectRefused(name, append(event_, 2, waits.data()), expected);
        waits[1] = nullptr;
        expectRefused(name, append(event_, 2, waits.data()), expected);
    }

    ze_copy_region_t region_ = {0, 0, 0, 8, 8, 1};
};

constexpr auto copyName = "zeCommandListAppendMemoryCopy";
constexpr auto fillName = "zeCommandListAppendMemoryFill";
constexpr auto regionName = "zeCommandListAppendMemoryCopyRegion";
constexpr auto fromName = "zeCommandListAppendMemoryCopyFromContext";

TEST_F(CommandCopyTest, NullPointersAreInvalid) {
    constexpr auto null = ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    expectRefused(copyName, copy(nullptr, src_), null);
    expectRefused(copyName, copy(dst_, nullptr), null);
    expectRefused(fromName, copyFrom(context_, nullptr, src_), null);
    expectRefused(fromName, copyFrom(context_, dst_, nullptr), null);
    expectRefused(fillName, fill(nullptr, src_, 1), null);
    expectRefused(fillName, fill(dst_, nullptr, 1), null);
    expectRefused(regionName, copyRegion(nullptr, &region_, src_, &region_), null);
    expectRefused(regionName, copyRegion(dst_, nullptr, src_, &region_), null);
    expectRefused(regionName, copyRegion(dst_, &region_, nullptr, &region_), null);
    expectRefused(regionName, copyRegion(dst_, &region_, src_, nullptr), null);
}

TEST_F(CommandCopyTest, EventsAreChecked) {
    expectEventsAreChecked(copyName,
                           [&](ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
                               return api::zeCommandListAppendMemoryCopy(
                                   list_, dst_, src_, bytes, signal, count, waits);
                           });
    expectEventsAreChecked(fillName,
                           [&](ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
                               return api::zeCommandListAppendMemoryFill(
                                   list_, dst_, src_, 1, bytes, signal, count, waits);
                           });
    expectEventsAreChecked(fromName,
                           [&](ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
                               return api::zeCommandListAppendMemoryCopyFromContext(
                                   list_, dst_, context_, src_, bytes, signal, count, waits);
                           });
    expectEventsAreChecked(
        regionName, [&](ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
            return api::zeCommandListAppendMemoryCopyRegion(
                list_, dst_, &region_, 8, 64, src_, &region_, 8, 64, signal, count, waits);
        });
}

TEST_F(CommandCopyTest, TheContextOfTheSourceIsALiveOne) {
    auto *const destroyed = makeContext();
    ASSERT_EQ(api::zeContextDestroy(destroyed), ZE_RESULT_SUCCESS);
    expectRefused(fromName, copyFrom(destroyed, dst_, src_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(fromName, copyFrom(nullptr, dst_, src_), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(CommandCopyTest, WindowsThatLeaveTheirMemoryAreRefused) {
    constexpr auto invalid = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    expectRefused(copyName, copy(dst_ + 1, src_), invalid);
    expectRefused(copyName, copy(dst_, src_ + 1), invalid);
    expectRefused(copyName, copy(dst_ + bytes, src_, 1), invalid);
    expectRefused(fillName, fill(dst_ + 1, src_, 1), invalid);
    expectRefused(fromName, copyFrom(context_, dst_, src_ + 1), invalid);
    region_.originZ = 3;
    region_.originX = 1;
    expectRefused(regionName, copyRegion(dst_, &region_, src_, &region_), invalid);
}

TEST_F(CommandCopyTest, ReservedAndReadOnlyMemoryIsRefused) {
    auto *const reserved = static_cast<uint8_t *>(reserve(2 * page));
    constexpr auto invalid = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    expectRefused(copyName, copy(dst_, reserved), invalid);
    ASSERT_EQ(
        api::zeVirtualMemMap(
            context_, reserved, page, makePhysical(page), 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY),
        ZE_RESULT_SUCCESS);
    expectRefused(copyName, copy(reserved, src_), invalid);
    expectRefused(fillName, fill(reserved, src_, 1), invalid);
    expectRefused(copyName, copy(dst_, reserved + page - 1, 2), invalid);
}

TEST_F(CommandCopyTest, SizesThatWrapAreRefused) {
    expectRefused(copyName, copy(dst_, src_, SIZE_MAX), ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_NE(fill(dst_, src_, 1, SIZE_MAX), ZE_RESULT_SUCCESS);
    region_ = {0, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    EXPECT_NE(copyRegion(dst_, &region_, src_, &region_), ZE_RESULT_SUCCESS);
}

TEST_F(CommandCopyTest, ARegionThatBeginsOutsideTheMemoryOfItsPointerIsRefused) {
    region_ = {UINT32_MAX, 0, 0, 1, 1, 1};
    const ze_copy_region_t inside = {0, 0, 0, 1, 1, 1};
    expectRefused(
        regionName, copyRegion(dst_, &region_, src_, &inside), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(
        regionName, copyRegion(dst_, &inside, src_, &region_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(CommandCopyTest, PatternsArePowersOfTwoThatDivideTheSize) {
    std::array<uint8_t, 256> pattern = {};
    for (const size_t size : {size_t{0}, size_t{3}, size_t{100}, size_t{256}}) {
        expectRefused(fillName, fill(dst_, pattern.data(), size), ZE_RESULT_ERROR_INVALID_SIZE);
    }
    expectRefused(fillName, fill(dst_, pattern.data(), 4, 6), ZE_RESULT_ERROR_INVALID_SIZE);
    // Nothing is read of a pattern whose size is a bad one.
    const auto *const nowhere = std::bit_cast<const void *>(uint64_t{8});
    expectRefused(fillName, fill(dst_, nowhere, 3), ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_F(CommandCopyTest, RegionsAreOfOneSizeAndDoNotOverlapThemselves) {
    const ze_copy_region_t other = {0, 0, 0, 8, 7, 1};
    expectRefused(
        regionName, copyRegion(dst_, &other, src_, &region_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expectRefused(
        regionName, copyRegion(dst_, &region_, src_, &region_, 7), ZE_RESULT_ERROR_INVALID_SIZE);
    expectRefused(regionName,
                  copyRegion(src_ + 1, &region_, src_, &region_, 9),
                  ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
}

TEST_F(CommandCopyTest, RowsBetweenThoseOfTheOtherSideDoNotOverlap) {
    // Rows of 2 bytes: read from bytes 0, 8, 16 and 24, written to bytes 2, 18, 34 and 50.
    const ze_copy_region_t region = {0, 0, 0, 2, 4, 1};
    ASSERT_EQ(api::zeCommandListAppendMemoryCopyRegion(
                  immediate_, dst_ + 2, &region, 16, 0, dst_, &region, 8, 0, nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandListHostSynchronize(immediate_, forEver), ZE_RESULT_SUCCESS);
}

TEST_F(CommandCopyTest, ACopyOfTwoDimensionsIgnoresThePitchOfSlices) {
    region_ = {1, 1, 3, 4, 2, 0};
    ASSERT_EQ(
        api::zeCommandListAppendMemoryCopyRegion(
            immediate_, dst_, &region_, 8, UINT32_MAX, src_, &region_, 8, 1, nullptr, 0, nullptr),
        ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandListHostSynchronize(immediate_, forEver), ZE_RESULT_SUCCESS);
    for (size_t i = 0; i < bytes; ++i) {
        const bool isCopied = (i >= 9 && i < 13) || (i >= 17 && i < 21);
        EXPECT_EQ(dst_[i], isCopied ? src_[i] : 0) << i;
        dst_[i] = 0; // as the fixture wants it
    }
}

TEST_F(CommandCopyTest, NoParameterIsKnownYet) {
    const auto unknown = make<ze_base_desc_t>(ZE_STRUCTURE_TYPE_FORCE_UINT32);
    expectRefused("zeCommandListAppendMemoryCopyWithParameters",
                  api::zeCommandListAppendMemoryCopyWithParameters(
                      list_, dst_, src_, bytes, &unknown, event_, 0, nullptr),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    expectRefused("zeCommandListAppendMemoryFillWithParameters",
                  api::zeCommandListAppendMemoryFillWithParameters(
                      list_, dst_, src_, 1, bytes, &unknown, event_, 0, nullptr),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

} // namespace
} // namespace causeway::api
