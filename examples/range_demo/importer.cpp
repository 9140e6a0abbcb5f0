#include "examples/range_demo/importer.h"

#include "examples/range_demo/pattern.h"
#include "examples/range_demo/report.h"
#include "examples/range_demo/scenario.h"
#include "examples/range_demo/ze_calls.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

namespace range_demo {

namespace {

/// The same call as for any other IPC handle: the driver recognises a range.
ImportedView open(const Session &session, const ze_ipc_mem_handle_t &handle) {
    const ze_context_handle_t context = session.context.get();
    void *base = nullptr;
    require(zeMemOpenIpcHandle(context, session.device, handle, 0, &base), "zeMemOpenIpcHandle");
    return ImportedView(base, {context});
}

/// The handle describes itself: nobody sent the size.
size_t sizeOf(const Session &session, const ImportedView &view) {
    void *base = nullptr;
    size_t sizeBytes = 0;
    require(zeMemGetAddressRange(session.context.get(), view.get(), &base, &sizeBytes),
            "zeMemGetAddressRange");
    if (base != view.get()) {
        throw std::runtime_error(
            fmt::format("zeMemGetAddressRange: the base is {}, expected {}", base, view.get()));
    }
    return sizeBytes;
}

/// Access as the exporter had mapped it, if it is the same on all of the piece.
ze_memory_access_attribute_t accessOf(const Session &session,
                                      const std::byte *address,
                                      size_t sizeBytes) {
    auto access = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
    size_t sameBytes = 0;
    require(zeVirtualMemGetAccessAttribute(
                session.context.get(), address, sizeBytes, &access, &sameBytes),
            "zeVirtualMemGetAccessAttribute");
    if (sameBytes < sizeBytes) {
        throw std::runtime_error(fmt::format(
            "zeVirtualMemGetAccessAttribute: the access changes {} bytes into a piece of {}",
            sameBytes,
            sizeBytes));
    }
    return access;
}

/// Ranges may mix device and host memory.
ze_memory_type_t placementOf(const Session &session, const std::byte *address) {
    ze_memory_allocation_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    ze_device_handle_t device = nullptr;
    require(zeMemGetAllocProperties(session.context.get(), address, &properties, &device),
            "zeMemGetAllocProperties");
    return properties.type;
}

/// What is to be found at `address`: access and placement from the driver, object and offset from
/// the memory itself, since each word says where it was written.
Piece findPiece(const Session &session, const std::byte *address, size_t sizeBytes) {
    uint64_t firstWord = 0;
    std::memcpy(&firstWord, address, sizeof(firstWord));
    const Word word = decode(firstWord);
    return {.object = word.object,
            .offset = word.position,
            .sizeBytes = sizeBytes,
            .access = accessOf(session, address, sizeBytes),
            .placement = placementOf(session, address)};
}

std::vector<Piece> findPieces(const Session &session,
                              const std::byte *base,
                              const Scenario &scenario) {
    std::vector<Piece> found;
    found.reserve(scenario.pieces.size());
    for (const Piece &piece : scenario.pieces) {
        found.push_back(findPiece(session, base, piece.sizeBytes));
        base += piece.sizeBytes;
    }
    return found;
}

std::string describe(const Piece &piece) {
    return fmt::format("object {} at offset {}, {}, {}",
                       piece.object,
                       piece.offset,
                       nameOf(piece.access),
                       nameOf(piece.placement));
}

void requireSamePieces(std::span<const Piece> found, std::span<const Piece> expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
        if (found[i] != expected[i]) {
            throw std::runtime_error(fmt::format(
                "piece {} is {}; expected {}", i, describe(found[i]), describe(expected[i])));
        }
    }
}

void checkLayout(const Session &session, const ImportedView &view, const Scenario &scenario) {
    const size_t sizeBytes = sizeOf(session, view);
    if (sizeBytes != scenario.sizeBytes()) {
        throw std::runtime_error(fmt::format(
            "the imported range has {} bytes, expected {}", sizeBytes, scenario.sizeBytes()));
    }
    const auto *base = static_cast<const std::byte *>(view.get());
    const std::vector<Piece> found = findPieces(session, base, scenario);
    if (scenario.printsLayout) {
        printLayout(found);
    }
    requireSamePieces(found, scenario.pieces);
}

Verdict verifyAll(const std::byte *base, const Scenario &scenario) {
    Verdict verdict;
    for (const Piece &piece : scenario.pieces) {
        verdict.verifiedBytes +=
            verify(base, piece.sizeBytes, {Author::Exporter, piece.object, piece.offset});
        ++verdict.verifiedObjects;
        base += piece.sizeBytes;
    }
    return verdict;
}

/// Returns how many bytes it wrote.
size_t writeBack(std::byte *base, const Scenario &scenario) {
    size_t writtenBytes = 0;
    for (const Piece &piece : scenario.pieces) {
        const size_t written = scenario.writtenBackBytes(piece);
        fill(base, written, {Author::Importer, piece.object, piece.offset});
        writtenBytes += written;
        base += piece.sizeBytes;
    }
    return writtenBytes;
}

/// The view is closed at the end; the memory stays with the exporter.
Verdict receiveRange(const Session &session,
                     const ze_ipc_mem_handle_t &handle,
                     const Scenario &scenario) {
    const Stopwatch stopwatch;
    const ImportedView view = open(session, handle);
    say(Role::Importer,
        "opened the 64 bytes in {}, with {} files open",
        stopwatch.elapsed(),
        openFiles());

    checkLayout(session, view, scenario);
    auto *base = static_cast<std::byte *>(view.get());
    const Verdict verdict = verifyAll(base, scenario);
    say(Role::Importer,
        "found {} as planned and {} bytes right",
        counted(verdict.verifiedObjects, "piece"),
        grouped(verdict.verifiedBytes));
    say(Role::Importer, "wrote {} bytes back", grouped(writeBack(base, scenario)));
    return verdict;
}

} // namespace

void runImporter(Channel &channel, uint32_t objectCount) {
    const Session session = openSession();
    say(Role::Importer, "process {}, {}, {} files open", getpid(), session.deviceName, openFiles());
    channel.send(Ready::Yes);
    for (const Scenario &scenario : {fiveObjects(), manyObjects(objectCount)}) {
        const auto handle = channel.receive<ze_ipc_mem_handle_t>();
        channel.send(receiveRange(session, handle, scenario));
    }
}

} // namespace range_demo
