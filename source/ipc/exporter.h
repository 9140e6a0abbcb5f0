#pragma once

#include "shared/os/os.h"
#include "source/ipc/export.h"

#include <memory>

namespace causeway::ipc {

/// What an export needs of its process.
struct ExporterIdentity {
    uint64_t serverId = 0;
    int32_t rendezvousFd = -1; ///< -1: none
    int32_t pid = 0;
};

/// Builds the export of a snapshot: distinct files, merged pieces, table, token, handle and ticket.
/// `withTicket` false, or no descriptor to be had for one: the handle carries -1 in bytes 0-3 and
/// still opens by value. Errors: UnsupportedSize (a table above mostTableBytes),
/// OutOfHostMemory.
Result<std::shared_ptr<Export>> buildExport(Os &os,
                                            const ExporterIdentity &identity,
                                            const ExportKey &key,
                                            memory::RangeSnapshot snapshot,
                                            bool withTicket);

} // namespace causeway::ipc
