/// What a loader looks up by name: one ProcAddr function per table, declared by the SDK.

#include "level_zero/ddi/table_lists.h"
#include "level_zero/ddi/tables.h"

// NOLINTBEGIN(bugprone-macro-parentheses): Type is a type
#define EXPORT(function, Type)                                                                     \
    ze_result_t ZE_APICALL function(ze_api_version_t version, Type *pDdiTable) {                   \
        return causeway::ddi::answer(version, pDdiTable);                                          \
    }
// NOLINTEND(bugprone-macro-parentheses)
#define EXPORT_ZE(Name, Type) EXPORT(zeGet##Name##ProcAddrTable, Type)
#define EXPORT_ZET(Name, Type) EXPORT(zetGet##Name##ProcAddrTable, Type)
#define EXPORT_ZES(Name, Type) EXPORT(zesGet##Name##ProcAddrTable, Type)
#define EXPORT_ZER(Name, Type) EXPORT(zerGet##Name##ProcAddrTable, Type)

extern "C" {
CAUSEWAY_ZE_TABLES(EXPORT_ZE)
CAUSEWAY_ZET_TABLES(EXPORT_ZET)
CAUSEWAY_ZES_TABLES(EXPORT_ZES)
CAUSEWAY_ZER_TABLES(EXPORT_ZER)
}
