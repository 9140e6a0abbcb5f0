#include "unit_tests/fakes/fake_address_space.h"

#include "shared/base/checked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace causeway::fakes {
namespace {

constexpr uint64_t topOfAddresses = uint64_t{1} << 47; // as on x86-64

/// A breach of the contract by the caller: fails the test, wherever it is noticed.
std::unexpected<Error> breach(std::string text) {
    ADD_FAILURE() << "address space: " << text;
    return std::unexpected(Error{Status::InvalidArgument, std::move(text)});
}

} // namespace

FakeAddressSpace::FakeAddressSpace(std::shared_ptr<FakeState> state) : state_(std::move(state)) {
    state_->addSpace(*this);
}

FakeAddressSpace::~FakeAddressSpace() {
    EXPECT_EQ(reservationCount(), 0U) << "an address space was destroyed with reservations in it";
    state_->removeSpace(*this);
}

Result<uint64_t> FakeAddressSpace::reserve(uint64_t hint, uint64_t sizeBytes, uint64_t alignment) {
    if (auto error = state_->fault("reserve")) {
        return std::unexpected(std::move(*error));
    }
    if (sizeBytes == 0 || !isPowerOfTwo(alignment)) {
        return breach(fmt::format("reserve of {} bytes, alignment {}", sizeBytes, alignment));
    }
    const MutexLock lock(mutex_);
    if (hint != 0 && isAligned(hint, alignment) && isFree(hint, sizeBytes)) {
        reserved_.emplace(hint, sizeBytes);
        return hint;
    }
    const auto va = alignUp(next_, alignment);
    if (!va || !fitsWithin(*va, sizeBytes, topOfAddresses)) {
        return fail(Status::OutOfDeviceMemory, "no room for {} bytes", sizeBytes);
    }
    reserved_.emplace(*va, sizeBytes);
    next_ = *va + sizeBytes;
    return *va;
}

Result<void> FakeAddressSpace::release(uint64_t va, uint64_t sizeBytes) {
    if (auto error = state_->fault("release")) {
        return std::unexpected(std::move(*error));
    }
    const MutexLock lock(mutex_);
    const auto it = reserved_.find(va);
    if (it == reserved_.end() || it->second != sizeBytes) {
        return breach(fmt::format("release of [{:#x}, +{}): no whole reservation", va, sizeBytes));
    }
    erase(va, sizeBytes);
    reserved_.erase(it);
    return {};
}

void FakeAddressSpace::discard(uint64_t va, uint64_t sizeBytes) noexcept {
    const MutexLock lock(mutex_);
    const auto it = reserved_.find(va);
    EXPECT_TRUE(it != reserved_.end() && it->second == sizeBytes) << "no whole reservation";
    erase(va, sizeBytes);
    reserved_.erase(va);
}

Result<void> FakeAddressSpace::bind(std::span<const kmd::Binding> bindings) {
    if (auto error = state_->fault("bind")) {
        return std::unexpected(std::move(*error));
    }
    for (const kmd::Binding &binding : bindings) {
        if (binding.memory != nullptr && state_->isDropped(*binding.memory)) {
            return fail(Status::UnsupportedFeature, "its descriptor was dropped");
        }
    }
    const MutexLock lock(mutex_);
    for (size_t i = 0; i < bindings.size(); ++i) {
        const kmd::Binding &next = bindings[i];
        auto checked = check(next);
        if (!checked) {
            for (const kmd::Binding &done : bindings.first(i)) {
                bound_.erase(done.va);
            }
            return checked;
        }
        bound_.emplace(next.va,
                       FakeBinding{.va = next.va,
                                   .sizeBytes = next.sizeBytes,
                                   .memory = next.memory,
                                   .offset = next.offset,
                                   .access = next.access});
    }
    return {};
}

Result<void> FakeAddressSpace::check(const kmd::Binding &binding) const {
    const auto describe = [&](std::string_view what) {
        return fmt::format("bind of [{:#x}, +{}) at offset {}: {}",
                           binding.va,
                           binding.sizeBytes,
                           binding.offset,
                           what);
    };
    if (binding.memory == nullptr || binding.sizeBytes == 0) {
        return breach(describe("no memory"));
    }
    const kmd::Memory &memory = *binding.memory;
    const uint64_t granularity = memory.device().pageRules(memory.placement()).granularity;
    if (!isAligned(binding.va | binding.offset | binding.sizeBytes, granularity)) {
        return breach(describe("not at the granularity"));
    }
    if (!fitsWithin(binding.offset, binding.sizeBytes, memory.sizeBytes())) {
        return breach(describe("beyond the object"));
    }
    if (!isReserved(binding.va, binding.sizeBytes)) {
        return breach(describe("not reserved"));
    }
    const auto next = firstBoundAfter(binding.va);
    if (next != bound_.end() && next->first < binding.va + binding.sizeBytes) {
        return breach(describe("something is bound there"));
    }
    return {};
}

Result<void> FakeAddressSpace::unbind(uint64_t va, uint64_t sizeBytes) {
    if (auto error = state_->fault("unbind")) {
        return std::unexpected(std::move(*error));
    }
    const MutexLock lock(mutex_);
    if (!isReserved(va, sizeBytes)) {
        return breach(fmt::format("unbind of [{:#x}, +{}): not reserved", va, sizeBytes));
    }
    erase(va, sizeBytes);
    return {};
}

Result<void> FakeAddressSpace::protect(uint64_t va, uint64_t sizeBytes, Access access) {
    if (auto error = state_->fault("protect")) {
        return std::unexpected(std::move(*error));
    }
    const MutexLock lock(mutex_);
    if (!isBoundThroughout(va, sizeBytes)) {
        return breach(fmt::format("protect of [{:#x}, +{}): not bound", va, sizeBytes));
    }
    splitAt(va);
    splitAt(va + sizeBytes);
    for (auto it = bound_.lower_bound(va); it != bound_.end() && it->first < va + sizeBytes; ++it) {
        it->second.access = access;
    }
    return {};
}

std::optional<FakeBinding> FakeAddressSpace::bindingAt(uint64_t va) const {
    const MutexLock lock(mutex_);
    const auto it = firstBoundAfter(va);
    if (it == bound_.end() || it->first > va) {
        return std::nullopt;
    }
    return it->second;
}

std::vector<FakeBinding> FakeAddressSpace::bindings() const {
    const MutexLock lock(mutex_);
    std::vector<FakeBinding> all;
    std::ranges::transform(bound_, std::back_inserter(all), &Bound::value_type::second);
    return all;
}

size_t FakeAddressSpace::reservationCount() const {
    const MutexLock lock(mutex_);
    return reserved_.size();
}

bool FakeAddressSpace::binds(const kmd::Memory &memory) const {
    const MutexLock lock(mutex_);
    return std::ranges::any_of(bound_,
                               [&](const auto &entry) { return entry.second.memory == &memory; });
}

bool FakeAddressSpace::isFree(uint64_t va, uint64_t sizeBytes) const {
    if (!fitsWithin(va, sizeBytes, topOfAddresses)) {
        return false;
    }
    const auto next = reserved_.lower_bound(va);
    if (next != reserved_.end() && next->first < va + sizeBytes) {
        return false;
    }
    return next == reserved_.begin() || std::prev(next)->first + std::prev(next)->second <= va;
}

/// Reservations that touch count as one.
bool FakeAddressSpace::isReserved(uint64_t va, uint64_t sizeBytes) const {
    auto it = reserved_.upper_bound(va);
    if (it == reserved_.begin()) {
        return false;
    }
    uint64_t reached = va;
    for (--it; it != reserved_.end() && it->first <= reached; ++it) {
        reached = std::max(reached, it->first + it->second);
        if (fitsWithin(va, sizeBytes, reached)) {
            return it->first + it->second > va;
        }
    }
    return false;
}

bool FakeAddressSpace::isBoundThroughout(uint64_t va, uint64_t sizeBytes) const {
    uint64_t reached = va;
    for (auto it = firstBoundAfter(va); it != bound_.end() && it->first <= reached; ++it) {
        reached = it->first + it->second.sizeBytes;
        if (fitsWithin(va, sizeBytes, reached)) {
            return true;
        }
    }
    return false;
}

/// The first binding that ends after `va`.
FakeAddressSpace::Bound::const_iterator FakeAddressSpace::firstBoundAfter(uint64_t va) const {
    auto it = bound_.upper_bound(va);
    if (it != bound_.begin() && std::prev(it)->first + std::prev(it)->second.sizeBytes > va) {
        --it;
    }
    return it;
}

void FakeAddressSpace::splitAt(uint64_t va) {
    const auto found = firstBoundAfter(va);
    if (found == bound_.end() || found->first >= va) {
        return;
    }
    FakeBinding &front = bound_.at(found->first);
    FakeBinding back = front;
    const uint64_t kept = va - front.va;
    front.sizeBytes = kept;
    back.va = va;
    back.offset += kept;
    back.sizeBytes -= kept;
    bound_.emplace(va, back);
}

void FakeAddressSpace::erase(uint64_t va, uint64_t sizeBytes) {
    splitAt(va);
    splitAt(va + sizeBytes);
    bound_.erase(bound_.lower_bound(va), bound_.lower_bound(va + sizeBytes));
}

} // namespace causeway::fakes
