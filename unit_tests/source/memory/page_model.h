#pragma once

#include "source/memory/memory_manager.h"

#include <cstdint>
#include <map>

namespace causeway::memory {

/// What a memory manager must know, as one cell for each OS page: nothing ordered, nothing merged,
/// every answer found by walking. The property test compares both.
class PageModel {
  public:
    static constexpr uint64_t pageBytes = 4096;

    enum class RegionKind : uint8_t { Reservation, Allocation, Import };

    struct Region {
        RegionKind kind = RegionKind::Reservation;
        uint64_t va = 0;
        uint64_t sizeBytes = 0;
        uint64_t windowAt = 0; ///< of an allocation or import: what the application was given
        uint64_t windowBytes = 0;
        PointerKind pointerKind = PointerKind::Unknown; ///< of an allocation
        uint64_t id = 0;                                ///< of an allocation or import

        [[nodiscard]] uint64_t end() const { return va + sizeBytes; }

        [[nodiscard]] bool windowHolds(uint64_t address) const {
            return address >= windowAt && address - windowAt < windowBytes;
        }
    };

    struct Page {
        uint64_t region = 0;                    ///< key of regions()
        const PhysicalMemory *object = nullptr; ///< null where nothing is mapped; no reference
        uint64_t offset = 0;
        Access access = Access::None;
        Access limit = Access::ReadWrite;
        uint64_t mapping = 0; ///< which map() made it
        uint64_t id = 0;      ///< what the manager calls it
    };

    void addRegion(const Region &region) {
        regions_.emplace(region.va, region);
        for (uint64_t at = region.va; at < region.end(); at += pageBytes) {
            pages_[at].region = region.va;
        }
    }

    void removeRegion(uint64_t va) {
        const Region region = regions_.at(va);
        for (uint64_t at = region.va; at < region.end(); at += pageBytes) {
            pages_.erase(at);
        }
        regions_.erase(va);
    }

    /// `first` describes the first page; the others follow it.
    void map(uint64_t va, uint64_t sizeBytes, Page first) {
        first.mapping = ++mappings_;
        for (uint64_t done = 0; done < sizeBytes; done += pageBytes) {
            Page &page = pages_.at(va + done);
            first.region = page.region;
            page = first;
            page.offset += done;
        }
    }

    void unmap(uint64_t va, uint64_t sizeBytes) {
        for (uint64_t done = 0; done < sizeBytes; done += pageBytes) {
            Page &page = pages_.at(va + done);
            page = Page{.region = page.region};
        }
    }

    void setAccess(uint64_t va, uint64_t sizeBytes, Access access) {
        for (uint64_t done = 0; done < sizeBytes; done += pageBytes) {
            pages_.at(va + done).access = access;
        }
    }

    [[nodiscard]] const std::map<uint64_t, Region> &regions() const { return regions_; }

    [[nodiscard]] const std::map<uint64_t, Page> &pages() const { return pages_; }

    /// The page that holds an address, or null.
    [[nodiscard]] const Page *pageAt(uint64_t address) const {
        const auto page = pages_.find(address & ~(pageBytes - 1));
        return page == pages_.end() ? nullptr : &page->second;
    }

    [[nodiscard]] const Region *regionAt(uint64_t address) const {
        const Page *page = pageAt(address);
        return page == nullptr ? nullptr : &regions_.at(page->region);
    }

    [[nodiscard]] bool isMapped(uint64_t address) const {
        const Page *page = pageAt(address);
        return page != nullptr && page->object != nullptr;
    }

    template <typename Predicate>
    [[nodiscard]] bool all(uint64_t va, uint64_t sizeBytes, Predicate holds) const {
        for (uint64_t at = va; at < va + sizeBytes; at += pageBytes) {
            if (!holds(at)) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool allReserved(uint64_t va, uint64_t sizeBytes) const {
        return all(va, sizeBytes, [this](uint64_t at) {
            const Region *region = regionAt(at);
            return region != nullptr && region->kind == RegionKind::Reservation;
        });
    }

    [[nodiscard]] bool allFree(uint64_t va, uint64_t sizeBytes) const {
        return all(va, sizeBytes, [this](uint64_t at) { return pageAt(at) == nullptr; });
    }

    [[nodiscard]] bool noneMapped(uint64_t va, uint64_t sizeBytes) const {
        return all(va, sizeBytes, [this](uint64_t at) { return !isMapped(at); });
    }

    /// Allocations are not mapped: they are another thing.
    [[nodiscard]] bool allMapped(uint64_t va, uint64_t sizeBytes) const {
        return all(va, sizeBytes, [this](uint64_t at) {
            return isMapped(at) && regionAt(at)->kind != RegionKind::Allocation;
        });
    }

    /// Whether a change that begins or ends at `cut` would go through a page of the object there.
    [[nodiscard]] bool cutsAPage(uint64_t cut) const {
        const Page *lower = pageAt(cut - 1);
        const Page *upper = pageAt(cut);
        if (lower == nullptr || upper == nullptr || lower->object == nullptr ||
            lower->mapping != upper->mapping) {
            return false;
        }
        const PhysicalMemory &object = *lower->object;
        return cut % object.device().pageRules(object.placement()).granularity != 0;
    }

    /// The mapping that holds a mapped address, as far as it is still whole.
    [[nodiscard]] AddressStretch mappingAround(uint64_t address) const {
        uint64_t first = address & ~(pageBytes - 1);
        uint64_t end = first + pageBytes;
        const uint64_t mapping = pageAt(first)->mapping;
        const auto same = [&](uint64_t at) {
            return isMapped(at) && pageAt(at)->mapping == mapping;
        };
        while (same(first - pageBytes)) {
            first -= pageBytes;
        }
        while (same(end)) {
            end += pageBytes;
        }
        return {first, end - first};
    }

  private:
    std::map<uint64_t, Region> regions_;
    std::map<uint64_t, Page> pages_;
    uint64_t mappings_ = 0;
};

} // namespace causeway::memory
