#include "level_zero/api/arguments.h"
#include "level_zero/api/command_recording.h"
#include "level_zero/api/entry_points.h"
#include "shared/base/checked.h"
#include "source/copy/copy_plan.h"

#include <algorithm>
#include <span>
#include <utility>

/// Copies and fills. Memory is looked at when a call is made, so that a command list holds what it
/// names, and again when the command runs.
namespace causeway::api {
namespace {

/// One side of a copy, as it was passed.
struct RegionSide {
    const void *pointer = nullptr;
    const ze_copy_region_t *region = nullptr;
    uint32_t pitch = 0;
    uint32_t slicePitch = 0;

    /// Errors: InvalidSize.
    [[nodiscard]] Result<copy::CopySide> toSide() const {
        const bool hasSlices = region->depth != 0; // a 2D copy ignores the pitch of slices
        const uint64_t row = uint64_t{region->originY} * pitch;
        const uint64_t slice = hasSlices ? uint64_t{region->originZ} * slicePitch : 0;
        auto address = checkedAdd(toAddress(pointer), region->originX);
        for (const uint64_t offset : {row, slice}) {
            address = address ? checkedAdd(*address, offset) : address;
        }
        if (!address) {
            return fail(Status::InvalidSize, "the region begins beyond the address space");
        }
        return copy::CopySide{
            .address = *address, .rowPitch = pitch, .slicePitch = slicePitch, .memory = {}};
    }
};

/// Whose memory one side of a copy is, by the pointer that was passed.
struct Origin {
    core::Context &context;
    const void *pointer = nullptr;

    /// Takes hold of what is worked on. A region can begin far from its pointer: one that leaves
    /// our memory is a mistake, and not the application's own affair.
    [[nodiscard]] Result<copy::MemoryUseRef> use(uint64_t address,
                                                 uint64_t sizeBytes,
                                                 Access needed) const {
        auto used = context.use(address, sizeBytes, needed);
        if (used && *used == nullptr && address != toAddress(pointer) && sizeBytes > 0 &&
            context.memory().pointerInfo(toAddress(pointer)).kind != memory::PointerKind::Unknown) {
            return fail(Status::InvalidArgument,
                        "the region begins at {:#x}, outside the memory of {}",
                        address,
                        pointer);
        }
        return used;
    }
};

/// Checks the arithmetic of a copy and takes hold of its memory.
Result<Commands> recordCopy(copy::CopyRegion region, const Origin &dst, const Origin &src) {
    auto plan = copy::planCopy(region);
    if (!plan) {
        return forward(plan);
    }
    if (plan->isUnspecified()) {
        return fail(Status::OverlappingRegions,
                    "the regions at {:#x} and {:#x} overlap, with different pitches",
                    region.dst.address,
                    region.src.address);
    }
    auto written = dst.use(region.dst.address, plan->dstExtent, Access::ReadWrite);
    if (!written) {
        return forward(written, "destination");
    }
    auto read = src.use(region.src.address, plan->srcExtent, Access::ReadOnly);
    if (!read) {
        return forward(read, "source");
    }
    region.dst.memory = std::move(*written);
    region.src.memory = std::move(*read);
    return Commands{std::move(region)};
}

/// `source`: the context of srcptr.
Result<Commands> recordLinearCopy(
    void *dstptr, const void *srcptr, size_t size, core::Context &context, core::Context &source) {
    if (dstptr == nullptr) {
        return nullPointer("dstptr");
    }
    if (srcptr == nullptr) {
        return nullPointer("srcptr");
    }
    return recordCopy({.dst = {.address = toAddress(dstptr)},
                       .src = {.address = toAddress(srcptr)},
                       .widthBytes = size},
                      {.context = context, .pointer = dstptr},
                      {.context = source, .pointer = srcptr});
}

Result<Commands> recordRegionCopy(const RegionSide &dst,
                                  const RegionSide &src,
                                  core::Context &context) {
    if (dst.pointer == nullptr || src.pointer == nullptr || dst.region == nullptr ||
        src.region == nullptr) {
        return nullPointer("dstptr, dstRegion, srcptr or srcRegion");
    }
    if (dst.region->width != src.region->width || dst.region->height != src.region->height ||
        dst.region->depth != src.region->depth) {
        return fail(Status::InvalidArgument,
                    "the regions have different sizes: {} x {} x {} and {} x {} x {}",
                    dst.region->width,
                    dst.region->height,
                    dst.region->depth,
                    src.region->width,
                    src.region->height,
                    src.region->depth);
    }
    auto dstSide = dst.toSide();
    if (!dstSide) {
        return forward(dstSide, "destination");
    }
    auto srcSide = src.toSide();
    if (!srcSide) {
        return forward(srcSide, "source");
    }
    return recordCopy({.dst = std::move(*dstSide),
                       .src = std::move(*srcSide),
                       .widthBytes = dst.region->width,
                       .height = dst.region->height,
                       .depth = std::max(dst.region->depth, 1U)}, // 0: a 2D copy
                      {.context = context, .pointer = dst.pointer},
                      {.context = context, .pointer = src.pointer});
}

Result<Commands> recordFill(
    void *ptr, const void *pattern, size_t patternSize, size_t size, core::Context &context) {
    if (ptr == nullptr) {
        return nullPointer("ptr");
    }
    if (pattern == nullptr) {
        return nullPointer("pattern");
    }
    // Nothing of the pattern is read before its size is known to be a good one.
    if (!isPowerOfTwo(patternSize) || patternSize > copy::FillPattern::longest ||
        size % patternSize != 0) {
        return fail(Status::InvalidSize,
                    "{} bytes cannot be filled with a pattern of {}: it must be a power of two up "
                    "to {} that divides the size",
                    size,
                    patternSize,
                    copy::FillPattern::longest);
    }
    auto bytes =
        copy::FillPattern::make(std::span(static_cast<const std::byte *>(pattern), patternSize));
    if (!bytes) {
        return forward(bytes);
    }
    auto written = context.use(toAddress(ptr), size, Access::ReadWrite);
    if (!written) {
        return forward(written);
    }
    return Commands{copy::Fill{.address = toAddress(ptr),
                               .sizeBytes = size,
                               .pattern = *bytes,
                               .memory = std::move(*written)}};
}

core::Context &contextOf(const core::CommandList &list) {
    return *list.owner().context;
}

ze_result_t appendCopy(std::string_view function,
                       ze_command_list_handle_t hCommandList,
                       const Synchronization &events,
                       void *dstptr,
                       const void *srcptr,
                       size_t size,
                       const void *pNext) {
    return onAppend(function, hCommandList, events, [&](const auto &list) -> Result<Commands> {
        if (auto checked = refuseParameters(pNext); !checked) {
            return forward(checked);
        }
        return recordLinearCopy(dstptr, srcptr, size, contextOf(list), contextOf(list));
    });
}

ze_result_t appendFill(std::string_view function,
                       ze_command_list_handle_t hCommandList,
                       const Synchronization &events,
                       void *ptr,
                       std::pair<const void *, size_t> pattern,
                       size_t size,
                       const void *pNext) {
    return onAppend(function, hCommandList, events, [&](const auto &list) -> Result<Commands> {
        if (auto checked = refuseParameters(pNext); !checked) {
            return forward(checked);
        }
        return recordFill(ptr, pattern.first, pattern.second, size, contextOf(list));
    });
}

} // namespace

ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t hCommandList,
                                          void *dstptr,
                                          const void *srcptr,
                                          size_t size,
                                          ze_event_handle_t hSignalEvent,
                                          uint32_t numWaitEvents,
                                          ze_event_handle_t *phWaitEvents) {
    return appendCopy("zeCommandListAppendMemoryCopy",
                      hCommandList,
                      {hSignalEvent, numWaitEvents, phWaitEvents},
                      dstptr,
                      srcptr,
                      size,
                      nullptr);
}

// NOLINTNEXTLINE(readability-function-size): the API's parameters
ze_result_t zeCommandListAppendMemoryCopyWithParameters(ze_command_list_handle_t hCommandList,
                                                        void *dstptr,
                                                        const void *srcptr,
                                                        size_t size,
                                                        const void *pNext,
                                                        ze_event_handle_t hSignalEvent,
                                                        uint32_t numWaitEvents,
                                                        ze_event_handle_t *phWaitEvents) {
    return appendCopy("zeCommandListAppendMemoryCopyWithParameters",
                      hCommandList,
                      {hSignalEvent, numWaitEvents, phWaitEvents},
                      dstptr,
                      srcptr,
                      size,
                      pNext);
}

// NOLINTNEXTLINE(readability-function-size): the API's parameters
ze_result_t zeCommandListAppendMemoryCopyFromContext(ze_command_list_handle_t hCommandList,
                                                     void *dstptr,
                                                     ze_context_handle_t hContextSrc,
                                                     const void *srcptr,
                                                     size_t size,
                                                     ze_event_handle_t hSignalEvent,
                                                     uint32_t numWaitEvents,
                                                     ze_event_handle_t *phWaitEvents) {
    return onAppend("zeCommandListAppendMemoryCopyFromContext",
                    hCommandList,
                    {hSignalEvent, numWaitEvents, phWaitEvents},
                    [&](const auto &list) -> Result<Commands> {
                        auto source = findContext(hContextSrc);
                        if (!source) {
                            return forward(source);
                        }
                        return recordLinearCopy(dstptr, srcptr, size, contextOf(list), **source);
                    });
}

// NOLINTNEXTLINE(readability-function-size): the API's parameters
ze_result_t zeCommandListAppendMemoryCopyRegion(ze_command_list_handle_t hCommandList,
                                                void *dstptr,
                                                const ze_copy_region_t *dstRegion,
                                                uint32_t dstPitch,
                                                uint32_t dstSlicePitch,
                                                const void *srcptr,
                                                const ze_copy_region_t *srcRegion,
                                                uint32_t srcPitch,
                                                uint32_t srcSlicePitch,
                                                ze_event_handle_t hSignalEvent,
                                                uint32_t numWaitEvents,
                                                ze_event_handle_t *phWaitEvents) {
    return onAppend("zeCommandListAppendMemoryCopyRegion",
                    hCommandList,
                    {hSignalEvent, numWaitEvents, phWaitEvents},
                    [&](const auto &list) {
                        return recordRegionCopy({dstptr, dstRegion, dstPitch, dstSlicePitch},
                                                {srcptr, srcRegion, srcPitch, srcSlicePitch},
                                                contextOf(list));
                    });
}

// NOLINTNEXTLINE(readability-function-size): the API's parameters
ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t hCommandList,
                                          void *ptr,
                                          const void *pattern,
                                          size_t patternSize,
                                          size_t size,
                                          ze_event_handle_t hSignalEvent,
                                          uint32_t numWaitEvents,
                                          ze_event_handle_t *phWaitEvents) {
    return appendFill("zeCommandListAppendMemoryFill",
                      hCommandList,
                      {hSignalEvent, numWaitEvents, phWaitEvents},
                      ptr,
                      {pattern, patternSize},
                      size,
                      nullptr);
}

// NOLINTNEXTLINE(readability-function-size): the API's parameters
ze_result_t zeCommandListAppendMemoryFillWithParameters(ze_command_list_handle_t hCommandList,
                                                        void *ptr,
                                                        const void *pattern,
                                                        size_t patternSize,
                                                        size_t size,
                                                        const void *pNext,
                                                        ze_event_handle_t hSignalEvent,
                                                        uint32_t numWaitEvents,
                                                        ze_event_handle_t *phWaitEvents) {
    return appendFill("zeCommandListAppendMemoryFillWithParameters",
                      hCommandList,
                      {hSignalEvent, numWaitEvents, phWaitEvents},
                      ptr,
                      {pattern, patternSize},
                      size,
                      pNext);
}

} // namespace causeway::api
