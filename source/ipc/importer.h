#pragma once

#include "shared/os/os.h"
#include "shared/wire/ipc_handle.h"
#include "source/ipc/export.h"
#include "source/ipc/ipc_config.h"
#include "source/memory/memory_manager.h"

#include <memory>

namespace causeway::ipc {

/// Opens a range of this same process: the snapshot's own objects, bound once more.
/// Errors: OutOfDeviceMemory, InvalidArgument (a device that cannot reach the memory).
Result<uint64_t> openOwnRange(memory::MemoryManager &manager,
                              const kmd::Device &device,
                              const Export &source);

/// Opens the memory of one object by its file, and closes that. `origin`: the handle that it came
/// with, or null. Errors: InvalidArgument (too small, not sealed, a device that cannot reach it),
/// as openOwnRange.
Result<uint64_t> openDescriptor(memory::MemoryManager &manager,
                                const kmd::Device &device,
                                kmd::FoundObject found,
                                uint64_t windowBytes,
                                std::shared_ptr<const wire::IpcHandle> origin);

/// Opens a range of another process by its token: table, then the objects' descriptors batch by
/// batch, each turned into memory and closed before more are asked for. All or nothing. Errors:
/// ipc.md, Results.
Result<uint64_t> openRemoteRange(Os &os,
                                 memory::MemoryManager &manager,
                                 const kmd::Device &device,
                                 const wire::IpcHandle &handle,
                                 const IpcConfig &config);

/// Memory that was imported has given its descriptors back. To share it anew, this fetches them
/// once more from where it came and puts objects that keep them into the snapshot: one descriptor
/// for each distinct file, as long as the snapshot lives. A snapshot without imported pieces stays
/// as it is. Errors: InvalidArgument (the exporter has gone or revoked the handle), as
/// openRemoteRange.
Result<void> reacquire(Os &os,
                       memory::MemoryManager &manager,
                       memory::RangeSnapshot &snapshot,
                       const IpcConfig &config);

} // namespace causeway::ipc
