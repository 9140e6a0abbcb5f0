#pragma once

#include "unit_tests/black_box/ze_calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>

/// Short forms of the calls that most tests make, and of what clients do to a handle's 64 bytes.
namespace causeway::black_box {

inline ze_ipc_phys_mem_handle_range_ext_desc_t rangeDescriptor(size_t size,
                                                               const void *pNext = nullptr) {
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): older SDKs lack the enumerator
    return {ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC, pNext, size};
}

inline ze_result_t tryExport(ze_context_handle_t context,
                             const void *ptr,
                             size_t size,
                             ze_ipc_mem_handle_t *handle) {
    auto desc = rangeDescriptor(size);
    return getIpcHandleWithProperties(context, ptr, &desc, handle);
}

/// Of a call that must fail: its result alone.
inline ze_result_t exportResult(ze_context_handle_t context, const void *ptr, size_t size) {
    ze_ipc_mem_handle_t handle = {};
    return tryExport(context, ptr, size, &handle);
}

inline ze_ipc_mem_handle_t exportRange(ze_context_handle_t context, const void *ptr, size_t size) {
    ze_ipc_mem_handle_t handle = {};
    require(tryExport(context, ptr, size, &handle), "export of a range");
    return handle;
}

inline ze_result_t openResult(ze_context_handle_t context,
                              const ze_ipc_mem_handle_t &handle,
                              ze_ipc_memory_flags_t flags = 0) {
    void *ptr = nullptr;
    const auto result = zeMemOpenIpcHandle(context, firstDevice(), handle, flags, &ptr);
    if (result == ZE_RESULT_SUCCESS) {
        zeMemCloseIpcHandle(context, ptr);
    }
    return result;
}

/// A handle opened in this process, closed at the end.
class View {
  public:
    View(ze_context_handle_t context, const ze_ipc_mem_handle_t &handle) : context_(context) {
        void *ptr = nullptr;
        require(zeMemOpenIpcHandle(context, firstDevice(), handle, 0, &ptr), "zeMemOpenIpcHandle");
        base_ = static_cast<std::byte *>(ptr);
    }

    ~View() { close(); }

    View(const View &) = delete;
    View &operator=(const View &) = delete;
    View(View &&) = delete;
    View &operator=(View &&) = delete;

    [[nodiscard]] std::byte *base() const { return base_; }

    void close() {
        if (base_ != nullptr) {
            zeMemCloseIpcHandle(context_, base_);
            base_ = nullptr;
        }
    }

  private:
    ze_context_handle_t context_;
    std::byte *base_ = nullptr;
};

inline bool equalBytes(const ze_ipc_mem_handle_t &left, const ze_ipc_mem_handle_t &right) {
    return std::equal(std::begin(left.data), std::end(left.data), std::begin(right.data));
}

/// The descriptor of the memory at `ptr`, by the allocation properties' query; -1 where it fails.
inline ze_result_t queryDescriptor(
    ze_context_handle_t context,
    const void *ptr,
    int *fd,
    ze_external_memory_type_flags_t type = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD) {
    ze_external_memory_export_fd_t query = {
        ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, type, -1};
    ze_memory_allocation_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    properties.pNext = &query;
    const auto result = zeMemGetAllocProperties(context, ptr, &properties, nullptr);
    *fd = query.fd;
    return result;
}

/// Bytes 0-3: in practice a contract of all clients.
inline int descriptorOf(const ze_ipc_mem_handle_t &handle) {
    int32_t fd = -1;
    std::copy_n(handle.data, sizeof(fd), reinterpret_cast<char *>(&fd));
    return fd;
}

inline ze_ipc_mem_handle_t withDescriptor(ze_ipc_mem_handle_t handle, int32_t fd) {
    std::copy_n(reinterpret_cast<const char *>(&fd), sizeof(fd), handle.data);
    return handle;
}

/// What libfabric and oneCCL pass on: the descriptor and 60 zeros.
inline ze_ipc_mem_handle_t withZeroRest(ze_ipc_mem_handle_t handle) {
    std::fill(std::begin(handle.data) + 4, std::end(handle.data), '\0');
    return handle;
}

/// What ze_peer passes on: the descriptor and whatever the stack held. `from` 4 to 63.
inline ze_ipc_mem_handle_t withGarbage(ze_ipc_mem_handle_t handle,
                                       size_t from,
                                       size_t to,
                                       uint32_t seed) {
    std::minstd_rand random(seed);
    for (size_t i = from; i < to; ++i) {
        handle.data[i] = static_cast<char>(random() >> 8);
    }
    return handle;
}

} // namespace causeway::black_box
