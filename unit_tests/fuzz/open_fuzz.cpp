// The whole way of a handle of 64 bytes into an importer that no exporter answers: its own tokens,
// moved descriptors of every kind, and nonsense.

#include "source/ipc/ipc_service.h"
#include "source/kmd/soft/soft_backend.h"
#include "unit_tests/fakes/forwarding_os.h"
#include "unit_tests/fuzz/fuzz_check.h"
#include "unit_tests/fuzz/opened_files.h"
#include "unit_tests/fuzz/peer_files.h"

#include <cerrno>
#include <cstring>

namespace causeway::fuzz {
namespace {

/// Nobody else lives here.
class LonelyOs final : public fakes::ForwardingOs {
  public:
    LonelyOs() : ForwardingOs(linuxOs()) {}

    OsResult<UniqueFd> connectAbstract(const std::string & /*name*/,
                                       std::chrono::milliseconds /*timeout*/) override {
        return std::unexpected(Errno{ECONNREFUSED});
    }

    OsResult<UniqueFd> openProcess(pid_t /*pid*/) override { return std::unexpected(Errno{ESRCH}); }
};

/// A process that shares one range, whose ticket has a known number, and has files at others.
struct Process {
    Process() {
        const uint64_t va = memory->reserve(0, sharedBytes).value();
        const auto object =
            memory->createPhysical(*backend.devices()[0], Placement::Device, sharedBytes).value();
        require(memory->map(va, sharedBytes, object, 0, Access::ReadWrite).has_value(), "map");
        handle = service.exportRange(*memory, va, sharedBytes, 0).value();
        for (uint8_t i = 0; i < static_cast<uint8_t>(FdKind::TableFile); ++i) {
            require(::dup2(fileOf(static_cast<FdKind>(i)), firstKnownFd + i) >= 0, "dup2");
        }
        // What is known by its name is an object's own file alone.
        const UniqueFd own = service.newDescriptor(*memory, object).value();
        require(::dup2(own.get(), firstKnownFd) >= 0, "dup2");
        int ticket = -1;
        std::memcpy(&ticket, handle.data(), sizeof(ticket));
        require(::dup2(ticket, ticketFd) >= 0, "dup2");
    }

    LonelyOs os;
    kmd::soft::SoftBackend backend{os, {}};
    ipc::IpcService service{os, backend, {}};
    std::unique_ptr<memory::MemoryManager> memory =
        std::move(memory::MemoryManager::create(backend, 4096).value());
    wire::HandleBytes handle = {};
};

/// What an input means: 'o' and bytes that replace those of the process's own handle; else the
/// handle itself.
wire::HandleBytes handleOf(const Process &process, std::span<const std::byte> input) {
    wire::HandleBytes bytes = {};
    const bool isOwn = !input.empty() && input[0] == ownHandleMark;
    if (isOwn) {
        bytes = process.handle;
        input = input.subspan(1);
        if (!input.empty()) {
            const auto at = std::to_integer<size_t>(input[0]) % bytes.size();
            const auto patch = input.subspan(1, std::min(input.size() - 1, bytes.size() - at));
            std::ranges::copy(patch, bytes.begin() + static_cast<std::ptrdiff_t>(at));
        }
        return bytes;
    }
    std::ranges::copy(input.first(std::min(input.size(), bytes.size())), bytes.begin());
    return bytes;
}

void requireOpenOrError(Process &process, const wire::HandleBytes &handle) {
    const auto va = process.service.open(*process.memory, *process.backend.devices()[0], handle);
    lastWasAccepted = va.has_value();
    if (!va) {
        require(!va.error().message.empty(), "an error says what is wrong");
        return;
    }
    const uint64_t end = *va + process.memory->addressRange(*va)->sizeBytes;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address
    static_cast<void>(*reinterpret_cast<const volatile char *>(end - 1));
    require(process.memory->closeImport(*va).has_value(), "an import can be closed");
}

} // namespace
} // namespace causeway::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    using namespace causeway::fuzz;
    static Process &process = *new Process; // its server's thread outlives static objects
    const auto handle = handleOf(process, bytesOf(data, size));
    const int free = lowestFreeDescriptor();
    requireOpenOrError(process, handle);
    require(lowestFreeDescriptor() == free, "no descriptor is left open or closed");
    for (int fd = firstKnownFd; fd <= ticketFd; ++fd) {
        require(::fcntl(fd, F_GETFD) >= 0, "the caller's descriptors stay open");
    }
    return 0;
}
