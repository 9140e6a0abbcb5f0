#pragma once

#include "unit_tests/black_box/ipc_fixture.h"

#include <cstddef>

namespace causeway::black_box {

/// Short forms of calls that succeed in a sound driver (else HarnessError).
class VirtualMemoryTest : public DriverTest {
  protected:
    struct Stretch {
        ze_memory_access_attribute_t access = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
        size_t size = 0;
    };

    [[nodiscard]] size_t pageSize(size_t size) const {
        size_t page = 0;
        require(zeVirtualMemQueryPageSize(context(), firstDevice(), size, &page),
                "zeVirtualMemQueryPageSize");
        return page;
    }

    [[nodiscard]] std::byte *reserve(size_t size, const std::byte *hint = nullptr) const {
        void *address = nullptr;
        require(zeVirtualMemReserve(context(), hint, size, &address), "zeVirtualMemReserve");
        return static_cast<std::byte *>(address);
    }

    void release(const std::byte *address, size_t size) const {
        require(zeVirtualMemFree(context(), address, size), "zeVirtualMemFree");
    }

    void map(const std::byte *address,
             size_t size,
             ze_physical_mem_handle_t object,
             size_t offset = 0,
             ze_memory_access_attribute_t access = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE) const {
        require(zeVirtualMemMap(context(), address, size, object, offset, access),
                "zeVirtualMemMap");
    }

    void unmap(const std::byte *address, size_t size) const {
        require(zeVirtualMemUnmap(context(), address, size), "zeVirtualMemUnmap");
    }

    void destroy(ze_physical_mem_handle_t object) const {
        require(zePhysicalMemDestroy(context(), object), "zePhysicalMemDestroy");
    }

    [[nodiscard]] Stretch accessAt(const std::byte *address, size_t size) const {
        Stretch found;
        require(
            zeVirtualMemGetAccessAttribute(context(), address, size, &found.access, &found.size),
            "zeVirtualMemGetAccessAttribute");
        return found;
    }

    /// Of a creation that must fail.
    [[nodiscard]] ze_result_t createResult(size_t size, ze_physical_mem_flags_t flags = 0) const {
        ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, flags, size};
        ze_physical_mem_handle_t object = nullptr;
        return zePhysicalMemCreate(context(), firstDevice(), &desc, &object);
    }

    static bool isOutOfMemory(ze_result_t result) {
        return result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ||
               result == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }

    /// The header lists both for a size that no page divides.
    static bool isBadSize(ze_result_t result) {
        return result == ZE_RESULT_ERROR_UNSUPPORTED_SIZE ||
               result == ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    }
};

} // namespace causeway::black_box
