#pragma once

#include "unit_tests/black_box/ze_calls.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

/// The three kinds of allocations, for tests that must hold for each.
namespace causeway::black_box {

enum class Kind : uint8_t { Device, Host, Shared };

inline std::string nameOf(const testing::TestParamInfo<Kind> &info) {
    return info.param == Kind::Device ? "Device" : info.param == Kind::Host ? "Host" : "Shared";
}

inline const auto allKinds = testing::Values(Kind::Device, Kind::Host, Kind::Shared);

/// `chain`: structures that qualify the allocation.
inline ze_result_t allocate(
    ze_context_handle_t context, Kind kind, size_t bytes, void **ptr, const void *chain = nullptr) {
    ze_device_mem_alloc_desc_t device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    (kind == Kind::Host ? host.pNext : device.pNext) = chain;
    switch (kind) {
    case Kind::Host:
        return zeMemAllocHost(context, &host, bytes, 0, ptr);
    case Kind::Shared:
        return zeMemAllocShared(context, &device, &host, bytes, 0, firstDevice(), ptr);
    case Kind::Device:
        break;
    }
    return zeMemAllocDevice(context, &device, bytes, 0, firstDevice(), ptr);
}

/// Allocates and fills.
inline std::byte *allocateFilled(ze_context_handle_t context,
                                 Kind kind,
                                 size_t bytes,
                                 const void *chain = nullptr) {
    void *ptr = nullptr;
    require(allocate(context, kind, bytes, &ptr, chain), "zeMemAlloc*");
    auto *const base = static_cast<std::byte *>(ptr);
    for (size_t i = 0; i < bytes; i += 997) {
        base[i] = static_cast<std::byte>(i / 997 + 1);
    }
    return base;
}

} // namespace causeway::black_box
