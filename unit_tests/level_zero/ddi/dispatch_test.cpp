#include "level_zero/ddi/dispatch.h"

#include "level_zero/api/function_names.h"
#include "level_zero/ddi/table_lists.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

namespace causeway::ddi {
namespace {

TEST(DispatchTest, EveryInterfaceIsValidAndComplete) {
    const ze_handle_t &dispatch = ddi::dispatch();
    EXPECT_EQ(dispatch.pCore->version, ZE_API_VERSION_1_17);
    EXPECT_EQ(dispatch.pCore->isValidFlag, 1);
    EXPECT_EQ(dispatch.pTools->isValidFlag, 1);
    EXPECT_EQ(dispatch.pSysman->isValidFlag, 1);
    EXPECT_EQ(dispatch.pRuntime->isValidFlag, 1);
#define CHECK(Name, Type) EXPECT_NE(container.Name, nullptr) << #Name;
    {
        const ze_dditable_driver_t &container = *dispatch.pCore;
        CAUSEWAY_ZE_TABLES(CHECK)
    }
    {
        const zet_dditable_driver_t &container = *dispatch.pTools;
        CAUSEWAY_ZET_TABLES(CHECK)
    }
    {
        const zes_dditable_driver_t &container = *dispatch.pSysman;
        CAUSEWAY_ZES_TABLES(CHECK)
    }
    {
        const zer_dditable_driver_t &container = *dispatch.pRuntime;
        CAUSEWAY_ZER_TABLES(CHECK)
    }
#undef CHECK
}

template <typename Table>
void collect(const Table *table, std::multiset<void *> &found) {
    std::vector<void *> slots(sizeof(Table) / sizeof(void *));
    std::memcpy(static_cast<void *>(slots.data()), table, sizeof(Table));
    for (void *slot : slots) {
        if (slot != nullptr) {
            found.insert(slot);
        }
    }
}

TEST(DispatchTest, EveryFunctionWithANameIsInOneTableAndNoneIsTwice) {
    std::multiset<void *> inTables;
    const ze_dditable_driver_t &container = *ddi::dispatch().pCore;
#define COLLECT(Name, Type) collect(container.Name, inTables);
    CAUSEWAY_ZE_TABLES(COLLECT)
#undef COLLECT
    std::multiset<void *> byName;
    for (const api::NamedFunction &function : api::namedFunctions()) {
        if (!function.name.starts_with("zex")) { // private names have no table
            byName.insert(function.address);
        }
    }
    for (void *function : byName) {
        EXPECT_EQ(inTables.count(function), 1U);
        EXPECT_EQ(byName.count(function), 1U);
    }
    // What the tables hold besides are refusals, which nobody should find by name.
    EXPECT_GT(inTables.size(), byName.size());
    EXPECT_EQ(std::set<void *>(inTables.begin(), inTables.end()).size(), inTables.size());
}

} // namespace
} // namespace causeway::ddi
