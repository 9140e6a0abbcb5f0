#pragma once

#include "shared/os/linux_os.h"
#include "source/ipc/ipc_service.h"
#include "source/kmd/soft/soft_backend.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/memory/limited_os.h"
#include "unit_tests/source/memory/result_checks.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace causeway::ipc {

inline constexpr uint64_t osPage = 4096;
inline constexpr uint64_t devicePage = 64 * 1024;

/// Where a test must see a timeout; elsewhere the timeouts are long and never pass.
inline constexpr std::chrono::milliseconds shortTimeout{60};

/// One of several processes of a test, all of them in this process: each with its own view of the
/// system, its own devices, context and service, so that memory goes from one to the other through
/// the socket.
class Peer {
  public:
    explicit Peer(const kmd::soft::SoftConfig &config = {}, IpcConfig ipc = {})
        : backend(os, config)
        , service(os, backend, ipc)
        , memory(must(memory::MemoryManager::create(backend, osPage))) {}

    Peer(const Peer &) = delete;
    Peer &operator=(const Peer &) = delete;

    ~Peer() {
        faults.heal();
        service.dropOwner(*memory);
    }

    [[nodiscard]] const kmd::Device &device() const { return *backend.devices()[0]; }

    [[nodiscard]] Result<wire::HandleBytes> share(uint64_t va, uint64_t sizeBytes) {
        return service.exportRange(*memory, va, sizeBytes, 0);
    }

    [[nodiscard]] Result<wire::HandleBytes> shareObject(uint64_t va) {
        return service.exportObject(*memory, va);
    }

    [[nodiscard]] Result<uint64_t> open(const wire::HandleBytes &handle) {
        return service.open(*memory, device(), handle);
    }

    void put(const wire::HandleBytes &handle) { service.put(*memory, handle); }

    /// What could not be given back while calls failed is given back by the next one.
    void giveLeftoversBack() {
        must(memory->freeReservation(must(memory->reserve(0, devicePage)), devicePage));
    }

    void close(uint64_t address) { must(memory->closeImport(address)); }

    fakes::FaultyOs faults{linuxOs()};
    LimitedOs os{faults};
    kmd::soft::SoftBackend backend;
    IpcService service;
    std::unique_ptr<memory::MemoryManager> memory;
};

/// Every object in a bank.
[[nodiscard]] inline kmd::soft::SoftConfig bankedConfig() {
    return {.ownFileBudget = 0};
}

[[nodiscard]] inline std::span<std::byte> bytesAt(uint64_t va, uint64_t sizeBytes) {
    return {reinterpret_cast<std::byte *>(va), sizeBytes}; // NOLINT(performance-no-int-to-ptr)
}

[[nodiscard]] inline bool sameBytes(uint64_t a, uint64_t b, uint64_t sizeBytes) {
    return std::memcmp(bytesAt(a, sizeBytes).data(), bytesAt(b, sizeBytes).data(), sizeBytes) == 0;
}

/// A reservation of a peer with one object mapped in each of its device pages, all bytes written.
struct Range {
    uint64_t va = 0;
    uint64_t sizeBytes = 0;

    [[nodiscard]] uint64_t end() const { return va + sizeBytes; }
};

[[nodiscard]] inline Range makeRange(Peer &peer, uint64_t objects) {
    const uint64_t va = must(peer.memory->reserve(0, objects * devicePage));
    for (uint64_t i = 0; i < objects; ++i) {
        const auto object =
            must(peer.memory->createPhysical(peer.device(), Placement::Device, devicePage));
        must(peer.memory->map(va + i * devicePage, devicePage, object, 0, Access::ReadWrite));
        for (uint64_t page = 0; page < devicePage; page += osPage) {
            bytesAt(va + i * devicePage + page, 1)[0] = static_cast<std::byte>(i + page / osPage);
        }
        bytesAt(va + (i + 1) * devicePage - 1, 1)[0] = static_cast<std::byte>(i ^ 0x5a);
    }
    return {.va = va, .sizeBytes = objects * devicePage};
}

inline void freeRange(Peer &peer, const Range &range) {
    must(peer.memory->freeReservation(range.va, range.sizeBytes));
}

/// What a client of a handle keeps that moved the descriptor alone.
[[nodiscard]] inline wire::HandleBytes onlyDescriptor(int fd) {
    wire::HandleBytes bytes = {};
    std::memcpy(bytes.data(), &fd, sizeof(fd));
    return bytes;
}

[[nodiscard]] inline wire::IpcHandle decoded(const wire::HandleBytes &bytes) {
    return std::get<wire::IpcHandle>(must(wire::decodeHandle(bytes)));
}

} // namespace causeway::ipc
