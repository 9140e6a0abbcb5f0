#include "unit_tests/fakes/fake_state.h"

#include "unit_tests/fakes/fake_address_space.h"

#include <gtest/gtest.h>

namespace causeway::fakes {

std::optional<Error> FakeState::fault(const char *operation) {
    const MutexLock lock(mutex_);
    ++operations_;
    if (operations_ != failing_) {
        return std::nullopt;
    }
    lastFault_ = operation;
    return Error{status_, fmt::format("{} was told to fail", operation)};
}

void FakeState::failAt(uint64_t k, Status status) {
    const MutexLock lock(mutex_);
    failing_ = k == 0 ? 0 : operations_ + k;
    status_ = status;
}

uint64_t FakeState::operations() const {
    const MutexLock lock(mutex_);
    return operations_;
}

std::string FakeState::lastFault() const {
    const MutexLock lock(mutex_);
    return lastFault_;
}

void FakeState::addMemory() {
    const MutexLock lock(mutex_);
    ++memory_;
}

void FakeState::removeMemory(const kmd::Memory &memory) {
    const MutexLock lock(mutex_);
    --memory_;
    dropped_.erase(&memory);
    for (const FakeAddressSpace *space : spaces_) {
        EXPECT_FALSE(space->binds(memory)) << "memory was destroyed while bound";
    }
}

uint64_t FakeState::liveMemory() const {
    const MutexLock lock(mutex_);
    return memory_;
}

void FakeState::drop(const kmd::Memory &memory) {
    const MutexLock lock(mutex_);
    dropped_.insert(&memory);
}

bool FakeState::isDropped(const kmd::Memory &memory) const {
    const MutexLock lock(mutex_);
    return dropped_.contains(&memory);
}

void FakeState::addBacking() {
    const MutexLock lock(mutex_);
    ++backings_;
}

void FakeState::removeBacking() {
    const MutexLock lock(mutex_);
    --backings_;
}

uint64_t FakeState::liveBackings() const {
    const MutexLock lock(mutex_);
    return backings_;
}

void FakeState::addSpace(const FakeAddressSpace &space) {
    const MutexLock lock(mutex_);
    spaces_.push_back(&space);
}

void FakeState::removeSpace(const FakeAddressSpace &space) {
    const MutexLock lock(mutex_);
    std::erase(spaces_, &space);
}

bool FakeState::takeBytes(const kmd::Device &device, uint64_t sizeBytes, uint64_t limit) {
    const MutexLock lock(mutex_);
    uint64_t &used = bytes_[&device];
    if (sizeBytes > limit - used) {
        return false;
    }
    used += sizeBytes;
    return true;
}

void FakeState::returnBytes(const kmd::Device &device, uint64_t sizeBytes) {
    const MutexLock lock(mutex_);
    bytes_[&device] -= sizeBytes;
}

uint64_t FakeState::bytesInUse(const kmd::Device &device) const {
    const MutexLock lock(mutex_);
    const auto it = bytes_.find(&device);
    return it == bytes_.end() ? 0 : it->second;
}

} // namespace causeway::fakes
