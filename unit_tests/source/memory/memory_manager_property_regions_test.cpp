// The calls of the property test that make and end regions: reservations, allocations, imports.
#include "unit_tests/source/memory/memory_manager_property.h"

#include <array>

namespace causeway::memory {

void MemoryManagerProperty::reserve() {
    // Close together, so that reservations touch and mappings span them.
    uint64_t hint = 0;
    if (!chance(4)) {
        hint = hintBase + below(16) * devicePage + (chance(10) ? page : 0);
    }
    const uint64_t unit = chance(3) ? page : devicePage;
    const uint64_t sizeBytes = (1 + below(4)) * unit + (chance(40) ? 1 : 0);
    armFault();
    const auto va = manager_->reserve(hint, sizeBytes);
    const bool crooked = sizeBytes % page != 0;
    if (!judge(va, crooked ? std::optional(Status::UnsupportedSize) : std::nullopt)) {
        return;
    }
    EXPECT_EQ(*va % devicePage, 0U);
    EXPECT_TRUE(model_.allFree(*va, sizeBytes));
    if (hint != 0 && hint % devicePage == 0 && model_.allFree(hint, sizeBytes)) {
        EXPECT_EQ(*va, hint);
    }
    model_.addRegion({.kind = RegionKind::Reservation, .va = *va, .sizeBytes = sizeBytes});
}

void MemoryManagerProperty::freeReservation() {
    const Region *region =
        anyRegion(chance(10) ? std::nullopt : std::optional(RegionKind::Reservation));
    if (region == nullptr) {
        return;
    }
    const Target target = {.va = region->va + (chance(10) ? page : 0),
                           .sizeBytes = region->sizeBytes - (chance(10) ? page : 0)};
    std::optional<Status> expected;
    if (region->kind != RegionKind::Reservation || target.va != region->va ||
        target.sizeBytes != region->sizeBytes) {
        expected = Status::InvalidArgument;
    } else if (model_.cutsAPage(target.va) || model_.cutsAPage(target.va + target.sizeBytes)) {
        expected = Status::UnsupportedAlignment;
    }
    armFault();
    if (judge(manager_->freeReservation(target.va, target.sizeBytes), expected)) {
        model_.removeRegion(target.va);
    }
}

void MemoryManagerProperty::allocate() {
    const auto kind = static_cast<AllocationKind>(below(3));
    const bool host = kind == AllocationKind::Host;
    const uint64_t sizeBytes = 1 + below(3 * devicePage);
    armFault();
    const auto va = manager_->allocate({.kind = kind,
                                        .device = backend_.devices()[0].get(),
                                        .sizeBytes = sizeBytes,
                                        .alignment = 0});
    if (!judge(va, std::nullopt)) {
        return;
    }
    const uint64_t unit = host ? page : devicePage;
    const uint64_t whole = (sizeBytes + unit - 1) / unit * unit;
    EXPECT_TRUE(model_.allFree(*va, whole));
    static constexpr std::array kinds = {
        PointerKind::Device, PointerKind::Host, PointerKind::Shared};
    const uint64_t id = freshId(*va);
    model_.addRegion({.kind = RegionKind::Allocation,
                      .va = *va,
                      .sizeBytes = whole,
                      .windowAt = *va,
                      .windowBytes = sizeBytes,
                      .pointerKind = kinds[static_cast<size_t>(kind)],
                      .id = id});
    const auto binding = backend_.space().bindingAt(*va);
    ASSERT_TRUE(binding);
    model_.map(*va, whole, {.object = binding->memory, .access = Access::ReadWrite, .id = id});
}

void MemoryManagerProperty::freeAllocation() {
    const Region *region =
        anyRegion(chance(4) ? std::nullopt : std::optional(RegionKind::Allocation));
    if (region == nullptr) {
        return;
    }
    const uint64_t va = region->va;
    const bool right = region->kind == RegionKind::Allocation;
    armFault();
    if (judge(manager_->free(va), right ? std::nullopt : std::optional(Status::InvalidArgument))) {
        model_.removeRegion(va);
    }
}

/// Binds as many pieces, commits, and tells the model. Nothing where the back end failed.
std::optional<uint64_t> MemoryManagerProperty::importPieces(uint64_t pieceCount) {
    const kmd::Device &device = *backend_.devices()[0];
    const uint64_t mapped = pieceCount * devicePage;
    auto transaction = manager_->beginImport(mapped);
    if (!judge(transaction, std::nullopt)) {
        return std::nullopt;
    }
    std::vector<ImportTransaction::Piece> pieces;
    for (uint64_t i = 0; i < pieceCount; ++i) {
        const Placement placement = chance(2) ? Placement::Device : Placement::Host;
        auto object = must(manager_->importObject(
            device, UniqueFd(), {.placement = placement, .sizeBytes = 2 * devicePage}));
        pieces.push_back({.position = i * devicePage,
                          .object = std::move(object),
                          .offset = below(2) * devicePage,
                          .sizeBytes = devicePage,
                          .access = anyAccess(),
                          .origin = {}});
    }
    armFault();
    if (!judge(transaction->bind(pieces), std::nullopt)) {
        return std::nullopt;
    }
    const uint64_t lead = below(page);
    const uint64_t window = mapped - lead - below(page);
    const uint64_t address = transaction->commit(lead, window, device);
    const uint64_t va = address - lead;
    model_.addRegion({.kind = RegionKind::Import,
                      .va = va,
                      .sizeBytes = mapped,
                      .windowAt = address,
                      .windowBytes = window,
                      .id = freshId(address)});
    for (const auto &piece : pieces) {
        model_.map(va + piece.position,
                   piece.sizeBytes,
                   {.object = piece.object.get(),
                    .offset = piece.offset,
                    .access = piece.access,
                    .limit = piece.access,
                    .id = model_.regions().at(va).id});
    }
    lastId_ += pieceCount; // each piece has one too, though nobody sees it
    return va;
}

void MemoryManagerProperty::import() {
    armFault();
    (void)importPieces(1 + below(4));
}

void MemoryManagerProperty::closeImport() {
    const Region *region = anyRegion(chance(4) ? std::nullopt : std::optional(RegionKind::Import));
    if (region == nullptr) {
        return;
    }
    const uint64_t va = region->va;
    const uint64_t address = region->windowAt + (chance(8) ? 1 : 0);
    const bool right = region->kind == RegionKind::Import && address == region->windowAt;
    armFault();
    if (judge(manager_->closeImport(address),
              right ? std::nullopt : std::optional(Status::InvalidArgument))) {
        model_.removeRegion(va);
    }
}

} // namespace causeway::memory
