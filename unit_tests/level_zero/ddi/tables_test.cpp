#include "level_zero/ddi/tables.h"

#include "level_zero/ddi/table_lists.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace causeway::ddi {
namespace {

using ProcAddr = ze_result_t (*)(ze_api_version_t, void *);

struct TableCase {
    const char *name = nullptr;
    ProcAddr function = nullptr;
    size_t entries = 0;
};

template <typename Table, ze_result_t (*function)(ze_api_version_t, Table *)>
ze_result_t callErased(ze_api_version_t version, void *table) {
    return function(version, static_cast<Table *>(table));
}

#define ZE(Name, Type) CASE(zeGet##Name##ProcAddrTable, Type)
#define ZET(Name, Type) CASE(zetGet##Name##ProcAddrTable, Type)
#define ZES(Name, Type) CASE(zesGet##Name##ProcAddrTable, Type)
#define ZER(Name, Type) CASE(zerGet##Name##ProcAddrTable, Type)
#define CASE(function, Type)                                                                       \
    TableCase{#function, &callErased<Type, &::function>, sizeof(Type) / sizeof(void *)},
const std::vector<TableCase> allTables = {CAUSEWAY_ZE_TABLES(ZE) CAUSEWAY_ZET_TABLES(ZET)
                                              CAUSEWAY_ZES_TABLES(ZES) CAUSEWAY_ZER_TABLES(ZER)};
#undef CASE

/// What a loader would have behind its table.
void *const untouched = std::bit_cast<void *>(uint64_t{0x5a5a5a5a5a5a5a5a});

/// Far longer than any table.
using Slots = std::array<void *, 128>;

/// As a ProcAddr function takes them.
void *tableOf(Slots &slots) {
    return static_cast<void *>(slots.data());
}

Slots freshSlots() {
    Slots slots;
    slots.fill(untouched);
    return slots;
}

ze_api_version_t version(uint32_t minor) {
    return static_cast<ze_api_version_t>(ZE_MAKE_VERSION(1U, minor));
}

/// The minor version that brought each entry, in the order of the table: what loader 1.32 itself
/// honours.
struct History {
    const char *name = nullptr;
    std::vector<uint32_t> since;
};

const std::vector<History> histories = {
    {"zeGetGlobalProcAddrTable", {0, 10}},
    {"zeGetDriverProcAddrTable", {0, 0, 0, 0, 0, 1, 6, 13, 14}},
    {"zeGetDeviceProcAddrTable",
     {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 3, 7, 12, 12, 13, 14, 15, 16, 16, 16, 17}},
    {"zeGetContextProcAddrTable", {0, 0, 0, 0, 0, 0, 0, 0, 1}},
    {"zeGetMemProcAddrTable", {0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 6, 9, 15}},
    {"zeGetMemExpProcAddrTable", {6, 6, 7, 7}},
    {"zeGetPhysicalMemProcAddrTable", {0, 0, 15}},
    {"zeGetVirtualMemProcAddrTable", {0, 0, 0, 0, 0, 0, 0}},
    {"zeGetCommandQueueProcAddrTable", {0, 0, 0, 0, 9, 9, 17, 17, 17}},
    {"zeGetCommandListProcAddrTable",
     {0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0, 0,  0,
      0,  0,  0,  0,  0,  0,  0,  0,  3,  3,  6,  9,  9,  9,  9,  9, 12, 12,
      14, 14, 16, 16, 16, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17}},
    {"zeGetCommandListExpProcAddrTable", {9, 9, 9, 9, 9, 9, 10, 10, 17}},
    {"zeGetFenceProcAddrTable", {0, 0, 0, 0, 0}},
    {"zeGetEventPoolProcAddrTable", {0, 0, 0, 0, 0, 6, 9, 9}},
    {"zeGetEventProcAddrTable", {0, 0, 0, 0, 0, 0, 0, 6, 9, 9, 9, 15, 15, 15, 15, 15, 17}},
    {"zeGetEventExpProcAddrTable", {2}},
    // Of these no others are written, or later than they came: 18 for never.
    {"zeGetModuleProcAddrTable", {0, 0, 0, 0, 0, 0, 0, 0, 18}},
    {"zeGetKernelProcAddrTable", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"zeGetImageProcAddrTable", {0, 0, 0, 18, 5}},
    {"zeGetImageExpProcAddrTable", {18, 5, 18}},
    {"zeGetGraphProcAddrTable", {17, 18, 18, 18, 18, 18, 18}},
    {"zeGetSamplerProcAddrTable", {0, 0}},
};

const History *historyOf(const TableCase &table) {
    for (const History &history : histories) {
        if (std::strcmp(history.name, table.name) == 0) {
            return &history;
        }
    }
    return nullptr;
}

TEST(ProcAddrTableTest, NothingIsWrittenThatTheCallersVersionLacks) {
    for (const TableCase &table : allTables) {
        const History *history = historyOf(table);
        for (uint32_t minor = 0; minor <= 18; ++minor) {
            Slots slots = freshSlots();
            ASSERT_EQ(table.function(version(minor), tableOf(slots)), ZE_RESULT_SUCCESS);
            for (size_t i = 0; i < slots.size(); ++i) {
                const bool known =
                    history != nullptr && i < table.entries && history->since.at(i) <= minor;
                EXPECT_TRUE(known || slots[i] == untouched)
                    << table.name << " 1." << minor << ", entry " << i;
            }
        }
    }
}

TEST(ProcAddrTableTest, AnOldLoadersMemoryTableEndsAfterTenEntries) {
    Slots slots = freshSlots();
    ASSERT_EQ(zeGetMemProcAddrTable(version(4), reinterpret_cast<ze_mem_dditable_t *>(&slots)),
              ZE_RESULT_SUCCESS);
    for (size_t i = 0; i < 10; ++i) {
        EXPECT_NE(slots[i], untouched) << i;
    }
    EXPECT_EQ(slots[10], untouched);
}

TEST(ProcAddrTableTest, ACurrentLoaderGetsTheNewestEntries) {
    ze_mem_dditable_t table = {};
    ASSERT_EQ(zeGetMemProcAddrTable(ZE_API_VERSION_1_17, &table), ZE_RESULT_SUCCESS);
    EXPECT_NE(table.pfnGetIpcHandleWithProperties, nullptr);
    EXPECT_NE(table.pfnPutIpcHandle, nullptr);
}

TEST(ProcAddrTableTest, AnotherMajorVersionIsUnsupportedAndWritesNothing) {
    for (const TableCase &table : allTables) {
        for (const uint32_t major : {0U, 2U}) {
            Slots slots = freshSlots();
            const auto asked = static_cast<ze_api_version_t>(ZE_MAKE_VERSION(major, 17U));
            EXPECT_EQ(table.function(asked, tableOf(slots)), ZE_RESULT_ERROR_UNSUPPORTED_VERSION)
                << table.name;
            EXPECT_EQ(slots, freshSlots()) << table.name;
        }
    }
}

TEST(ProcAddrTableTest, ANullTableIsANullPointer) {
    for (const TableCase &table : allTables) {
        EXPECT_EQ(table.function(ZE_API_VERSION_1_17, nullptr),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER)
            << table.name;
    }
}

} // namespace
} // namespace causeway::ddi
