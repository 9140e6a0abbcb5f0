#include "shared/base/memory_kinds.h"

#include <fmt/core.h>

namespace causeway {

std::string_view toString(Placement placement) {
    return placement == Placement::Host ? "host" : "device";
}

std::string_view toString(Access access) {
    switch (access) {
    case Access::None:
        return "none";
    case Access::ReadOnly:
        return "read-only";
    case Access::ReadWrite:
        break;
    }
    return "read-write";
}

std::string_view toString(ObjectKind kind) {
    return kind == ObjectKind::DmaBuf ? "dma-buf" : "memfd";
}

std::string toString(const DeviceUuid &uuid) {
    std::string text;
    for (const uint8_t byte : uuid) {
        text += fmt::format("{:02x}", byte);
    }
    return text;
}

} // namespace causeway
