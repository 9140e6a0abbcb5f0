#pragma once

#include "unit_tests/black_box/deadline.h"
#include "unit_tests/black_box/descriptor.h"

#include <level_zero/ze_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace causeway::black_box {

/// A client of an exporter's server that speaks by hand, or not at all. Throws HarnessError where
/// it cannot connect.
class RawClient {
  public:
    /// By the abstract socket of the handle's server.
    explicit RawClient(const ze_ipc_mem_handle_t &handle);

    void send(std::span<const std::byte> bytes) const;

    /// Whether the server hangs up in time; answers before that are thrown away.
    [[nodiscard]] bool isDropped(Deadline deadline = Deadline()) const;

  private:
    Descriptor socket_;
};

using RawRequest = std::array<std::byte, 32>;

/// The request that opens a conversation about a handle and asks for so many descriptors
/// (shared/wire/README.md).
RawRequest openRequest(const ze_ipc_mem_handle_t &handle, uint32_t count);

} // namespace causeway::black_box
