#pragma once

#include "shared/base/memory_kinds.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"
#include "source/kmd/published_file.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// What a kind of device must offer: the seam between the engine and the kernel. Implementations:
/// `soft/` (memfd files and CPU mappings) and the fake of `unit_tests/fakes/`;
/// `unit_tests/contract/` runs one suite over all of them.
namespace causeway::kmd {

struct PciAddress {
    uint32_t domain = 0;
    uint32_t bus = 0;
    uint32_t device = 0;
    uint32_t function = 0;
};

/// Constant for the life of the process.
struct DeviceProperties {
    std::string name;
    DeviceUuid uuid = {};
    PciAddress pci; ///< tells cards apart: of one that is on no bus, an address that no bus has
    uint32_t vendorId = 0;
    uint32_t deviceId = 0;
    uint64_t memoryBytes = 0; ///< of the device's own memory
    uint32_t coreClockMHz = 0;
    uint32_t threadCount = 0; ///< hardware threads that can work for it
    bool integrated = true;   ///< shares the host's memory
    bool cpuVisible = true;   ///< device memory can be read and written at its address by the CPU
};

/// Sizes and offsets that mapping a kind of memory demands, in bytes, powers of two.
struct PageRules {
    uint64_t granularity = 0;    ///< sizes, offsets and addresses must be multiples of it
    uint64_t preferredSmall = 0; ///< what a query answers below `largeFrom`
    uint64_t preferredLarge = 0; ///< and from there on
    uint64_t largeFrom = 0;
};

class Device {
  public:
    virtual ~Device() = default;
    [[nodiscard]] virtual const DeviceProperties &properties() const = 0;
    [[nodiscard]] virtual PageRules pageRules(Placement placement) const = 0;
    /// Bytes of device memory not in use now.
    [[nodiscard]] virtual uint64_t freeBytes() const = 0;
};

struct Extent {
    uint64_t offset = 0;
    uint64_t sizeBytes = 0;

    bool operator==(const Extent &) const = default;
};

/// A descriptor ready to be sent: borrowed from a file that its owner keeps, or made for the
/// occasion.
class TravelFd {
  public:
    static TravelFd borrow(int fd) { return TravelFd(fd, UniqueFd()); }

    static TravelFd own(UniqueFd fd) {
        const int number = fd.get();
        return {number, std::move(fd)};
    }

    [[nodiscard]] int get() const { return fd_; }

    /// None where it is borrowed.
    [[nodiscard]] UniqueFd takeOwned() { return std::move(owned_); }

  private:
    TravelFd(int fd, UniqueFd owned) : fd_(fd), owned_(std::move(owned)) {}

    int fd_;
    UniqueFd owned_;
};

/// The file behind memory: an object's own, or a bank that holds many objects. Any thread.
class Backing {
  public:
    virtual ~Backing() = default;
    [[nodiscard]] virtual ObjectKind kind() const = 0;
    [[nodiscard]] virtual uint64_t sizeBytes() const = 0;

    /// Whether it holds one object and nothing else, now and later: its descriptor can be given to
    /// an application.
    [[nodiscard]] virtual bool holdsOneObject() const = 0;

    /// Whether exportDescriptor() can still be answered: not by imported memory whose descriptor
    /// was dropped. Constant once the memory is visible to an application.
    [[nodiscard]] virtual bool canTravel() const = 0;

    /// A descriptor for a peer that will map `extents` and nothing else. Whatever in the backing is
    /// reused later, those extents stay untouched while that descriptor or a mapping of it lives in
    /// any process. A borrowed descriptor is valid as long as this Backing.
    /// Errors: OutOfHostMemory (no descriptor left), UnsupportedFeature (imported memory whose
    /// descriptor is gone).
    [[nodiscard]] virtual Result<TravelFd> exportDescriptor(std::span<const Extent> extents) = 0;

    /// The descriptor of this file that applications are told of, the same for all who ask while
    /// it is open; null unless the file holds one object. The Backing outlives its use.
    [[nodiscard]] virtual std::shared_ptr<PublishedFile> publish(PublishUntil until) = 0;
};

/// A piece of physical memory; it does not know at which addresses it is bound. Destroying it gives
/// the memory back; the caller unbinds first. Any thread.
class Memory {
  public:
    virtual ~Memory() = default;
    [[nodiscard]] virtual uint64_t sizeBytes() const = 0;
    [[nodiscard]] virtual Placement placement() const = 0;
    /// The one it was made or imported for.
    [[nodiscard]] virtual const Device &device() const = 0;
    /// The uuid of the device whose memory it is: of another one where it was imported.
    [[nodiscard]] virtual const DeviceUuid &owner() const = 0;
    [[nodiscard]] virtual const std::shared_ptr<Backing> &backing() const = 0;
    /// Where this object begins in its backing.
    [[nodiscard]] virtual uint64_t backingOffset() const = 0;

    /// Imported memory may need its descriptor until it is bound. The importer calls this once all
    /// bindings of a batch are made: afterwards no descriptor is held for it, and binding it anew
    /// can fail with UnsupportedFeature. Memory that needs none, and memory that keeps it (see
    /// KeepDescriptor), does nothing.
    virtual void dropDescriptor() {}
};

/// How long imported memory has its descriptor, without which it can neither be bound anew nor
/// travel on. Whoever keeps one knows that the file holds one object (Backend::identify).
enum class KeepDescriptor : uint8_t {
    UntilDropped,
    IfItFits, ///< as long as the memory where objects may have more descriptors, else UntilDropped
    Always,   ///< as long as the memory
};

struct ImportInfo {
    ObjectKind kind = ObjectKind::Memfd;
    Placement placement = Placement::Device;
    uint64_t sizeBytes = 0; ///< that the peer promised; the file must hold at least as much
    DeviceUuid owner = {};  ///< whose memory it is
    KeepDescriptor keep = KeepDescriptor::UntilDropped;
};

/// What file new memory has.
enum class FileNeed : uint8_t {
    Any,
    OfItsOwn, ///< so that its descriptor can be given to an application
};

struct CreateInfo {
    Placement placement = Placement::Device;
    uint64_t sizeBytes = 0; ///< above 0, a multiple of the placement's granularity
    FileNeed file = FileNeed::Any;
};

/// Where memory comes from. One per context, so that what shares a bank has one owner. Any thread.
class MemoryPool {
  public:
    virtual ~MemoryPool() = default;

    /// New zeroed memory; the caller has checked the size. Errors: OutOfDeviceMemory,
    /// OutOfHostMemory (also: no descriptor left for a file of its own).
    [[nodiscard]] virtual Result<std::shared_ptr<Memory>> create(const Device &device,
                                                                 const CreateInfo &info) = 0;

    /// Makes memory of a descriptor that a peer sent, after a kind check (ipc.md): a file that
    /// cannot be cut under us, of the right kind, large enough. Takes the descriptor in every case.
    /// Errors: InvalidArgument (not what was promised), UnsupportedFeature (this back end cannot
    /// reach that kind), OutOfHostMemory.
    [[nodiscard]] virtual Result<std::shared_ptr<Memory>> importObject(const Device &device,
                                                                       UniqueFd fd,
                                                                       const ImportInfo &info) = 0;
};

/// One stretch of address space with one stretch of memory behind it.
struct Binding {
    uint64_t va = 0;
    const Memory *memory = nullptr;
    uint64_t offset = 0; ///< in the memory object
    uint64_t sizeBytes = 0;
    Access access = Access::ReadWrite;
};

/// A virtual address space, shared by the devices of one context and by the CPU. Any thread, but
/// calls that name overlapping stretches must not race (the memory manager's lock sees to it).
class AddressSpace {
  public:
    virtual ~AddressSpace() = default;

    /// Reserves `sizeBytes` (a multiple of the OS page) at an address that is a multiple of
    /// `alignment` (a power of two). `hint` is used when free and aligned, else another address is
    /// taken; 0: anywhere. Errors: OutOfDeviceMemory.
    [[nodiscard]] virtual Result<uint64_t> reserve(uint64_t hint,
                                                   uint64_t sizeBytes,
                                                   uint64_t alignment) = 0;

    /// Gives a whole reservation back with all that is bound in it. On failure nothing changed.
    [[nodiscard]] virtual Result<void> release(uint64_t va, uint64_t sizeBytes) = 0;

    /// The same of one that no caller knows of any more. What cannot be given back now (the kernel
    /// cuts no mapping at its limit of mappings) is tried again by later calls.
    virtual void discard(uint64_t va, uint64_t sizeBytes) noexcept = 0;

    /// Binds all, in reserved and unbound stretches, or nothing. Neighbours that continue each
    /// other in address, backing and access become one mapping. Errors: OutOfDeviceMemory (map
    /// count, kernel memory), UnsupportedFeature (see dropDescriptor).
    [[nodiscard]] virtual Result<void> bind(std::span<const Binding> bindings) = 0;

    /// Turns a stretch back into reserved address space. On failure what was bound still is.
    [[nodiscard]] virtual Result<void> unbind(uint64_t va, uint64_t sizeBytes) = 0;

    /// Changes the access of a stretch that is bound throughout.
    [[nodiscard]] virtual Result<void> protect(uint64_t va, uint64_t sizeBytes, Access access) = 0;
};

/// What a descriptor is that an application handed over.
struct FoundObject {
    UniqueFd file;   ///< the one that was judged
    ImportInfo info; ///< with the file's whole size
};

/// One kind of device: enumerates them and makes what a context needs. Constant after creation.
class Backend {
  public:
    virtual ~Backend() = default;
    [[nodiscard]] virtual std::span<const std::unique_ptr<Device>> devices() const = 0;
    /// Whether memory of the device with this uuid can be bound for `device`.
    [[nodiscard]] virtual bool canReach(const Device &device, const DeviceUuid &uuid) const = 0;
    /// Whether `file` is that of one object, made by a device of this kind in any process. Proves
    /// no more than that; importing it checks it. Of what an application hands over it is a
    /// duplicate: the number itself can become another file at any time. Errors: InvalidArgument.
    [[nodiscard]] virtual Result<FoundObject> identify(UniqueFd file) const = 0;
    [[nodiscard]] virtual Result<std::unique_ptr<MemoryPool>> createPool() = 0;
    [[nodiscard]] virtual Result<std::unique_ptr<AddressSpace>> createAddressSpace() = 0;

    /// Takes back what peers held of memory that is gone here. The IPC server calls it when a peer
    /// disconnects. Any thread.
    virtual void reclaim() {}
};

} // namespace causeway::kmd
