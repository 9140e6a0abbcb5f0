// The questions of the property test; memory_manager_property_test.cpp makes the changes.
#include "unit_tests/source/memory/memory_manager_property.h"

#include <algorithm>
#include <set>

namespace causeway::memory {

void MemoryManagerProperty::compareAnswers() {
    for (int i = 0; i < 3; ++i) {
        const Target target = anyTarget(12);
        const uint64_t address = target.va + below(page);
        compareRange(address);
        comparePointer(address);
        compareAccess(address / page * page, (1 + below(8)) * page);
        compareSnapshot(address, 1 + below(12 * page));
    }
}

void MemoryManagerProperty::compareAll() {
    uint64_t boundPages = 0;
    for (const fakes::FakeBinding &binding : backend_.space().bindings()) {
        for (uint64_t done = 0; done < binding.sizeBytes; done += page, ++boundPages) {
            const PageModel::Page *cell = model_.pageAt(binding.va + done);
            if (cell == nullptr || cell->object != binding.memory ||
                cell->offset != binding.offset + done || cell->access != binding.access) {
                FAIL() << "bound otherwise at " << std::hex << binding.va + done;
            }
        }
    }
    std::set<const PhysicalMemory *> alive;
    uint64_t mappedPages = 0;
    for (const auto &[va, cell] : model_.pages()) {
        if (cell.object != nullptr) {
            ++mappedPages;
            alive.insert(cell.object);
        }
    }
    for (const PhysicalMemoryRef &object : objects_) {
        alive.insert(object.get());
    }
    EXPECT_EQ(boundPages, mappedPages);
    EXPECT_EQ(backend_.fake().liveMemory(), alive.size());
    EXPECT_EQ(backend_.space().reservationCount(), model_.regions().size());
}

void MemoryManagerProperty::finish() {
    manager_.reset();
    EXPECT_EQ(backend_.fake().liveMemory(), objects_.size());
    objects_.clear();
    EXPECT_EQ(backend_.fake().liveMemory(), 0U);
    EXPECT_EQ(backend_.fake().liveBackings(), 0U);
}

void MemoryManagerProperty::compareRange(uint64_t address) {
    const auto range = manager_->addressRange(address);
    const Region *region = model_.regionAt(address);
    if (region != nullptr && region->windowHolds(address)) {
        ASSERT_TRUE(succeeds(range));
        EXPECT_EQ(range->base, region->windowAt);
        EXPECT_EQ(range->sizeBytes, region->windowBytes);
    } else if (region != nullptr && region->kind == RegionKind::Reservation &&
               model_.isMapped(address)) {
        ASSERT_TRUE(succeeds(range));
        const AddressStretch expected = model_.mappingAround(address);
        EXPECT_EQ(range->base, expected.base);
        EXPECT_EQ(range->sizeBytes, expected.sizeBytes);
    } else {
        EXPECT_TRUE(failsWith(range, Status::AddressNotFound));
    }
}

void MemoryManagerProperty::comparePointer(uint64_t address) {
    const PointerInfo info = manager_->pointerInfo(address);
    const Region *region = model_.regionAt(address);
    const bool known = region != nullptr &&
                       (region->kind == RegionKind::Reservation ? model_.isMapped(address)
                                                                : region->windowHolds(address));
    if (!known) {
        EXPECT_EQ(info.kind, PointerKind::Unknown);
        EXPECT_EQ(info.id, 0U);
        return;
    }
    const PageModel::Page &cell = *model_.pageAt(address);
    const bool onHost = cell.object->placement() == Placement::Host;
    const PointerKind ofObject = onHost ? PointerKind::Host : PointerKind::Device;
    EXPECT_EQ(info.kind, region->kind == RegionKind::Allocation ? region->pointerKind : ofObject);
    EXPECT_EQ(info.id, cell.id);
    EXPECT_EQ(info.device, info.kind == PointerKind::Host ? nullptr : backend_.devices()[0].get());
}

/// The stretch must be true as far as it goes, and go on unless something ends it.
void MemoryManagerProperty::compareAccess(uint64_t address, uint64_t sizeBytes) {
    const auto stretch = manager_->access(address, sizeBytes);
    const auto isOurs = [this](uint64_t at) {
        const Region *region = model_.regionAt(at);
        return region != nullptr && region->kind != RegionKind::Allocation;
    };
    if (!isOurs(address)) {
        EXPECT_TRUE(failsWith(stretch, Status::InvalidArgument));
        return;
    }
    ASSERT_TRUE(succeeds(stretch));
    const uint64_t firstPage = address / page * page;
    const uint64_t end = address + stretch->sizeBytes;
    EXPECT_EQ(end % page, 0U);
    EXPECT_TRUE(model_.all(firstPage, end - firstPage, [&](uint64_t at) {
        return isOurs(at) && model_.pageAt(at)->access == stretch->access;
    }));
    if (stretch->sizeBytes < sizeBytes) {
        EXPECT_TRUE(!isOurs(end) || model_.pageAt(end)->access != stretch->access);
    }
}

bool MemoryManagerProperty::includesSlack(uint64_t address, uint64_t end) const {
    return std::ranges::any_of(model_.regions(), [&](const auto &entry) {
        const Region &region = entry.second;
        const uint64_t from = std::max(address, region.va);
        const uint64_t to = std::min(end, region.end());
        return region.kind == RegionKind::Import && from < to &&
               !(region.windowHolds(from) && region.windowHolds(to - 1));
    });
}

void MemoryManagerProperty::compareSnapshot(uint64_t address, uint64_t sizeBytes) {
    const auto snapshot = manager_->snapshot(address, sizeBytes);
    const uint64_t end = address + sizeBytes;
    const uint64_t firstPage = address / page * page;
    const bool usm = !model_.all(firstPage, end - firstPage, [this](uint64_t at) {
        const Region *region = model_.regionAt(at);
        return region == nullptr || region->kind != RegionKind::Allocation;
    });
    if (usm) {
        EXPECT_TRUE(failsWith(snapshot, Status::InvalidArgument, "allocation"));
    } else if (includesSlack(address, end)) {
        EXPECT_TRUE(failsWith(snapshot, Status::AddressNotFound));
    } else if (!model_.all(firstPage, end - firstPage, [this](uint64_t at) {
                   return model_.isMapped(at);
               })) {
        compareHole(snapshot, address, end);
    } else {
        ASSERT_TRUE(succeeds(snapshot));
        comparePieces(*snapshot, address, end);
    }
}

void MemoryManagerProperty::compareHole(const Result<RangeSnapshot> &snapshot,
                                        uint64_t address,
                                        uint64_t end) {
    uint64_t hole = address / page * page;
    while (model_.isMapped(hole)) {
        hole += page;
    }
    uint64_t holeEnd = hole;
    while (holeEnd < end && !model_.isMapped(holeEnd)) {
        holeEnd += page;
    }
    hole = std::max(hole, address);
    EXPECT_TRUE(
        failsWith(snapshot,
                  Status::AddressNotFound,
                  fmt::format("hole at {:#x}, {} bytes", hole, std::min(end, holeEnd) - hole)));
}

/// Pieces are as long as one mapping with one access lasts.
void MemoryManagerProperty::comparePieces(const RangeSnapshot &snapshot,
                                          uint64_t address,
                                          uint64_t end) {
    uint64_t at = address / page * page;
    EXPECT_EQ(snapshot.address, address);
    EXPECT_EQ(snapshot.windowBytes, end - address);
    EXPECT_EQ(snapshot.leadBytes, address - at);
    for (const SnapshotPiece &piece : snapshot.pieces) {
        const PageModel::Page &first = *model_.pageAt(at);
        EXPECT_EQ(piece.object.get(), first.object);
        EXPECT_EQ(piece.offset, first.offset);
        EXPECT_EQ(piece.access, first.access);
        uint64_t pieceEnd = at;
        while (pieceEnd < end && model_.pageAt(pieceEnd)->mapping == first.mapping &&
               model_.pageAt(pieceEnd)->access == first.access) {
            pieceEnd += page;
        }
        EXPECT_EQ(piece.sizeBytes, pieceEnd - at);
        at += piece.sizeBytes;
    }
    EXPECT_GE(at, end);
    EXPECT_LT(at - end, page);
}

} // namespace causeway::memory
