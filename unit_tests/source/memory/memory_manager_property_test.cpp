#include "unit_tests/source/memory/memory_manager_property.h"

#include "unit_tests/fakes/resource_check.h"

#include <algorithm>
#include <array>
#include <functional>

namespace causeway::memory {

MemoryManagerProperty::MemoryManagerProperty(uint32_t seed)
    : random_(seed), manager_(must(MemoryManager::create(backend_, page))) {}

uint64_t MemoryManagerProperty::below(uint64_t limit) {
    return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random_);
}

bool MemoryManagerProperty::chance(uint64_t oneIn) {
    return below(oneIn) == 0;
}

Access MemoryManagerProperty::anyAccess() {
    return static_cast<Access>(below(3));
}

const PageModel::Region *MemoryManagerProperty::anyRegion(std::optional<RegionKind> kind) {
    std::vector<const Region *> candidates;
    for (const auto &[va, region] : model_.regions()) {
        if (!kind || region.kind == *kind) {
            candidates.push_back(&region);
        }
    }
    return candidates.empty() ? nullptr : candidates[below(candidates.size())];
}

/// Mostly whole pages in or around a region, now and then something crooked.
MemoryManagerProperty::Target MemoryManagerProperty::anyTarget(uint64_t mostPages) {
    const Region *region = anyRegion(std::nullopt);
    const uint64_t base = region == nullptr ? devicePage : region->va;
    const uint64_t pages = region == nullptr ? 4 : region->sizeBytes / page;
    const uint64_t unit = chance(2) ? devicePage : page;
    const uint64_t start = (base - devicePage + below(pages + 8) * page) / unit * unit;
    const uint64_t crooked = chance(40) ? 1 : 0;
    return {.va = start + crooked,
            .sizeBytes = (1 + below(mostPages)) * unit * (chance(60) ? 0 : 1) + crooked};
}

void MemoryManagerProperty::armFault() {
    if (chance(8)) {
        backend_.fake().failAt(1 + below(3), injected);
    }
}

uint64_t MemoryManagerProperty::freshId(uint64_t va) {
    const uint64_t id = manager_->pointerInfo(va).id;
    EXPECT_GT(id, lastId_) << "an id was used before";
    lastId_ = std::max(lastId_, id);
    return id;
}

void MemoryManagerProperty::createObject() {
    if (objects_.size() == 6) {
        dropObject();
    }
    const Placement placement = chance(2) ? Placement::Device : Placement::Host;
    const uint64_t unit = placement == Placement::Device ? devicePage : page;
    objects_.push_back(
        must(manager_->createPhysical(*backend_.devices()[0], placement, (1 + below(8)) * unit)));
}

void MemoryManagerProperty::dropObject() {
    if (!objects_.empty()) {
        std::swap(objects_[below(objects_.size())], objects_.back());
        objects_.pop_back();
    }
}

std::optional<Status> MemoryManagerProperty::expectedOfMap(const Target &target,
                                                           const PhysicalMemory &object,
                                                           uint64_t offset) const {
    const uint64_t unit = object.placement() == Placement::Device ? devicePage : page;
    if (target.sizeBytes == 0 || target.sizeBytes % unit != 0) {
        return Status::UnsupportedSize;
    }
    if (target.va % unit != 0 || offset % unit != 0) {
        return Status::UnsupportedAlignment;
    }
    if (offset + target.sizeBytes > object.sizeBytes() ||
        !model_.allReserved(target.va, target.sizeBytes) ||
        !model_.noneMapped(target.va, target.sizeBytes)) {
        return Status::InvalidArgument;
    }
    return std::nullopt;
}

void MemoryManagerProperty::map() {
    if (objects_.empty()) {
        createObject();
    }
    const PhysicalMemoryRef object = objects_[below(objects_.size())];
    const Target target = anyTarget(4);
    const uint64_t offset = below(3) * (chance(2) ? devicePage : page);
    const Access access = anyAccess();
    const auto expected = expectedOfMap(target, *object, offset);
    armFault();
    if (judge(manager_->map(target.va, target.sizeBytes, object, offset, access), expected)) {
        model_.map(
            target.va,
            target.sizeBytes,
            {.object = object.get(), .offset = offset, .access = access, .id = freshId(target.va)});
    }
}

std::optional<Status> MemoryManagerProperty::expectedOfPages(const Target &target) {
    if (target.sizeBytes == 0 || target.sizeBytes % page != 0) {
        return Status::UnsupportedSize;
    }
    return target.va % page != 0 ? std::optional(Status::UnsupportedAlignment) : std::nullopt;
}

std::optional<Status> MemoryManagerProperty::expectedOfUnmap(const Target &target) const {
    if (const auto expected = expectedOfPages(target)) {
        return expected;
    }
    if (!model_.allReserved(target.va, target.sizeBytes)) {
        return Status::InvalidArgument;
    }
    if (model_.cutsAPage(target.va) || model_.cutsAPage(target.va + target.sizeBytes)) {
        return Status::UnsupportedAlignment;
    }
    return std::nullopt;
}

void MemoryManagerProperty::unmap() {
    const Target target = anyTarget(chance(2) ? 1 : 6);
    const auto expected = expectedOfUnmap(target);
    armFault();
    if (judge(manager_->unmap(target.va, target.sizeBytes), expected)) {
        model_.unmap(target.va, target.sizeBytes);
    }
}

std::optional<Status> MemoryManagerProperty::expectedOfSetAccess(const Target &target,
                                                                 Access access) const {
    if (const auto expected = expectedOfPages(target)) {
        return expected;
    }
    const bool permitted = model_.allMapped(target.va, target.sizeBytes) &&
                           model_.all(target.va, target.sizeBytes, [&](uint64_t at) {
                               return access <= model_.pageAt(at)->limit;
                           });
    if (!permitted) {
        return Status::InvalidArgument;
    }
    if (model_.cutsAPage(target.va) || model_.cutsAPage(target.va + target.sizeBytes)) {
        return Status::UnsupportedAlignment;
    }
    return std::nullopt;
}

void MemoryManagerProperty::setAccess() {
    const Target target = anyTarget(4);
    const Access access = anyAccess();
    const auto expected = expectedOfSetAccess(target, access);
    armFault();
    if (judge(manager_->setAccess(target.va, target.sizeBytes, access), expected)) {
        model_.setAccess(target.va, target.sizeBytes, access);
    }
}

void MemoryManagerProperty::step() {
    using Self = MemoryManagerProperty;
    static constexpr std::array<void (Self::*)(), 18> calls = {&Self::createObject,
                                                               &Self::dropObject,
                                                               &Self::reserve,
                                                               &Self::reserve,
                                                               &Self::freeReservation,
                                                               &Self::map,
                                                               &Self::map,
                                                               &Self::map,
                                                               &Self::map,
                                                               &Self::map,
                                                               &Self::unmap,
                                                               &Self::unmap,
                                                               &Self::setAccess,
                                                               &Self::setAccess,
                                                               &Self::allocate,
                                                               &Self::freeAllocation,
                                                               &Self::import,
                                                               &Self::closeImport};
    std::invoke(calls[below(calls.size())], this);
}

namespace {

class MemoryManagerPropertyTest : public fakes::ResourceCheckedTest {};

TEST_F(MemoryManagerPropertyTest, BehavesAsAnArrayOfPages) {
    constexpr uint32_t seeds = 30;
    constexpr int stepsPerSeed = 400;
    for (uint32_t seed = 1; seed <= seeds && !HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        MemoryManagerProperty property(seed);
        for (int step = 0; step < stepsPerSeed && !HasFailure(); ++step) {
            SCOPED_TRACE(testing::Message() << "step " << step);
            property.step();
            property.compareAnswers();
            if (step % 4 == 0) {
                property.compareAll();
            }
        }
        property.finish();
    }
}

} // namespace
} // namespace causeway::memory
