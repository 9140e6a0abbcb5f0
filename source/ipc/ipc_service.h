#pragma once

#include "shared/os/os.h"
#include "shared/wire/ipc_handle.h"
#include "source/ipc/export_table.h"
#include "source/ipc/file_index.h"
#include "source/ipc/ipc_config.h"
#include "source/ipc/server.h"
#include "source/memory/memory_manager.h"

#include <optional>

namespace causeway::ipc {

/// The IPC of one process: its export table, its server (started by the first export) and the way
/// to other processes' exports. One per process; must outlive every MemoryManager that it is given.
/// Threads: any.
class IpcService {
  public:
    IpcService(Os &os, kmd::Backend &backend, IpcConfig config);

    /// The range extension's export of [address, address + sizeBytes). Counted: the same unchanged
    /// layout gives the same handle again. `owner` is the context's memory manager.
    /// Errors: as MemoryManager::snapshot, then OutOfHostMemory (server, ticket), UnsupportedSize,
    /// UnsupportedFeature (memory opened by a descriptor alone).
    Result<wire::HandleBytes> exportRange(memory::MemoryManager &owner,
                                          uint64_t address,
                                          uint64_t sizeBytes,
                                          uint32_t flags);

    /// The export of the one object behind an address, whole: its handle's bytes 0-3 are a
    /// descriptor of the object, the same for each Get. Counted likewise. Errors: as
    /// MemoryManager::snapshotObject, then as above.
    Result<wire::HandleBytes> exportObject(memory::MemoryManager &owner, uint64_t address);

    /// The same of an object that need not be mapped.
    Result<wire::HandleBytes> exportPhysical(memory::MemoryManager &owner,
                                             const memory::PhysicalMemoryRef &object);

    /// The descriptor of the one object behind an address: the driver's, the same number for each
    /// call and in the object's handles, open as long as the object lives. Counts as no export and
    /// keeps no memory alive. Errors: as MemoryManager::snapshotObject, UnsupportedFeature (the
    /// object has no file of its own, or is mapped read-only), OutOfHostMemory.
    Result<int> descriptorAt(memory::MemoryManager &owner, uint64_t address);

    /// The same by a handle that `owner` shares; open until it is put. Errors: InvalidArgument
    /// (no such handle), as above.
    Result<int> descriptorOf(const memory::MemoryManager &owner, const wire::HandleBytes &handle);

    /// A new descriptor of the object for the application to own. Errors: UnsupportedFeature,
    /// OutOfHostMemory.
    Result<UniqueFd> newDescriptor(const memory::MemoryManager &owner,
                                   const memory::PhysicalMemoryRef &object);

    /// The export of the object that a descriptor is of; counted as one of exportObject. An object
    /// that the three calls above gave the descriptor of is shared itself, another process's as
    /// memory imported for the purpose. `fd` stays the application's. Errors: InvalidArgument (not
    /// the memory of one object), as exportObject.
    Result<wire::HandleBytes> exportDescriptor(memory::MemoryManager &owner, int fd);

    /// The allocation with this base and id is freed: its export is revoked, also if nobody ever
    /// puts it.
    void revokeObject(const memory::MemoryManager &owner, uint64_t address, uint64_t mappingId);

    /// zeMemPutIpcHandle: counts down; the last one revokes. Unknown handles, other contexts' and
    /// other processes' handles are a success without effect (ipc.md, Counting).
    void put(const memory::MemoryManager &owner, const wire::HandleBytes &handle);

    /// zeMemOpenIpcHandle. Errors: ipc.md, Results.
    Result<uint64_t> open(memory::MemoryManager &importer,
                          const kmd::Device &device,
                          const wire::HandleBytes &handle);

    /// A context goes: its exports are revoked; opens in progress finish.
    void dropOwner(const memory::MemoryManager &owner);

    /// The process ends without ending this: takes away what would stay in the file system.
    void removeSocketFile() noexcept { server_.removeSocketFile(); }

    /// Lets go of the memory of conversations that have ended. Any thread.
    void dropFinished() { server_.dropFinished(); }

    /// For tests: what is alive.
    [[nodiscard]] size_t liveExports() const { return exports_.size(); }

  private:
    /// How many descriptors applications may be told of. Objects' own files take half of all.
    [[nodiscard]] uint64_t publicLimit() const { return os_.descriptorLimit() / 4; }

    [[nodiscard]] bool ticketsFit() const;
    Result<wire::HandleBytes> exportSnapshot(memory::MemoryManager &owner,
                                             wire::HandleKind kind,
                                             uint64_t address,
                                             memory::RangeSnapshot snapshot,
                                             uint32_t flags);
    void rememberFile(const memory::MemoryManager &owner, const Export &shared);
    Result<uint64_t> openHandle(memory::MemoryManager &importer,
                                const kmd::Device &device,
                                const wire::IpcHandle &handle);
    Result<uint64_t> openBare(memory::MemoryManager &importer, const kmd::Device &device, int fd);
    std::optional<kmd::FoundObject> findItsFile(memory::MemoryManager &importer,
                                                const wire::IpcHandle &handle);
    Result<wire::HandleBytes> exportKnown(memory::MemoryManager &owner,
                                          const FileIndex::Found &known);
    Result<memory::PhysicalMemoryRef> adopt(memory::MemoryManager &owner, kmd::FoundObject found);

    Os &os_;
    const IpcConfig config_;
    ExportTable exports_;
    FileIndex files_;
    Server server_;
};

} // namespace causeway::ipc
