// What the manager makes of memory, new or handed over: physical objects and allocations.

#include "shared/base/checked.h"
#include "source/memory/memory_manager.h"
#include "source/memory/page_rules.h"
#include "source/memory/reserved_address.h"

#include <algorithm>
#include <utility>

namespace causeway::memory {
namespace {

Result<void> checkObjectSize(const kmd::Device &device, Placement placement, uint64_t sizeBytes) {
    const uint64_t granularity = device.pageRules(placement).granularity;
    if (sizeBytes == 0 || !isAligned(sizeBytes, granularity)) {
        return fail(
            Status::UnsupportedSize,
            "the size of a {} physical memory object must be a multiple of {} bytes above 0, "
            "not {}",
            toString(placement),
            granularity,
            sizeBytes);
    }
    return {};
}

/// What memory a request needs, in whole pages.
Result<kmd::CreateInfo> checkRequest(const AllocationRequest &request) {
    const Placement placement =
        request.kind == AllocationKind::Host ? Placement::Host : Placement::Device;
    const kmd::Device &device = *request.device;
    const auto rounded = alignUp(request.sizeBytes, device.pageRules(placement).granularity);
    const bool tooLarge =
        placement == Placement::Device && rounded && *rounded > device.properties().memoryBytes;
    if (request.sizeBytes == 0 || !rounded || tooLarge) {
        return fail(Status::UnsupportedSize,
                    "an allocation of {} bytes is not possible; the device has {} bytes",
                    request.sizeBytes,
                    device.properties().memoryBytes);
    }
    if (request.alignment != 0 && !isPowerOfTwo(request.alignment)) {
        return fail(
            Status::UnsupportedAlignment, "alignment {} is not a power of two", request.alignment);
    }
    return kmd::CreateInfo{.placement = placement, .sizeBytes = *rounded, .file = request.file};
}

/// Whether found memory is what the application says.
Result<void> checkFound(const kmd::ImportInfo &found, Placement placement, uint64_t sizeBytes) {
    if (found.placement != placement) {
        return fail(Status::InvalidArgument,
                    "the descriptor is of {} memory, not of {} memory",
                    toString(found.placement),
                    toString(placement));
    }
    if (found.sizeBytes < sizeBytes) {
        return fail(Status::InvalidArgument,
                    "the descriptor's memory has {} bytes, fewer than the {} asked for",
                    found.sizeBytes,
                    sizeBytes);
    }
    return {};
}

} // namespace

Result<PhysicalMemoryRef> MemoryManager::createPhysical(const kmd::Device &device,
                                                        Placement placement,
                                                        uint64_t sizeBytes,
                                                        kmd::FileNeed file) {
    if (auto checked = checkObjectSize(device, placement, sizeBytes); !checked) {
        return forward(checked);
    }
    return createMemory(device, {.placement = placement, .sizeBytes = sizeBytes, .file = file});
}

Result<PhysicalMemoryRef> MemoryManager::createMemory(const kmd::Device &device,
                                                      const kmd::CreateInfo &info) {
    auto object = pool_->create(device, info);
    if (!object && object.error().status == Status::OutOfDeviceMemory && letGo_) {
        letGo_();
        object = pool_->create(device, info);
    }
    return object;
}

Result<PhysicalMemoryRef> MemoryManager::importPhysical(const kmd::Device &device,
                                                        Placement placement,
                                                        uint64_t sizeBytes,
                                                        UniqueFd file) {
    if (auto checked = checkObjectSize(device, placement, sizeBytes); !checked) {
        return forward(checked);
    }
    // It can be mapped at any time, which needs its descriptor.
    return importDescriptor(
        device, placement, sizeBytes, std::move(file), kmd::KeepDescriptor::Always);
}

Result<PhysicalMemoryRef> MemoryManager::importDescriptor(const kmd::Device &device,
                                                          Placement placement,
                                                          uint64_t sizeBytes,
                                                          UniqueFd file,
                                                          kmd::KeepDescriptor keep) {
    auto found = backend_.identify(std::move(file));
    if (!found) {
        return forward(found);
    }
    if (auto checked = checkFound(found->info, placement, sizeBytes); !checked) {
        return forward(checked);
    }
    if (auto reach = requireReach(device, found->info.owner); !reach) {
        return forward(reach);
    }
    kmd::ImportInfo info = found->info;
    info.sizeBytes = sizeBytes;
    info.keep = keep;
    return pool_->importObject(device, std::move(found->file), info);
}

Result<void> MemoryManager::requireReach(const kmd::Device &device, const DeviceUuid &owner) const {
    if (backend_.canReach(device, owner)) {
        return {};
    }
    return fail(Status::InvalidArgument,
                "device {} cannot reach the memory of device {}",
                toString(device.properties().uuid),
                toString(owner));
}

Result<uint64_t> MemoryManager::allocate(const AllocationRequest &request) {
    const auto wanted = checkRequest(request);
    if (!wanted) {
        return std::unexpected(wanted.error());
    }
    auto object = createMemory(*request.device, *wanted);
    if (!object) {
        return forward(object);
    }
    return placeAllocation(request, *object);
}

Result<uint64_t> MemoryManager::importAllocation(const AllocationRequest &request, UniqueFd file) {
    const auto wanted = checkRequest(request);
    if (!wanted) {
        return std::unexpected(wanted.error());
    }
    auto object =
        importDescriptor(*request.device,
                         wanted->placement,
                         wanted->sizeBytes,
                         std::move(file),
                         request.file == kmd::FileNeed::OfItsOwn ? kmd::KeepDescriptor::Always
                                                                 : kmd::KeepDescriptor::IfItFits);
    if (!object) {
        return forward(object);
    }
    auto va = placeAllocation(request, *object);
    if (va) {
        (*object)->dropDescriptor();
    }
    return va;
}

Result<uint64_t> MemoryManager::placeAllocation(const AllocationRequest &request,
                                                const PhysicalMemoryRef &object) {
    const uint64_t sizeBytes = object->sizeBytes();
    const kmd::PageRules rules = request.device->pageRules(object->placement());
    auto va =
        space_->reserve(0, sizeBytes, std::max(request.alignment, preferredPage(rules, sizeBytes)));
    if (!va) {
        return va;
    }
    ReservedAddress held(*space_, *va, sizeBytes);
    IntervalMap<Region> made;
    made.insert(*va,
                *va + sizeBytes,
                Region{.id = nextId(),
                       .allocation = Allocation{.kind = request.kind,
                                                .object = object,
                                                .sizeBytes = request.sizeBytes,
                                                .device = request.device},
                       .import = {}});
    const kmd::Binding binding = {.va = *va,
                                  .memory = object.get(),
                                  .offset = 0,
                                  .sizeBytes = sizeBytes,
                                  .access = Access::ReadWrite};
    if (auto bound = space_->bind({&binding, 1}); !bound) {
        return forward(bound);
    }
    held.keep();
    const MutexLock lock(mutex_);
    made.moveTo(0, UINT64_MAX, regions_);
    return va;
}

} // namespace causeway::memory
