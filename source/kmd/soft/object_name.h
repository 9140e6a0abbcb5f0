#pragma once

#include "shared/base/memory_kinds.h"

#include <optional>
#include <string>
#include <string_view>

namespace causeway::kmd::soft {

/// What a file of ours says about itself in the name given to memfd_create.
struct ObjectName {
    DeviceUuid device = {};
    Placement placement = Placement::Device;
    bool bank = false; ///< holds many objects

    bool operator==(const ObjectName &) const = default;
};

/// "causeway-object-<uuid>-device", "causeway-bank-<uuid>-host".
[[nodiscard]] std::string objectName(const DeviceUuid &device, Placement placement, bool bank);

/// Reads what Os::fileName answers for such a file: "/memfd:<name> (deleted)". Nothing for any
/// other text. Anybody can make a memfd of that name: it tells files apart, it proves nothing.
[[nodiscard]] std::optional<ObjectName> parseObjectName(std::string_view procLink);

} // namespace causeway::kmd::soft
