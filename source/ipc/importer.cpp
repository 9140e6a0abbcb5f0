#include "source/ipc/importer.h"

#include "source/ipc/piece_index.h"
#include "source/ipc/range_fetcher.h"

#include <algorithm>
#include <unordered_map>

namespace causeway::ipc {
namespace {

using memory::ImportTransaction;
using memory::PhysicalMemoryRef;
using memory::SnapshotPiece;

Result<PhysicalMemoryRef> importObject(memory::MemoryManager &manager,
                                       const kmd::Device &device,
                                       const wire::RangeTable &table,
                                       uint32_t number,
                                       UniqueFd fd) {
    const wire::TableObject &promised = table.objects[number];
    auto object = manager.importObject(device,
                                       std::move(fd),
                                       {.kind = promised.kind,
                                        .placement = promised.placement,
                                        .sizeBytes = promised.sizeBytes,
                                        .owner = promised.device});
    if (!object) {
        return forward(object, fmt::format("object {} of {}", number, table.objects.size()));
    }
    return object;
}

/// Binds what a range fetcher brings, batch by batch, into one transaction.
class BatchBinder {
  public:
    BatchBinder(memory::MemoryManager &manager,
                const kmd::Device &device,
                const wire::RangeTable &table,
                const wire::IpcHandle &handle,
                ImportTransaction &transaction)
        : manager_(manager)
        , device_(device)
        , table_(table)
        , index_(table)
        , origin_(std::make_shared<const wire::IpcHandle>(handle))
        , transaction_(transaction) {}

    Result<void> operator()(uint32_t first, std::span<UniqueFd> fds) {
        std::vector<PhysicalMemoryRef> objects;
        std::vector<ImportTransaction::Piece> pieces;
        for (UniqueFd &fd : fds) {
            const auto number = static_cast<uint32_t>(first + objects.size());
            auto object = importObject(manager_, device_, table_, number, std::move(fd));
            if (!object) {
                return forward(object);
            }
            index_.addPiecesOf(number, *object, origin_, pieces);
            objects.push_back(std::move(*object));
        }
        // By address: pieces that touch cost one mapping, others are counted as two.
        std::ranges::sort(pieces, {}, &ImportTransaction::Piece::position);
        if (auto bound = transaction_.bind(pieces); !bound) {
            return bound;
        }
        for (const PhysicalMemoryRef &object : objects) {
            object->dropDescriptor();
        }
        return {};
    }

  private:
    memory::MemoryManager &manager_;
    const kmd::Device &device_;
    const wire::RangeTable &table_;
    const PieceIndex index_;
    const std::shared_ptr<const wire::IpcHandle> origin_;
    ImportTransaction &transaction_;
};

/// Fetches the objects that `pieces` show once more and keeps them with their descriptors.
Result<void> reacquireFrom(Os &os,
                           memory::MemoryManager &manager,
                           const wire::IpcHandle &origin,
                           std::span<SnapshotPiece *const> pieces,
                           const IpcConfig &config) {
    auto fetcher = RangeFetcher::open(os, origin, config);
    if (!fetcher) {
        return forward(fetcher);
    }
    std::unordered_map<uint32_t, PhysicalMemoryRef> needed;
    for (const SnapshotPiece *piece : pieces) {
        needed.emplace(piece->origin.object, nullptr);
    }
    const kmd::Device &device = pieces.front()->object->device();
    const auto keepNeeded = [&](uint32_t first, std::span<UniqueFd> fds) -> Result<void> {
        for (size_t i = 0; i < fds.size(); ++i) {
            const auto number = static_cast<uint32_t>(first + i);
            const auto wanted = needed.find(number);
            if (wanted == needed.end()) {
                continue;
            }
            auto object =
                importObject(manager, device, fetcher->table(), number, std::move(fds[i]));
            if (!object) {
                return forward(object);
            }
            wanted->second = std::move(*object);
        }
        return {};
    };
    if (auto fetched = fetcher->fetch(keepNeeded); !fetched) {
        return fetched;
    }
    for (SnapshotPiece *piece : pieces) {
        const auto &object = needed.at(piece->origin.object);
        if (object == nullptr || object->sizeBytes() < piece->object->sizeBytes()) {
            return fail(Status::InvalidArgument, "the exporter answered differently than before");
        }
        piece->object = object;
    }
    return {};
}

} // namespace

Result<uint64_t> openOwnRange(memory::MemoryManager &manager,
                              const kmd::Device &device,
                              const Export &source) {
    std::vector<ImportTransaction::Piece> pieces;
    pieces.reserve(source.snapshot.pieces.size());
    uint64_t position = 0;
    for (const SnapshotPiece &piece : source.snapshot.pieces) {
        if (auto reach = manager.requireReach(device, piece.object->owner()); !reach) {
            return forward(reach);
        }
        pieces.push_back({.position = position,
                          .object = piece.object,
                          .offset = piece.offset,
                          .sizeBytes = piece.sizeBytes,
                          .access = piece.access,
                          .origin = piece.origin});
        position += piece.sizeBytes;
    }
    auto transaction = manager.beginImport(position);
    if (!transaction) {
        return forward(transaction);
    }
    if (auto bound = transaction->bind(pieces); !bound) {
        return forward(bound);
    }
    return transaction->commit(source.snapshot.leadBytes, source.snapshot.windowBytes, device);
}

Result<uint64_t> openDescriptor(memory::MemoryManager &manager,
                                const kmd::Device &device,
                                kmd::FoundObject found,
                                uint64_t windowBytes,
                                std::shared_ptr<const wire::IpcHandle> origin) {
    if (auto reach = manager.requireReach(device, found.info.owner); !reach) {
        return forward(reach);
    }
    if (windowBytes > found.info.sizeBytes) {
        return fail(Status::InvalidArgument,
                    "the handle promises {} bytes, its descriptor has {}",
                    windowBytes,
                    found.info.sizeBytes);
    }
    auto object = manager.importObject(device, std::move(found.file), found.info);
    if (!object) {
        return forward(object);
    }
    auto transaction = manager.beginImport(found.info.sizeBytes);
    if (!transaction) {
        return forward(transaction);
    }
    const ImportTransaction::Piece piece = {.position = 0,
                                            .object = *object,
                                            .offset = 0,
                                            .sizeBytes = found.info.sizeBytes,
                                            .access = Access::ReadWrite,
                                            .origin = {.handle = std::move(origin), .object = 0}};
    if (auto bound = transaction->bind({&piece, 1}); !bound) {
        return forward(bound);
    }
    (*object)->dropDescriptor();
    return transaction->commit(0, windowBytes, device);
}

Result<uint64_t> openRemoteRange(Os &os,
                                 memory::MemoryManager &manager,
                                 const kmd::Device &device,
                                 const wire::IpcHandle &handle,
                                 const IpcConfig &config) {
    auto fetcher = RangeFetcher::open(os, handle, config);
    if (!fetcher) {
        return forward(fetcher);
    }
    const wire::RangeTable &table = fetcher->table();
    for (const wire::TableObject &object : table.objects) {
        if (auto reach = manager.requireReach(device, object.device); !reach) {
            return forward(reach);
        }
    }
    auto transaction = manager.beginImport(table.mappedBytes());
    if (!transaction) {
        return forward(transaction);
    }
    BatchBinder binder(manager, device, table, handle, *transaction);
    if (auto fetched = fetcher->fetch(std::ref(binder)); !fetched) {
        return forward(fetched);
    }
    return transaction->commit(table.leadBytes, table.windowBytes, device);
}

Result<void> reacquire(Os &os,
                       memory::MemoryManager &manager,
                       memory::RangeSnapshot &snapshot,
                       const IpcConfig &config) {
    // One visit for each import that the window touches, however many pieces it has there.
    std::unordered_map<const wire::IpcHandle *, std::vector<SnapshotPiece *>> byOrigin;
    for (SnapshotPiece &piece : snapshot.pieces) {
        if (piece.origin.handle != nullptr) {
            byOrigin[piece.origin.handle.get()].push_back(&piece);
        }
    }
    for (const auto &[origin, pieces] : byOrigin) {
        if (auto visited = reacquireFrom(os, manager, *origin, pieces, config); !visited) {
            return forward(visited, "an imported range is shared anew through its exporter");
        }
    }
    return {};
}

} // namespace causeway::ipc
