#include "shared/wire/ipc_handle.h"
#include "unit_tests/fuzz/fuzz_check.h"

#include <algorithm>
#include <cstring>
#include <variant>

namespace causeway::fuzz {
namespace {

void requireJudgement(const wire::HandleBytes &bytes) {
    const auto decoded = wire::decodeHandle(bytes);
    const auto *accepted = decoded ? std::get_if<wire::IpcHandle>(&*decoded) : nullptr;
    lastWasAccepted = accepted != nullptr;
    if (!decoded) {
        require(!decoded.error().message.empty(), "an error says what is wrong");
        return;
    }
    if (accepted != nullptr) {
        require(wire::encodeHandle(*accepted) == bytes,
                "an accepted handle re-encodes to its bytes");
    }
}

/// Random bytes hardly ever carry a right CRC: this shows the decoder handles that do.
void requireSealedJudgement(std::span<const std::byte, sizeof(wire::HandleBytes)> bytes) {
    wire::IpcHandle handle;
    std::memcpy(&handle.fd, bytes.data(), 4);
    std::memcpy(&handle.rendezvousFd, bytes.data() + 4, 4);
    handle.kind = static_cast<wire::HandleKind>(bytes[8]);
    std::memcpy(&handle.flags, bytes.data() + 10, 2);
    std::memcpy(&handle.serverId, bytes.data() + 16, 8);
    std::memcpy(handle.token.data(), bytes.data() + 24, handle.token.size());
    std::memcpy(&handle.sizeBytes, bytes.data() + 40, 8);
    std::memcpy(&handle.fdIdentity, bytes.data() + 48, 8);
    std::memcpy(&handle.pid, bytes.data() + 56, 4);
    const auto decoded = wire::decodeHandle(wire::encodeHandle(handle));
    if (decoded) {
        const auto *accepted = std::get_if<wire::IpcHandle>(&*decoded);
        require(accepted != nullptr, "a sealed handle is never descriptor-only");
        require(*accepted == handle, "an encoded handle decodes to itself");
    }
}

} // namespace
} // namespace causeway::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    using namespace causeway;
    wire::HandleBytes bytes = {}; // always 64 bytes: shorter inputs end in zeros
    const auto input = fuzz::bytesOf(data, std::min(size, bytes.size()));
    std::ranges::copy(input, bytes.begin());
    fuzz::requireJudgement(bytes);
    fuzz::requireSealedJudgement(bytes);
    return 0;
}
