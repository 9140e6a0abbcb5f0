#pragma once

#include "source/memory/memory_manager.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/memory/result_checks.h"
#include "unit_tests/source/memory/watched_backend.h"

#include <memory>
#include <string>
#include <vector>

namespace causeway::memory {

inline constexpr uint64_t osPage = 4096;
inline constexpr uint64_t devicePage = 64 * 1024; ///< the fake's granularity of device memory

/// What a failing call must leave as it was.
struct MemoryState {
    std::vector<fakes::FakeBinding> bindings;
    size_t reservations = 0;
    uint64_t objects = 0;
    std::vector<AddressStretch> stretches; ///< what addressRange says of each binding
    std::vector<PointerInfo> pointers;     ///< and pointerInfo
    std::vector<AccessStretch> accesses;   ///< and access; empty stretches for allocations
};

/// A memory manager on the fake backend. The fake fails the test for each breach of kmd.h, and at
/// the end for each reservation, binding or object that is left.
class MemoryFixture : public fakes::ResourceCheckedTest {
  protected:
    MemoryFixture() : manager_(must(MemoryManager::create(backend_, osPage))) {}

    [[nodiscard]] const kmd::Device &device(size_t index = 0) const {
        return *backend_.devices()[index];
    }

    /// Without a hint of the test's: with free addresses behind it.
    [[nodiscard]] uint64_t reserve(uint64_t pages, uint64_t hint = 0) {
        if (hint == 0) {
            hint = nextHint_;
            nextHint_ += 1024 * devicePage;
        }
        return must(manager_->reserve(hint, pages * devicePage));
    }

    /// A second reservation right behind the first one of `pages` pages.
    [[nodiscard]] uint64_t reserveBehind(uint64_t first, uint64_t pages, uint64_t morePages) {
        const uint64_t behind = first + pages * devicePage;
        const uint64_t va = reserve(morePages, behind);
        EXPECT_EQ(va, behind);
        return va;
    }

    [[nodiscard]] PhysicalMemoryRef object(uint64_t pages,
                                           Placement placement = Placement::Device) {
        return must(manager_->createPhysical(device(), placement, pages * devicePage));
    }

    void map(uint64_t va,
             uint64_t pages,
             const PhysicalMemoryRef &memory,
             uint64_t fromPage = 0,
             Access access = Access::ReadWrite) {
        must(manager_->map(va, pages * devicePage, memory, fromPage * devicePage, access));
    }

    [[nodiscard]] uint64_t allocate(AllocationKind kind, uint64_t sizeBytes) {
        return must(manager_->allocate(
            {.kind = kind, .device = &device(), .sizeBytes = sizeBytes, .alignment = 0}));
    }

    /// An imported range of one piece per access; its window leaves `lead` bytes at the start and
    /// `slack` at the end. Each piece has one device page.
    [[nodiscard]] uint64_t importRange(const std::vector<Access> &accesses,
                                       uint64_t lead = 0,
                                       uint64_t slack = 0,
                                       Placement placement = Placement::Device) {
        const uint64_t mapped = accesses.size() * devicePage;
        auto transaction = must(manager_->beginImport(mapped));
        uint64_t position = 0;
        for (const Access access : accesses) {
            bind(transaction, piece(position, access, placement));
            position += devicePage;
        }
        return transaction.commit(lead, mapped - lead - slack, device());
    }

    [[nodiscard]] ImportTransaction::Piece piece(uint64_t position,
                                                 Access access = Access::ReadWrite,
                                                 Placement placement = Placement::Device) {
        return {.position = position,
                .object = must(manager_->importObject(
                    device(), UniqueFd(), {.placement = placement, .sizeBytes = devicePage})),
                .offset = 0,
                .sizeBytes = devicePage,
                .access = access,
                .origin = {}};
    }

    static void bind(ImportTransaction &transaction, const ImportTransaction::Piece &piece) {
        must(transaction.bind({&piece, 1}));
    }

    [[nodiscard]] MemoryState state() const {
        MemoryState state = {.bindings = backend_.space().bindings(),
                             .reservations = backend_.space().reservationCount(),
                             .objects = backend_.fake().liveMemory(),
                             .stretches = {},
                             .pointers = {},
                             .accesses = {}};
        for (const fakes::FakeBinding &binding : state.bindings) {
            state.stretches.push_back(
                manager_->addressRange(binding.va).value_or(AddressStretch{}));
            state.pointers.push_back(manager_->pointerInfo(binding.va));
            state.accesses.push_back(
                manager_->access(binding.va, binding.sizeBytes).value_or(AccessStretch{}));
        }
        return state;
    }

    mutable WatchedBackend backend_;
    std::unique_ptr<MemoryManager> manager_;

  private:
    uint64_t nextHint_ = uint64_t{1} << 40; ///< below what the fake chooses itself
};

/// Empty where both are the same.
[[nodiscard]] inline std::string difference(const MemoryState &before, const MemoryState &after) {
    const auto text = [](const MemoryState &state) {
        std::string lines =
            fmt::format("{} reservations, {} objects, bound:\n", state.reservations, state.objects);
        for (size_t i = 0; i < state.bindings.size(); ++i) {
            const fakes::FakeBinding &binding = state.bindings[i];
            lines += fmt::format("  {:#x} +{:#x} of {} at {:#x} {}, range {:#x} +{:#x}, kind {} id "
                                 "{}, access {} +{:#x}\n",
                                 binding.va,
                                 binding.sizeBytes,
                                 static_cast<const void *>(binding.memory),
                                 binding.offset,
                                 toString(binding.access),
                                 state.stretches[i].base,
                                 state.stretches[i].sizeBytes,
                                 static_cast<int>(state.pointers[i].kind),
                                 state.pointers[i].id,
                                 toString(state.accesses[i].access),
                                 state.accesses[i].sizeBytes);
        }
        return lines;
    };
    const std::string first = text(before);
    const std::string second = text(after);
    return first == second ? "" : fmt::format("before: {}after: {}", first, second);
}

} // namespace causeway::memory
