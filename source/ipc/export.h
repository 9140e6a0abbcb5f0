#pragma once

#include "shared/base/unique_fd.h"
#include "shared/wire/ipc_handle.h"
#include "source/ipc/ticket.h"
#include "source/kmd/kmd.h"
#include "source/memory/range_snapshot.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace causeway::ipc {

/// A table of 10 million pieces. No exporter makes a longer one; an importer takes it for an attack
/// on its memory.
inline constexpr uint64_t mostTableBytes = uint64_t{256} << 20;

/// One file of an export, and what of it the window shows. Its descriptor is made when a peer asks.
struct ExportedObject {
    std::shared_ptr<kmd::Backing> backing;
    std::vector<kmd::Extent> extents;
};

/// Which export it is, for a Get that repeats an earlier one.
struct ExportKey {
    const void *owner = nullptr; ///< the context, as an identity only; never followed
    wire::HandleKind kind = wire::HandleKind::Range;
    uint64_t address = 0;   ///< of an object that is mapped nowhere: its own
    uint64_t mappingId = 0; ///< of a single object's address: which memory was there
    uint64_t windowBytes = 0;
    uint32_t flags = 0;

    auto operator<=>(const ExportKey &) const = default;
};

/// A shared window: the snapshot keeps the memory, the table tells its layout. Immutable; the
/// server and opens in progress share it by reference, so that a Put never pulls it away under
/// them. But for `tableFile`, which is the server's thread's alone.
struct Export {
    ExportKey key;
    wire::Token token = {};
    memory::RangeSnapshot snapshot;
    std::vector<std::byte> table; ///< encoded, ready to send
    /// The table as a file, one for all who ask at the same time.
    mutable std::weak_ptr<const UniqueFd> tableFile;
    std::vector<ExportedObject> objects; ///< in the table's order
    std::unique_ptr<TicketedHandle> handle;
};

} // namespace causeway::ipc
