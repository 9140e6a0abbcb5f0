#pragma once

#include "unit_tests/black_box/range.h"
#include "unit_tests/black_box/ze_calls.h"

#include <cstddef>
#include <cstdint>

/// Memory that leaves and enters as a descriptor of the application.
namespace causeway::black_box {

inline ze_external_memory_export_desc_t exportDescriptor(
    ze_external_memory_type_flags_t type = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD) {
    return {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr, type};
}

inline ze_external_memory_import_fd_t importDescriptor(
    int fd, ze_external_memory_type_flags_t type = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD) {
    return {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr, type, fd};
}

/// `chain`: structures that qualify the object.
inline ze_result_t tryCreateObject(ze_context_handle_t context,
                                   size_t size,
                                   Placement placement,
                                   ze_physical_mem_handle_t *object,
                                   const void *chain = nullptr,
                                   size_t device = 0) {
    ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, 0, size};
    desc.pNext = chain;
    if (placement == Placement::Host) {
        desc.flags = ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST;
    }
    // Host objects need no device, but the loader's parameter checks insist on one.
    return zePhysicalMemCreate(context, driver().devices.at(device), &desc, object);
}

/// A physical object with a mapping of all of it.
class MappedObject {
  public:
    MappedObject(ze_context_handle_t context,
                 size_t size,
                 Placement placement,
                 const void *chain = nullptr)
        : context_(context), size_(size) {
        require(tryCreateObject(context, size, placement, &object_, chain), "zePhysicalMemCreate");
    }

    ~MappedObject() {
        if (base_ != nullptr) {
            zeVirtualMemFree(context_, base_, size_);
        }
        destroy();
    }

    MappedObject(const MappedObject &) = delete;
    MappedObject &operator=(const MappedObject &) = delete;
    MappedObject(MappedObject &&) = delete;
    MappedObject &operator=(MappedObject &&) = delete;

    [[nodiscard]] ze_physical_mem_handle_t get() const { return object_; }

    /// Mapped at the first call.
    std::byte *base() {
        if (base_ == nullptr) {
            base_ = reserveAdjacent(context_, {size_}).front();
            require(zeVirtualMemMap(
                        context_, base_, size_, object_, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
                    "zeVirtualMemMap");
        }
        return base_;
    }

    /// The handle; the mapping stays.
    void destroy() {
        if (object_ != nullptr) {
            zePhysicalMemDestroy(context_, object_);
            object_ = nullptr;
        }
    }

  private:
    ze_context_handle_t context_;
    size_t size_;
    ze_physical_mem_handle_t object_ = nullptr;
    std::byte *base_ = nullptr;
};

} // namespace causeway::black_box
