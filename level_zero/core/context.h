#pragma once

#include "level_zero/core/device.h"
#include "level_zero/core/handle_registry.h"
#include "shared/base/result.h"
#include "shared/os/os.h"
#include "source/copy/commands.h"
#include "source/copy/data_mover.h"
#include "source/copy/failure_latch.h"
#include "source/ipc/ipc_service.h"
#include "source/memory/memory_manager.h"
#include "source/memory/physical_memory.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace causeway::core {

/// What the handle objects work with. Outlives them all.
struct Services {
    Os &os;
    kmd::Backend &backend;
    ipc::IpcService &ipc;
    copy::DataMover &mover;
    uint64_t osPageBytes = 0;
};

/// What a physical memory handle stands for.
struct PhysicalObject {
    memory::PhysicalMemoryRef memory;
    uint64_t id = 0; ///< used once in the process, for no other object, mapping or allocation
};

/// Owns the virtual memory of the context and the physical memory handles made in it; refers to the
/// devices it was created for (at least one). With the context go its exports, address space and
/// physical memory handles; objects live on where an export elsewhere or a peer holds them.
/// Threads: any.
class Context : public std::enable_shared_from_this<Context> {
  public:
    /// Errors: those of MemoryManager::create.
    static Result<std::shared_ptr<Context>> create(HandleMemory &handles,
                                                   Services services,
                                                   std::vector<const Device *> devices);
    ~Context();
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

    [[nodiscard]] memory::MemoryManager &memory() { return *memory_; }

    [[nodiscard]] const Services &services() const { return services_; }

    /// Of the commands of its queues: once one fails, all that the context's queues do is lost.
    [[nodiscard]] copy::FailureLatch &failures() { return failures_; }

    [[nodiscard]] const copy::FailureLatch &failures() const { return failures_; }

    /// What keeps memory usable for commands; null for memory that is not of this context. Errors:
    /// those of MemoryManager::use.
    [[nodiscard]] Result<copy::MemoryUseRef> use(uint64_t address,
                                                 uint64_t sizeBytes,
                                                 Access needed);

    /// For what only names memory: all of it must be of this context. Errors: those of
    /// MemoryManager::use, InvalidArgument (foreign memory).
    [[nodiscard]] Result<void> require(uint64_t address, uint64_t sizeBytes, Access needed);

    [[nodiscard]] std::span<const Device *const> devices() const { return devices_; }

    [[nodiscard]] bool sees(const Device &device) const;

    /// Where host memory comes from: it belongs to no device, but one must make it.
    [[nodiscard]] const Device &hostMemoryDevice() const { return *devices_.front(); }

    /// Errors: those of MemoryManager::createPhysical.
    Result<Handle *> createPhysical(const Device &device,
                                    Placement placement,
                                    uint64_t sizeBytes,
                                    kmd::FileNeed file);
    /// Errors: those of MemoryManager::importPhysical.
    Result<Handle *> importPhysical(const Device &device,
                                    Placement placement,
                                    uint64_t sizeBytes,
                                    int fd);
    /// `fd` of both stays the application's. Errors: those of MemoryManager::importAllocation.
    Result<uint64_t> importAllocation(const memory::AllocationRequest &request, int fd);
    /// Errors of both: InvalidNullHandle, InvalidArgument (no live handle of this context).
    [[nodiscard]] Result<std::shared_ptr<PhysicalObject>> findPhysical(const void *handle) const;
    Result<void> destroyPhysical(const void *handle);

    /// The range extension's export; see IpcService::exportRange.
    Result<wire::HandleBytes> exportRange(uint64_t address, uint64_t sizeBytes);
    /// See IpcService::exportObject and exportPhysical.
    Result<wire::HandleBytes> exportObject(uint64_t address);
    Result<wire::HandleBytes> exportPhysical(const memory::PhysicalMemoryRef &object);
    /// See IpcService::newDescriptor, descriptorAt, descriptorOf and exportDescriptor.
    Result<UniqueFd> newDescriptor(const memory::PhysicalMemoryRef &object);
    Result<int> descriptorAt(uint64_t address);
    Result<int> descriptorOf(const wire::HandleBytes &handle);
    Result<wire::HandleBytes> exportDescriptor(int fd);
    /// zeMemFree; see MemoryManager::free and IpcService::revokeObject.
    Result<void> freeMemory(uint64_t address);
    /// See IpcService::open.
    Result<uint64_t> openHandle(const Device &device, const wire::HandleBytes &handle);
    /// See IpcService::put.
    void putHandle(const wire::HandleBytes &handle);

  private:
    Handle *addPhysical(memory::PhysicalMemoryRef object);

    Context(HandleMemory &handles,
            Services services,
            std::vector<const Device *> devices,
            std::unique_ptr<memory::MemoryManager> memory);

    const Services services_;
    const std::vector<const Device *> devices_;
    copy::FailureLatch failures_;
    HandleRegistry<PhysicalObject> physical_;
    const std::unique_ptr<memory::MemoryManager> memory_;
};

} // namespace causeway::core
