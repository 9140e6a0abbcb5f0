#pragma once

#include "unit_tests/black_box/ze_calls.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

/// The three kinds of allocations, for tests that must hold for each.
namespace causeway::black_box {

enum class Kind : uint8_t { Device, Host, Shared };

inline std::string nameOf(Kind kind) {
    return kind == Kind::Device ? "Device" : kind == Kind::Host ? "Host" : "Shared";
}

/// For tests that have a kind as their parameter.
inline std::string kindName(const testing::TestParamInfo<Kind> &info) {
    return nameOf(info.param);
}

inline const auto allKinds = testing::Values(Kind::Device, Kind::Host, Kind::Shared);

/// `chain`: structures that qualify the allocation.
inline ze_result_t tryAllocate(ze_context_handle_t context,
                               Kind kind,
                               size_t size,
                               size_t alignment,
                               void **ptr,
                               const void *chain = nullptr) {
    ze_device_mem_alloc_desc_t device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    (kind == Kind::Host ? host.pNext : device.pNext) = chain;
    switch (kind) {
    case Kind::Host:
        return zeMemAllocHost(context, &host, size, alignment, ptr);
    case Kind::Shared:
        return zeMemAllocShared(context, &device, &host, size, alignment, firstDevice(), ptr);
    case Kind::Device:
        break;
    }
    return zeMemAllocDevice(context, &device, size, alignment, firstDevice(), ptr);
}

inline std::byte *allocate(ze_context_handle_t context,
                           Kind kind,
                           size_t size,
                           const void *chain = nullptr) {
    void *ptr = nullptr;
    require(tryAllocate(context, kind, size, 0, &ptr, chain), "zeMemAlloc*");
    return static_cast<std::byte *>(ptr);
}

/// Allocates and fills.
inline std::byte *allocateFilled(ze_context_handle_t context,
                                 Kind kind,
                                 size_t bytes,
                                 const void *chain = nullptr) {
    auto *const base = allocate(context, kind, bytes, chain);
    for (size_t i = 0; i < bytes; i += 997) {
        base[i] = static_cast<std::byte>(i / 997 + 1);
    }
    return base;
}

} // namespace causeway::black_box
