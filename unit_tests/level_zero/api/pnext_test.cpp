#include "level_zero/api/pnext.h"

#include "unit_tests/level_zero/structures.h"

#include <gtest/gtest.h>
#include <level_zero/ze_ipc_phys_mem_handle_range.h>

#include <array>
#include <vector>

namespace causeway::api {
namespace {

ze_ipc_phys_mem_handle_range_ext_desc_t range(size_t size, const void *pNext = nullptr) {
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): newer than the enumeration
    return {.stype = ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC,
            .pNext = pNext,
            .size = size};
}

ze_ipc_mem_handle_type_ext_desc_t handleType(uint32_t flags, const void *pNext = nullptr) {
    return {.stype = ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC,
            .pNext = pNext,
            .typeFlags = flags};
}

/// A structure that no SDK declares, its type beyond what the enumeration can hold.
struct Unknown {
    uint32_t stype = 0xfedcba98;
    const void *pNext = nullptr;
};

Status statusOf(const void *pNext) {
    auto options = readExportOptions(pNext);
    EXPECT_FALSE(options);
    return options ? Status::Unknown : options.error().status;
}

TEST(ExportOptionsTest, AnEmptyChainHasNoRange) {
    auto options = readExportOptions(nullptr);
    ASSERT_TRUE(options);
    EXPECT_FALSE(options->rangeBytes);
}

TEST(ExportOptionsTest, DescriptorsComeInAnyOrder) {
    const auto lastType = handleType(ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT);
    const auto firstRange = range(4096, &lastType);
    EXPECT_EQ(readExportOptions(&firstRange)->rangeBytes, 4096U);
    const auto lastRange = range(8192);
    const auto firstType = handleType(0, &lastRange);
    EXPECT_EQ(readExportOptions(&firstType)->rangeBytes, 8192U);
}

TEST(ExportOptionsTest, UnknownStructuresAreIgnored) {
    const auto inner = range(4096);
    const Unknown outer = {.pNext = &inner};
    EXPECT_EQ(readExportOptions(&outer)->rangeBytes, 4096U);
}

TEST(ExportOptionsTest, ASizeOfZeroIsLeftToTheExport) {
    const auto desc = range(0);
    EXPECT_EQ(readExportOptions(&desc)->rangeBytes, 0U);
}

TEST(ExportOptionsTest, TwoRangesAreInvalid) {
    const auto second = range(4096);
    const auto first = range(4096, &second);
    EXPECT_EQ(statusOf(&first), Status::InvalidArgument);
}

TEST(ExportOptionsTest, FabricHandlesAreUnsupported) {
    const auto fabric = handleType(ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE);
    EXPECT_EQ(statusOf(&fabric), Status::UnsupportedFeature);
    const auto unknown = handleType(4);
    EXPECT_EQ(statusOf(&unknown), Status::InvalidEnumeration);
}

TEST(ChainTest, ALoopIsInvalidAndEnds) {
    auto desc = handleType(0);
    desc.pNext = &desc;
    EXPECT_EQ(statusOf(&desc), Status::InvalidArgument);
}

TEST(ChainTest, TheLongestChainPassesAndOneMoreDoesNot) {
    std::vector<Unknown> nodes(maxChainLength);
    for (size_t i = 0; i + 1 < nodes.size(); ++i) {
        nodes[i].pNext = &nodes[i + 1];
    }
    EXPECT_TRUE(readExportOptions(nodes.data()));
    const Unknown more = {.pNext = nodes.data()};
    EXPECT_EQ(statusOf(&more), Status::InvalidArgument);
}

} // namespace
} // namespace causeway::api
