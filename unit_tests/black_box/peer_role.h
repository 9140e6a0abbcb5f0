#pragma once

#include "unit_tests/black_box/protocol.h"
#include "unit_tests/black_box/range.h"
#include "unit_tests/black_box/raw_client.h"
#include "unit_tests/black_box/ze_calls.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace causeway::black_box {

/// All that a peer owns between two commands.
struct PeerState {
    int in = -1;
    int out = -1;
    int socket = -1;
    std::unique_ptr<Context> context = std::make_unique<Context>();
    std::unique_ptr<Range> range = {};
    ze_command_list_handle_t list = nullptr; ///< ends with the context
    std::vector<int> heldDescriptors = {};
    std::vector<RawClient> talks = {};
    std::span<std::byte> filledMappings = {};
    bool isFork = false; ///< this process is a fork of the peer and goes on serving

    [[nodiscard]] ze_context_handle_t ze() const { return context->get(); }
};

/// An address in a request, in this process.
inline std::byte *pointer(uint64_t address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it travelled as a number
    return reinterpret_cast<std::byte *>(address);
}

/// Serves a command of its topic into `reply`; false where it belongs to another topic. Throws
/// HarnessError, which is answered as ZE_RESULT_ERROR_UNKNOWN with the text.
bool serveImporting(PeerState &state, const Request &request, Reply &reply);
bool serveMemory(PeerState &state, const Request &request, Reply &reply);
bool serveExporting(PeerState &state, const Request &request, Reply &reply);
bool serveEvents(PeerState &state, const Request &request, Reply &reply);
bool serveProcess(PeerState &state, const Request &request, Reply &reply);
bool serveDuress(PeerState &state, const Request &request, Reply &reply);

} // namespace causeway::black_box
