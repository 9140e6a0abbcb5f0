#pragma once

#include "shared/base/result.h"

#include <level_zero/ze_api.h>

#include <cstdint>
#include <cstring>
#include <optional>

/// Walks along the chains of extension structures.
namespace causeway::api {

/// No chain that makes sense is longer; one that loops would never end.
inline constexpr int maxChainLength = 64;

/// Calls `visit(stype, node)` for each structure of a chain, in order, until one fails; `node` is a
/// pointer to the structure, as const as `pNext`. Types are numbers here, since a newer application
/// may use some that the SDK's enumeration lacks; a visitor ignores those that it does not know.
/// Errors: InvalidArgument (longer than maxChainLength), the visitor's.
template <typename Void, typename Visit>
[[nodiscard]] Result<void> walkChain(Void *pNext, Visit &&visit) {
    for (int length = 0; pNext != nullptr; ++length) {
        if (length == maxChainLength) {
            return fail(Status::InvalidArgument,
                        "the pNext chain has more than {} structures; does it loop?",
                        maxChainLength);
        }
        ze_base_desc_t header = {};
        uint32_t stype = 0;
        std::memcpy(&header, pNext, sizeof(header));
        std::memcpy(&stype, &header.stype, sizeof(stype));
        Result<void> visited = visit(stype, pNext);
        if (!visited) {
            return visited;
        }
        // The chain of a query is as writable as its head.
        pNext = const_cast<Void *>(header.pNext); // NOLINT(cppcoreguidelines-pro-type-const-cast)
    }
    return {};
}

/// What a chain says about an export.
struct ExportOptions {
    std::optional<uint64_t> rangeBytes; ///< of the range descriptor
};

/// Reads the chain of zeMemGetIpcHandleWithProperties; descriptors come in any order.
/// Errors: InvalidArgument (range descriptor twice), InvalidEnumeration (unknown handle type),
/// UnsupportedFeature (fabric handle), those of walkChain.
[[nodiscard]] Result<ExportOptions> readExportOptions(const void *pNext);

} // namespace causeway::api
