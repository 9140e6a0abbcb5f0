#include "examples/range_demo/exporter.h"

#include "examples/range_demo/importer.h"
#include "examples/range_demo/importer_process.h"
#include "examples/range_demo/pattern.h"
#include "examples/range_demo/report.h"
#include "examples/range_demo/scenario.h"
#include "examples/range_demo/ze_calls.h"

#include <fmt/core.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

namespace range_demo {

namespace {

/// Objects side by side in one reserved range. Members go in reverse order: a mapping ends before
/// its address is released and its object destroyed.
struct Range {
    std::vector<PhysicalMemory> objects;
    Reservation reservation;
    std::vector<Mapping> mappings;

    [[nodiscard]] std::byte *base() const { return static_cast<std::byte *>(reservation.get()); }
};

/// Address space without memory behind it. Its size must be a multiple of the page size, which
/// grows with the size.
Reservation reserve(const Session &session, size_t sizeBytes) {
    const ze_context_handle_t context = session.context.get();
    size_t pageBytes = 0;
    require(zeVirtualMemQueryPageSize(context, session.device, sizeBytes, &pageBytes),
            "zeVirtualMemQueryPageSize");
    const size_t rounded = (sizeBytes + pageBytes - 1) / pageBytes * pageBytes;
    void *address = nullptr;
    require(zeVirtualMemReserve(context, nullptr, rounded, &address), "zeVirtualMemReserve");
    return Reservation(address, {context, rounded});
}

/// Memory without an address. For an object on the host the device may be null too, but the
/// loader's validation layer does not allow that.
PhysicalMemory createObject(const Session &session, const Piece &piece) {
    const ze_context_handle_t context = session.context.get();
    const bool onHost = piece.placement == ZE_MEMORY_TYPE_HOST;
    ze_physical_mem_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC;
    desc.flags =
        onHost ? ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST : ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE;
    desc.size = piece.objectSizeBytes();
    ze_physical_mem_handle_t memory = nullptr;
    require(zePhysicalMemCreate(context, session.device, &desc, &memory), "zePhysicalMemCreate");
    return PhysicalMemory(memory, {context});
}

/// Puts the bytes of `piece` at `address`.
Mapping map(const Session &session,
            void *address,
            const PhysicalMemory &object,
            const Piece &piece) {
    const ze_context_handle_t context = session.context.get();
    require(zeVirtualMemMap(
                context, address, piece.sizeBytes, object.get(), piece.offset, piece.access),
            "zeVirtualMemMap");
    return Mapping(address, {context, piece.sizeBytes});
}

/// An object may be mapped more than once, each time with a window and an access of its own: so
/// bytes come into an object that the range shows in part or read-only.
void fillThroughSecondMapping(const Session &session,
                              const PhysicalMemory &object,
                              const Piece &piece) {
    const Piece whole = {.object = piece.object, .sizeBytes = piece.objectSizeBytes()};
    const Reservation elsewhere = reserve(session, whole.sizeBytes);
    const Mapping mapping = map(session, elsewhere.get(), object, whole);
    fill(mapping.get(), whole.sizeBytes, {Author::Exporter, whole.object, whole.offset});
}

Range buildRange(const Session &session, const Scenario &scenario) {
    Range range;
    range.reservation = reserve(session, scenario.sizeBytes());
    std::byte *address = range.base();
    for (const Piece &piece : scenario.pieces) {
        range.objects.push_back(createObject(session, piece));
        range.mappings.push_back(map(session, address, range.objects.back(), piece));
        if (piece.isWritable() && piece.offset == 0) {
            fill(address, piece.sizeBytes, {Author::Exporter, piece.object, piece.offset});
        } else {
            fillThroughSecondMapping(session, range.objects.back(), piece);
        }
        address += piece.sizeBytes;
    }
    return range;
}

/// The extension: a descriptor with the size of the range makes one handle of all that is mapped
/// there. The handle shows the range as it is now, whatever is mapped later.
ze_ipc_mem_handle_t exportRange(const Session &session, const void *base, size_t sizeBytes) {
    ze_ipc_phys_mem_handle_range_ext_desc_t rangeDesc = {
        // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): SDKs before 1.18 lack it
        .stype = ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC,
        .pNext = nullptr,
        .size = sizeBytes};
    ze_ipc_mem_handle_t handle = {};
    require(getIpcHandleWithProperties(session.context.get(), base, &rangeDesc, &handle),
            "zeMemGetIpcHandleWithProperties");
    return handle;
}

void requireWholeRange(const Verdict &verdict, const Scenario &scenario) {
    if (verdict.verifiedBytes != scenario.sizeBytes() ||
        verdict.verifiedObjects != scenario.pieces.size()) {
        throw std::runtime_error(
            fmt::format("the importer verified {} bytes in {} objects; the range has {} in {}",
                        verdict.verifiedBytes,
                        verdict.verifiedObjects,
                        scenario.sizeBytes(),
                        scenario.pieces.size()));
    }
}

/// Every byte again: those that the importer wrote, and those that it left alone. Returns how many
/// it wrote.
size_t verifyWriteBack(const std::byte *base, const Scenario &scenario) {
    size_t writtenBytes = 0;
    for (const Piece &piece : scenario.pieces) {
        const size_t written = scenario.writtenBackBytes(piece);
        writtenBytes += verify(base, written, {Author::Importer, piece.object, piece.offset});
        verify(base + written,
               piece.sizeBytes - written,
               {Author::Exporter, piece.object, piece.offset + written});
        base += piece.sizeBytes;
    }
    return writtenBytes;
}

/// One part of the demonstration, from nothing to nothing.
Verdict share(const Session &session, Channel &channel, const Scenario &scenario) {
    const size_t sizeBytes = scenario.sizeBytes();
    const Range range = buildRange(session, scenario);
    say(Role::Exporter,
        "mapped {} side by side and filled them: {} bytes",
        counted(range.objects.size(), "object"),
        grouped(sizeBytes));

    const Stopwatch stopwatch;
    const ze_ipc_mem_handle_t handle = exportRange(session, range.base(), sizeBytes);
    say(Role::Exporter,
        "exported the range in {}, with {} files open; sends {} bytes",
        stopwatch.elapsed(),
        openFiles(),
        sizeof(handle));

    // This is all that the importer learns.
    channel.send(handle);
    const auto verdict = channel.receive<Verdict>();
    requireWholeRange(verdict, scenario);
    const size_t writtenBytes = verifyWriteBack(range.base(), scenario);
    say(Role::Exporter, "sees these {} bytes, and all others as they were", grouped(writtenBytes));

    // From now on nobody can open the handle any more.
    require(putIpcHandle(session.context.get(), handle), "zeMemPutIpcHandle");
    return verdict;
}

Verdict shareAll(const Session &session, Channel &channel, uint32_t objectCount) {
    channel.receive<Ready>();
    Verdict sum;
    int part = 0;
    for (const Scenario &scenario : {fiveObjects(), manyObjects(objectCount)}) {
        printLine(fmt::format("\nPart {}: {}\n", ++part, scenario.title));
        const Verdict verdict = share(session, channel, scenario);
        sum.verifiedBytes += verdict.verifiedBytes;
        sum.verifiedObjects += verdict.verifiedObjects;
    }
    return sum;
}

} // namespace

Verdict runExporter(uint32_t objectCount) {
    const Session session = openSession();
    say(Role::Exporter, "process {}, {}, {} files open", getpid(), session.deviceName, openFiles());

    ImporterProcess importer(
        {"range_demo", "--role", "importer", "--objects", fmt::format("{}", objectCount)});
    Verdict sum;
    try {
        sum = shareAll(session, importer.channel(), objectCount);
    } catch (const PeerGone &) {
        // Says how it ended, where that was a failure.
        importer.finish();
        throw;
    }
    importer.finish();
    return sum;
}

} // namespace range_demo
