#include "unit_tests/fakes/failing_allocations.h"

#include <cstdlib>
#include <new>

namespace causeway::fakes {
namespace {

struct Plan {
    uint64_t allowed = UINT64_MAX; ///< allocations before the first that fails
    bool hasFailed = false;
};

thread_local constinit Plan plan;

void *allocate(size_t sizeBytes) noexcept {
    if (plan.allowed == 0) {
        plan.hasFailed = true;
        return nullptr;
    }
    --plan.allowed;
    return std::malloc(sizeBytes == 0 ? 1 : sizeBytes); // NOLINT(*-no-malloc): this is new
}

[[maybe_unused]] void *allocateOrThrow(size_t sizeBytes) {
    void *memory = allocate(sizeBytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

[[maybe_unused]] void giveBack(void *memory) noexcept {
    std::free(memory); // NOLINT(*-no-malloc): this is delete
}

} // namespace

void failAllocationsFrom(uint64_t k) noexcept {
    plan = {.allowed = k - 1};
}

bool healAllocations() noexcept {
    const bool hasFailed = plan.hasFailed;
    plan = {};
    return hasFailed;
}

} // namespace causeway::fakes

// All forms, so that none of a sanitizer's is left: it would find that they do not belong together.
// TSan's cannot be replaced, and tests whose names end in _NoMemory are left out under it.
#if !defined(__has_feature)
#define __has_feature(x) 0 // NOLINT(bugprone-reserved-identifier): what clang has
#endif
#if !__has_feature(thread_sanitizer)

void *operator new(size_t sizeBytes) {
    return causeway::fakes::allocateOrThrow(sizeBytes);
}

void *operator new[](size_t sizeBytes) {
    return causeway::fakes::allocateOrThrow(sizeBytes);
}

void *operator new(size_t sizeBytes, const std::nothrow_t &) noexcept {
    return causeway::fakes::allocate(sizeBytes);
}

void *operator new[](size_t sizeBytes, const std::nothrow_t &) noexcept {
    return causeway::fakes::allocate(sizeBytes);
}

void operator delete(void *memory) noexcept {
    causeway::fakes::giveBack(memory);
}

void operator delete[](void *memory) noexcept {
    causeway::fakes::giveBack(memory);
}

void operator delete(void *memory, size_t) noexcept {
    causeway::fakes::giveBack(memory);
}

void operator delete[](void *memory, size_t) noexcept {
    causeway::fakes::giveBack(memory);
}

#endif
