#include "level_zero/ddi/dispatch.h"

#include "level_zero/ddi/table_lists.h"
#include "level_zero/ddi/tables.h"

namespace causeway::ddi {
namespace {

/// The tables of one interface, and the container of pointers to them that a loader reads.
template <typename Tables, typename Container>
struct Interface {
    Tables tables = {};
    Container container = {};
};

struct AllInterfaces {
    Interface<ze_dditable_t, ze_dditable_driver_t> core;
    Interface<zet_dditable_t, zet_dditable_driver_t> tools;
    Interface<zes_dditable_t, zes_dditable_driver_t> sysman;
    Interface<zer_dditable_t, zer_dditable_driver_t> runtime;
    ze_handle_t dispatch = {};
};

template <typename Container>
void validate(Container &container) {
    container.version = ZE_API_VERSION_1_17;
    container.isValidFlag = 1;
}

template <typename Table>
Table *filled(Table &table) {
    fill(table, ZE_API_VERSION_1_17);
    return &table;
}

/// Points all containers at their tables, which do not move afterwards.
void connect(AllInterfaces &all) {
    auto &[core, tools, sysman, runtime, dispatch] = all;
    validate(core.container);
    validate(tools.container);
    validate(sysman.container);
    validate(runtime.container);
#define POINT(Name, Type) core.container.Name = filled(core.tables.Name);
    CAUSEWAY_ZE_TABLES(POINT)
#undef POINT
#define POINT(Name, Type) tools.container.Name = filled(tools.tables.Name);
    CAUSEWAY_ZET_TABLES(POINT)
#undef POINT
#define POINT(Name, Type) sysman.container.Name = filled(sysman.tables.Name);
    CAUSEWAY_ZES_TABLES(POINT)
#undef POINT
#define POINT(Name, Type) runtime.container.Name = filled(runtime.tables.Name);
    CAUSEWAY_ZER_TABLES(POINT)
#undef POINT
    dispatch = {.pCore = &core.container,
                .pTools = &tools.container,
                .pSysman = &sysman.container,
                .pRuntime = &runtime.container};
}

} // namespace

const ze_handle_t &dispatch() {
    // Never destroyed: handles stay usable during exit.
    static const AllInterfaces *const all = [] {
        auto *made = new AllInterfaces;
        connect(*made);
        return made;
    }();
    return all->dispatch;
}

} // namespace causeway::ddi
