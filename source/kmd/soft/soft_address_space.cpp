#include "source/kmd/soft/soft_address_space.h"

#include "shared/base/checked.h"
#include "shared/base/log.h"
#include "source/kmd/soft/soft_memory.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <string_view>

namespace causeway::kmd::soft {
namespace {

Protection protectionOf(Access access) {
    switch (access) {
    case Access::None:
        return Protection::None;
    case Access::ReadOnly:
        return Protection::Read;
    case Access::ReadWrite:
        break;
    }
    return Protection::ReadWrite;
}

void logOnce(Errno error, std::string_view what, uint64_t va, uint64_t sizeBytes) {
    static std::atomic_flag logged;
    if (!logged.test_and_set()) {
        log(LogLevel::Warn,
            "undoing failed with errno {}: {} bytes at {:#x} {}",
            error.value,
            sizeBytes,
            va,
            what);
    }
}

} // namespace

SoftAddressSpace::SoftAddressSpace(Os &os, MapBudget &budget) : os_(os), budget_(budget) {}

Result<uint64_t> SoftAddressSpace::reserve(uint64_t hint, uint64_t sizeBytes, uint64_t alignment) {
    giveLeftoversBack();
    // Two: trimming may cut a mapping that the kernel had joined with its neighbours.
    auto admitted = budget_.admit(2, "reserving address space");
    if (!admitted) {
        return forward(admitted);
    }
    const auto va = os_.reserveAddress(isAligned(hint, alignment) ? hint : 0, sizeBytes);
    if (!va) {
        return failWith(va.error(),
                        fmt::format("reserving {} bytes of address space", sizeBytes),
                        Scarce::Device);
    }
    if (!isAligned(*va, alignment)) {
        discard(*va, sizeBytes);
        return reservePadded(sizeBytes, alignment);
    }
    budget_.noteMapped(*va, sizeBytes);
    return *va;
}

/// Reserves so much that an aligned stretch is in it, and gives the rest back.
Result<uint64_t> SoftAddressSpace::reservePadded(uint64_t sizeBytes, uint64_t alignment) {
    // Where the sum would wrap, what is asked for instead is refused just as well.
    const uint64_t padded = checkedAdd(sizeBytes, alignment - os_.pageSize())
                                .value_or(alignDown(UINT64_MAX, alignment));
    const auto start = os_.reserveAddress(0, padded);
    if (!start) {
        return failWith(start.error(),
                        fmt::format("reserving {} bytes of address space at a multiple of {}",
                                    sizeBytes,
                                    alignment),
                        Scarce::Device);
    }
    const uint64_t va = alignDown(*start + alignment - 1, alignment); // within what is mapped
    const uint64_t before = va - *start;
    discard(*start, before);
    discard(va + sizeBytes, padded - before - sizeBytes);
    budget_.noteMapped(va, sizeBytes);
    return va;
}

Result<void> SoftAddressSpace::release(uint64_t va, uint64_t sizeBytes) {
    const auto unmapped = os_.unmap(va, sizeBytes);
    if (!unmapped) {
        return failWith(unmapped.error(),
                        fmt::format("releasing {} bytes at {:#x}", sizeBytes, va),
                        Scarce::Device);
    }
    budget_.noteGone(va, sizeBytes);
    giveLeftoversBack();
    return {};
}

void SoftAddressSpace::discard(uint64_t va, uint64_t sizeBytes) noexcept {
    if (sizeBytes == 0) {
        return;
    }
    giveLeftoversBack();
    const auto unmapped = os_.unmap(va, sizeBytes);
    if (unmapped) {
        budget_.noteGone(va, sizeBytes);
        return;
    }
    budget_.lookAgain();
    try {
        logOnce(unmapped.error(), "of address space are given back later", va, sizeBytes);
        const MutexLock lock(mutex_);
        leftovers_.push_back({.va = va, .sizeBytes = sizeBytes});
        // NOLINTNEXTLINE(bugprone-empty-catch): without memory to remember them they are lost
    } catch (const std::bad_alloc &) {
    }
}

void SoftAddressSpace::giveLeftoversBack() noexcept {
    const MutexLock lock(mutex_);
    std::erase_if(leftovers_, [this](const Stretch &left) {
        return os_.unmap(left.va, left.sizeBytes).has_value();
    });
}

Result<void> SoftAddressSpace::bind(std::span<const Binding> bindings) {
    auto runs = joinRuns(bindings);
    if (!runs) {
        return forward(runs);
    }
    auto admitted = budget_.admit(mapsOf(*runs), "binding");
    if (!admitted) {
        return admitted;
    }
    for (size_t i = 0; i < runs->size(); ++i) {
        const Run &run = (*runs)[i];
        const auto mapped =
            os_.mapFile(run.va, run.sizeBytes, protectionOf(run.access), run.fd, run.fileOffset);
        if (!mapped) {
            budget_.lookAgain(); // somebody else maps too
            undo(std::span(*runs).first(i));
            mend(run);
            return failWith(mapped.error(),
                            fmt::format("binding {} bytes at {:#x}, after {} of {} mappings",
                                        run.sizeBytes,
                                        run.va,
                                        i,
                                        runs->size()),
                            Scarce::Device);
        }
    }
    for (const Run &run : *runs) {
        budget_.noteMapped(run.va, run.sizeBytes);
    }
    return {};
}

Result<std::vector<SoftAddressSpace::Run>> SoftAddressSpace::joinRuns(
    std::span<const Binding> bindings) {
    std::vector<Run> runs;
    runs.reserve(bindings.size());
    for (const Binding &binding : bindings) {
        const auto &memory = static_cast<const SoftMemory &>(*binding.memory); // of this backend
        const Run next = {.va = binding.va,
                          .sizeBytes = binding.sizeBytes,
                          .fileOffset = memory.backingOffset() + binding.offset,
                          .backing = memory.backing().get(),
                          .fd = memory.fd(),
                          .access = binding.access};
        if (next.fd < 0) {
            return fail(Status::UnsupportedFeature,
                        "imported memory cannot be bound again at {:#x}: its descriptor was closed "
                        "once the memory was mapped",
                        binding.va);
        }
        Run *last = runs.empty() ? nullptr : &runs.back();
        if (last != nullptr && last->va + last->sizeBytes == next.va &&
            last->backing == next.backing && last->access == next.access &&
            last->fileOffset + last->sizeBytes == next.fileOffset) {
            last->sizeBytes += next.sizeBytes;
        } else {
            runs.push_back(next);
        }
    }
    return runs;
}

/// How many mappings the runs add at most: one where a run begins at the end of the one before,
/// else two, since what it lies in is cut in three.
uint64_t SoftAddressSpace::mapsOf(std::span<const Run> runs) {
    uint64_t maps = 0;
    uint64_t end = 0;
    for (const Run &run : runs) {
        maps += run.va == end ? 1 : 2;
        end = run.va + run.sizeBytes;
    }
    return maps;
}

/// Turns bound runs back into reserved address space, those that touch in one call.
void SoftAddressSpace::undo(std::span<const Run> bound) {
    for (size_t i = 0; i < bound.size();) {
        const uint64_t va = bound[i].va;
        uint64_t end = va;
        for (; i < bound.size() && bound[i].va == end; ++i) {
            end += bound[i].sizeBytes;
        }
        const auto blank = os_.blankAddress(va, end - va);
        if (!blank) {
            logOnce(blank.error(), "stay bound until their reservation is freed", va, end - va);
        }
    }
}

/// A mapping over another that fails late leaves a hole in the reservation. Fills it, unless
/// somebody took it: a hint never replaces a mapping, as MAP_FIXED would.
void SoftAddressSpace::mend(const Run &failed) {
    if (os_.protect(failed.va, failed.sizeBytes, Protection::None)) {
        return; // there is no hole: what is reserved is so still
    }
    const auto va = os_.reserveAddress(failed.va, failed.sizeBytes);
    if (!va) {
        logOnce(va.error(), "are missing in their reservation", failed.va, failed.sizeBytes);
    } else if (*va != failed.va) {
        discard(*va, failed.sizeBytes);
    }
}

Result<void> SoftAddressSpace::unbind(uint64_t va, uint64_t sizeBytes) {
    // May use what is kept for undoing: else an application at the limit could not get away from
    // it.
    auto admitted = budget_.admit(2, "unbinding", 0);
    if (!admitted) {
        return admitted;
    }
    const auto blank = os_.blankAddress(va, sizeBytes);
    if (!blank) {
        return failWith(blank.error(),
                        fmt::format("unbinding {} bytes at {:#x}", sizeBytes, va),
                        Scarce::Device);
    }
    budget_.noteMapped(va, sizeBytes);
    return {};
}

Result<void> SoftAddressSpace::protect(uint64_t va, uint64_t sizeBytes, Access access) {
    auto admitted = budget_.admit(2, "changing the access of a stretch");
    if (!admitted) {
        return admitted;
    }
    const auto changed = os_.protect(va, sizeBytes, protectionOf(access));
    if (!changed) {
        return failWith(changed.error(),
                        fmt::format("making {} bytes at {:#x} {}", sizeBytes, va, toString(access)),
                        Scarce::Device);
    }
    return {};
}

} // namespace causeway::kmd::soft
