#pragma once

#include <level_zero/ze_api.h>

namespace causeway::api {

/// A structure of the interface with its type set and all else zero.
template <typename Structure>
Structure make(ze_structure_type_t stype) {
    Structure structure = {};
    structure.stype = stype;
    return structure;
}

} // namespace causeway::api
