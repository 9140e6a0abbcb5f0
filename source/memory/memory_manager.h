#pragma once

#include "shared/base/mutex.h"
#include "source/kmd/kmd.h"
#include "source/memory/address_use.h"
#include "source/memory/interval_map.h"
#include "source/memory/physical_memory.h"
#include "source/memory/range_snapshot.h"
#include "source/memory/reserved_address.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace causeway::memory {

enum class AllocationKind : uint8_t { Device, Host, Shared };

struct AllocationRequest {
    AllocationKind kind = AllocationKind::Device;
    const kmd::Device *device = nullptr;
    uint64_t sizeBytes = 0;
    uint64_t alignment = 0; ///< 0: any; else a power of two
    kmd::FileNeed file = kmd::FileNeed::Any;
};

/// What an address is, for zeMemGetAllocProperties.
enum class PointerKind : uint8_t { Unknown, Device, Host, Shared };

struct PointerInfo {
    PointerKind kind = PointerKind::Unknown;
    uint64_t id = 0; ///< new for each mapping, allocation and open; 0 where Unknown
    uint64_t pageBytes = 0;
    const kmd::Device *device = nullptr; ///< null where Unknown, and for host memory
};

struct AddressStretch {
    uint64_t base = 0;
    uint64_t sizeBytes = 0;
};

struct AccessStretch {
    Access access = Access::None;
    uint64_t sizeBytes = 0; ///< from the address asked about to where the access changes
};

class ImportTransaction;

/// The virtual memory of one context: reservations, mappings, allocations and imported ranges, as
/// ordered maps by address. Every call is all or nothing.
///
/// Owns the context's address space and memory pool. Threads: any; one lock, never held while
/// talking to a peer. Destroying it releases every address and reference; physical objects live on
/// where an application handle or an export holds them.
class MemoryManager {
  public:
    static Result<std::unique_ptr<MemoryManager>> create(kmd::Backend &backend,
                                                         uint64_t osPageBytes);
    ~MemoryManager();

    /// `letGo` is called where new memory does not fit: it lets go of memory that nobody needs any
    /// more, and then it is tried once again. Set before anything else.
    void onShortage(std::function<void()> letGo) { letGo_ = std::move(letGo); }

    MemoryManager(const MemoryManager &) = delete;
    MemoryManager &operator=(const MemoryManager &) = delete;

    /// zeVirtualMemReserve. `hint` is honoured when free, never an error.
    /// Errors: UnsupportedSize (0, or no multiple of the OS page), OutOfDeviceMemory.
    Result<uint64_t> reserve(uint64_t hint, uint64_t sizeBytes);

    /// zeVirtualMemFree: a whole reservation; what is mapped in it is unmapped first.
    /// Errors: InvalidArgument (no such reservation, another size, an import), OutOfDeviceMemory.
    Result<void> freeReservation(uint64_t va, uint64_t sizeBytes);

    /// zePhysicalMemCreate. Errors: UnsupportedSize (0 or no multiple of the granularity),
    /// OutOfDeviceMemory, OutOfHostMemory.
    Result<PhysicalMemoryRef> createPhysical(const kmd::Device &device,
                                             Placement placement,
                                             uint64_t sizeBytes,
                                             kmd::FileNeed file = kmd::FileNeed::Any);

    /// The same of memory that exists: its first `sizeBytes`. `file`: see kmd::Backend::identify.
    /// Errors: UnsupportedSize, InvalidArgument (not the memory of one object, smaller, placed
    /// elsewhere, out of the device's reach), OutOfHostMemory.
    Result<PhysicalMemoryRef> importPhysical(const kmd::Device &device,
                                             Placement placement,
                                             uint64_t sizeBytes,
                                             UniqueFd file);

    /// zeVirtualMemMap. May span adjacent reservations.
    /// Errors: UnsupportedSize, UnsupportedAlignment, InvalidArgument (not wholly reserved, over a
    /// mapping, over an import, beyond the object's end), OutOfDeviceMemory.
    Result<void> map(uint64_t va,
                     uint64_t sizeBytes,
                     const PhysicalMemoryRef &object,
                     uint64_t offset,
                     Access access);

    /// zeVirtualMemUnmap: what lies in the range; a mapping that is cut is split. Nothing mapped:
    /// success. Errors: UnsupportedSize, UnsupportedAlignment (also a cut inside a page of the
    /// object), InvalidArgument (not wholly reserved, an import), OutOfDeviceMemory.
    Result<void> unmap(uint64_t va, uint64_t sizeBytes);

    /// zeVirtualMemSetAccessAttribute: every byte must be mapped; may cover several mappings or a
    /// part of one. On an imported range never above what the exporter gave. Errors:
    /// UnsupportedSize, UnsupportedAlignment, InvalidArgument (not mapped throughout, raised on an
    /// import), OutOfDeviceMemory.
    Result<void> setAccess(uint64_t va, uint64_t sizeBytes, Access access);

    /// zeVirtualMemGetAccessAttribute. Reserved and unmapped is None. The stretch ends where access
    /// changes, or at the reservation's end; it may be longer than `sizeBytes`.
    /// Errors: UnsupportedSize, UnsupportedAlignment, InvalidArgument (not reserved).
    Result<AccessStretch> access(uint64_t va, uint64_t sizeBytes) const;

    /// zeMemAllocDevice/Host/Shared. Errors: UnsupportedSize, UnsupportedAlignment, OutOf...Memory.
    Result<uint64_t> allocate(const AllocationRequest &request);

    /// The same of memory that exists; errors also as importPhysical. It can be exported again
    /// where there was room for its descriptor (kmd::KeepDescriptor).
    Result<uint64_t> importAllocation(const AllocationRequest &request, UniqueFd file);

    /// zeMemFree: the base of an allocation. One that is in use is gone for every call, but keeps
    /// its addresses and memory until the last use ends. Errors: InvalidArgument.
    Result<void> free(uint64_t va);

    /// Whether the address is in a range or an object that was opened.
    [[nodiscard]] bool isImport(uint64_t address) const;

    /// Never fails: what is not ours is Unknown.
    PointerInfo pointerInfo(uint64_t address) const;

    /// zeMemGetAddressRange: the allocation or mapping that holds the address; of an imported range
    /// always the whole window. Errors: AddressNotFound.
    Result<AddressStretch> addressRange(uint64_t address) const;

    /// What is mapped along [address, address + sizeBytes), for an export. Errors, in this order:
    /// InvalidNullPointer, InvalidSize, InvalidArgument (any USM in the window), AddressNotFound
    /// (any other byte unmapped, also by wrap-around; names hole and piece).
    Result<RangeSnapshot> snapshot(uint64_t address, uint64_t sizeBytes) const;

    /// The one object behind an address, whole, for an export without the range descriptor: the
    /// allocation that holds it, the mapping of a whole object, or an imported range of one piece.
    /// Errors: InvalidArgument (anything else).
    Result<RangeSnapshot> snapshotObject(uint64_t address) const;

    /// Begins an import: reserves `mappedBytes` of fresh address space. Nothing is visible before
    /// commit. Errors: OutOfDeviceMemory.
    Result<ImportTransaction> beginImport(uint64_t mappedBytes);

    /// Makes memory of a peer's descriptor in this context's pool; see
    /// kmd::MemoryPool::importObject.
    Result<PhysicalMemoryRef> importObject(const kmd::Device &device,
                                           UniqueFd fd,
                                           const kmd::ImportInfo &info);

    /// For a command that reads (`needed` ReadOnly) or writes (ReadWrite) a window. Memory that is
    /// not the manager's is the application's own affair, and so is nothing (0 bytes).
    /// Errors: InvalidArgument (partly the manager's memory, beyond an allocation's or import's
    /// end, not mapped throughout, without the access).
    Result<AddressUse> use(uint64_t address, uint64_t sizeBytes, Access needed);

    /// zeMemCloseIpcHandle: exactly the address that an open returned; in use: as free.
    /// Errors: InvalidArgument.
    Result<void> closeImport(uint64_t address);

    /// Errors: InvalidArgument where `device` cannot reach the memory of the device `owner`.
    Result<void> requireReach(const kmd::Device &device, const DeviceUuid &owner) const;

    [[nodiscard]] kmd::Backend &backend() { return backend_; }

  private:
    friend class AddressUse;
    friend class ImportTransaction;

    struct Mapping {
        PhysicalMemoryRef object;
        uint64_t offset = 0; ///< in the object, of the stretch's first byte
        Access access = Access::ReadWrite;
        Access limit = Access::ReadWrite; ///< what setAccess may raise it to
        ImportOrigin origin;
        uint64_t id = 0;

        void advance(uint64_t bytes) { offset += bytes; }
    };

    /// An imported window within its region.
    struct ImportedWindow {
        uint64_t address = 0;
        uint64_t sizeBytes = 0;
        const kmd::Device *device = nullptr; ///< the one it was opened for

        [[nodiscard]] bool holds(uint64_t where) const {
            return where >= address && where - address < sizeBytes;
        }
    };

    /// An allocation's memory within its region.
    struct Allocation {
        AllocationKind kind = AllocationKind::Device;
        PhysicalMemoryRef object;
        uint64_t sizeBytes = 0; ///< as asked for
        const kmd::Device *device = nullptr;
    };

    /// A stretch of address space that we hold: a reservation of the application, or the place of
    /// an allocation or an import.
    struct Region {
        uint64_t id = 0;
        std::optional<Allocation> allocation;
        std::optional<ImportedWindow> import;
        uint64_t uses = 0; ///< AddressUses that keep it; never of a reservation

        [[nodiscard]] bool isReservation() const { return !allocation && !import; }

        void advance(uint64_t) {} // regions are never split
    };

    MemoryManager(kmd::Backend &backend,
                  uint64_t osPageBytes,
                  std::unique_ptr<kmd::MemoryPool> pool,
                  std::unique_ptr<kmd::AddressSpace> space);

    /// What was taken out of the maps. Of a call: destroyed after the lock is given back, because
    /// the last reference to an object makes system calls.
    struct Dropped {
        IntervalMap<Region> regions;
        IntervalMap<Mapping> mappings;
    };

    [[nodiscard]] Result<PhysicalMemoryRef> createMemory(const kmd::Device &device,
                                                         const kmd::CreateInfo &info);
    [[nodiscard]] Result<uint64_t> place(uint64_t hint, uint64_t sizeBytes);
    [[nodiscard]] Result<PhysicalMemoryRef> importDescriptor(const kmd::Device &device,
                                                             Placement placement,
                                                             uint64_t sizeBytes,
                                                             UniqueFd file,
                                                             kmd::KeepDescriptor keep);
    [[nodiscard]] Result<uint64_t> placeAllocation(const AllocationRequest &request,
                                                   const PhysicalMemoryRef &object);
    [[nodiscard]] Result<uint64_t> checkPages(uint64_t va, uint64_t sizeBytes) const;
    [[nodiscard]] Result<void> requireReserved(uint64_t va, uint64_t end) const REQUIRES(mutex_);
    [[nodiscard]] Result<void> requireWholePages(uint64_t va, uint64_t end) const REQUIRES(mutex_);
    [[nodiscard]] Result<void> requireExportable(uint64_t va, uint64_t end) const REQUIRES(mutex_);
    [[nodiscard]] Result<void> requireUsable(uint64_t address, uint64_t end, Access needed) const
        REQUIRES(mutex_);
    [[nodiscard]] static Result<void> requireAccess(const IntervalMap<Mapping> &mappings,
                                                    uint64_t address,
                                                    uint64_t end,
                                                    Access needed);
    /// `region`: what an AddressUse keeps, or 0.
    [[nodiscard]] Result<void> checkUse(uint64_t region,
                                        uint64_t address,
                                        uint64_t sizeBytes,
                                        Access needed) const;
    void endUse(uint64_t va);
    [[nodiscard]] Result<RangeSnapshot> snapshotOf(uint64_t address, uint64_t sizeBytes) const
        REQUIRES(mutex_);
    [[nodiscard]] AddressStretch wholeMapping(IntervalMap<Mapping>::const_iterator at) const
        REQUIRES(mutex_);
    [[nodiscard]] Result<void> releaseRegion(uint64_t va, uint64_t end, Dropped &dropped)
        REQUIRES(mutex_);
    [[nodiscard]] uint64_t commitImport(ImportTransaction &transaction,
                                        uint64_t leadBytes,
                                        uint64_t windowBytes,
                                        const kmd::Device &device);

    kmd::Backend &backend_;
    const uint64_t osPageBytes_;
    const std::unique_ptr<kmd::MemoryPool> pool_;
    const std::unique_ptr<kmd::AddressSpace> space_;
    std::function<void()> letGo_; ///< may be empty

    mutable Mutex mutex_;
    IntervalMap<Region> regions_ GUARDED_BY(mutex_);
    IntervalMap<Mapping> mappings_ GUARDED_BY(mutex_);
    Dropped retired_ GUARDED_BY(mutex_); ///< freed and still in use
};

/// An import under construction: address space that belongs to nobody yet. Unless it is committed,
/// its destructor gives everything back with one release. Used by one thread; its manager must
/// outlive it.
class ImportTransaction {
  public:
    struct Piece {
        uint64_t position = 0; ///< from the start of the mapped stretch
        PhysicalMemoryRef object;
        uint64_t offset = 0; ///< in the object
        uint64_t sizeBytes = 0;
        Access access = Access::ReadWrite;
        ImportOrigin origin;
    };

    /// Binds pieces, all of them or none; they must lie within the stretch and not overlap.
    Result<void> bind(std::span<const Piece> pieces);

    /// Hands the finished range to the manager and returns the address of the window's first byte.
    [[nodiscard]] uint64_t commit(uint64_t leadBytes,
                                  uint64_t windowBytes,
                                  const kmd::Device &device);

  private:
    friend class MemoryManager;

    ImportTransaction(MemoryManager &manager, ReservedAddress place)
        : manager_(manager), place_(std::move(place)) {}

    MemoryManager &manager_;
    std::vector<Piece> pieces_;
    ReservedAddress place_; ///< given back before the objects are, which are bound there
};

} // namespace causeway::memory
