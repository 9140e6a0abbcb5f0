// An importer against whatever an exporter can send: handle's size, table, replies, descriptors.

#include "source/ipc/importer.h"
#include "source/kmd/soft/soft_backend.h"
#include "unit_tests/fakes/forwarding_os.h"
#include "unit_tests/fuzz/fuzz_check.h"
#include "unit_tests/fuzz/import_input.h"
#include "unit_tests/fuzz/peer_files.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace causeway::fuzz {
namespace {

/// The exporter's end is a socket in which all that it will ever say lies ready; who waits for more
/// finds the time gone.
class ImporterOs final : public fakes::ForwardingOs {
  public:
    ImporterOs(UniqueFd socket, uint64_t limit)
        : ForwardingOs(linuxOs()), socket_(std::move(socket)), limit_(limit) {}

    OsResult<UniqueFd> connectAbstract(const std::string & /*name*/,
                                       std::chrono::milliseconds /*timeout*/) override {
        if (!socket_.valid()) {
            return std::unexpected(Errno{ECONNREFUSED});
        }
        return std::move(socket_);
    }

    OsResult<int> poll(std::span<pollfd> fds, std::chrono::milliseconds timeout) override {
        const auto ready = os_.poll(fds, std::chrono::milliseconds(0));
        if (ready && *ready == 0) {
            ahead_ += timeout;
        }
        return ready;
    }

    std::chrono::steady_clock::time_point now() override { return os_.now() + ahead_; }

    uint64_t descriptorLimit() override { return limit_; }

  private:
    UniqueFd socket_;
    uint64_t limit_;
    std::chrono::milliseconds ahead_{0};
};

struct Importer {
    kmd::soft::SoftBackend backend{linuxOs(), {}};
    std::unique_ptr<memory::MemoryManager> memory =
        std::move(memory::MemoryManager::create(backend, page).value());

    static constexpr uint64_t page = 4096;
};

/// What was accepted can be read, to its end: no page of it can be cut off any more.
void requireReadable(const memory::MemoryManager &memory, uint64_t va, uint64_t sizeBytes) {
    constexpr uint64_t mostBytes = uint64_t{1024} * Importer::page;
    uint64_t done = 0;
    while (done < std::min(sizeBytes, mostBytes)) {
        const auto stretch = memory.access(va + done, Importer::page);
        const auto base = (va + done) / Importer::page * Importer::page;
        if (stretch && stretch->access != Access::None) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): an address
            static_cast<void>(*reinterpret_cast<const volatile char *>(base));
        }
        done = base + Importer::page - va;
    }
}

void requireImportOrError(Importer &importer, const ImportInput &input) {
    auto [here, there] = linuxOs().socketPair().value();
    sendTalk(there.get(), input.talk);
    ImporterOs os(std::move(here), input.descriptorLimit);
    wire::IpcHandle handle;
    handle.sizeBytes = input.windowBytes;
    const auto va = ipc::openRemoteRange(
        os, *importer.memory, *importer.backend.devices()[0], handle, ipc::IpcConfig());
    lastWasAccepted = va.has_value();
    if (!va) {
        require(!va.error().message.empty(), "an error says what is wrong");
        return;
    }
    require(importer.memory->addressRange(*va)->sizeBytes == input.windowBytes,
            "what is open has the handle's size");
    requireReadable(*importer.memory, *va, input.windowBytes);
    require(importer.memory->closeImport(*va).has_value(), "an import can be closed");
}

} // namespace
} // namespace causeway::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    using namespace causeway::fuzz;
    static Importer importer;
    const ImportInput input = parseImport(bytesOf(data, size));
    static_cast<void>(fileOf(FdKind::Object)); // made by now
    const int free = lowestFreeDescriptor();
    requireImportOrError(importer, input);
    require(lowestFreeDescriptor() == free, "no descriptor is left open");
    return 0;
}
