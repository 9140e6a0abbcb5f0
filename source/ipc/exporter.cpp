#include "source/ipc/exporter.h"

#include "shared/wire/range_table.h"

#include <unordered_map>

namespace causeway::ipc {
namespace {

/// Collects the distinct files of a window and its pieces, neighbours merged.
class TableBuilder {
  public:
    explicit TableBuilder(Export &target) : target_(target) {
        table_.windowBytes = target.snapshot.windowBytes;
        table_.leadBytes = target.snapshot.leadBytes;
    }

    void add(const memory::SnapshotPiece &piece) {
        const uint32_t index = indexOf(*piece.object);
        const uint64_t offset = piece.object->backingOffset() + piece.offset;
        if (!table_.pieces.empty()) {
            wire::TablePiece &last = table_.pieces.back();
            if (last.object == index && last.access == piece.access &&
                last.offset + last.sizeBytes == offset) {
                last.sizeBytes += piece.sizeBytes;
                target_.objects[index].extents.back().sizeBytes += piece.sizeBytes;
                return;
            }
        }
        table_.pieces.push_back({.object = index,
                                 .access = piece.access,
                                 .offset = offset,
                                 .sizeBytes = piece.sizeBytes});
        target_.objects[index].extents.push_back({offset, piece.sizeBytes});
    }

    [[nodiscard]] Result<std::vector<std::byte>> encode() const {
        const uint64_t sizeBytes =
            wire::encodedTableBytes(table_.objects.size(), table_.pieces.size());
        if (sizeBytes > mostTableBytes) {
            return fail(Status::UnsupportedSize,
                        "a range of {} pieces in {} files needs a table above {} bytes",
                        table_.pieces.size(),
                        table_.objects.size(),
                        mostTableBytes);
        }
        return wire::encodeTable(table_);
    }

  private:
    uint32_t indexOf(const memory::PhysicalMemory &object) {
        const auto &backing = object.backing();
        const auto [found, isNew] =
            indices_.try_emplace(backing.get(), static_cast<uint32_t>(table_.objects.size()));
        if (isNew) {
            table_.objects.push_back({.kind = backing->kind(),
                                      .placement = object.placement(),
                                      .sizeBytes = backing->sizeBytes(),
                                      .device = object.owner()});
            target_.objects.push_back({.backing = backing, .extents = {}});
        }
        return found->second;
    }

    Export &target_;
    wire::RangeTable table_;
    std::unordered_map<const kmd::Backing *, uint32_t> indices_;
};

/// What bytes 0-3 of a single object's handle may name; null for the others.
std::shared_ptr<kmd::Backing> fileOfOneObject(const Export &source) {
    const auto &backing = source.objects.front().backing;
    // The file itself would permit more than a mapping that is read-only.
    const bool fits = source.key.kind != wire::HandleKind::Range && backing->holdsOneObject() &&
                      source.snapshot.pieces.front().access == Access::ReadWrite;
    return fits ? backing : nullptr;
}

} // namespace

Result<std::shared_ptr<Export>> buildExport(Os &os,
                                            const ExporterIdentity &identity,
                                            const ExportKey &key,
                                            memory::RangeSnapshot snapshot,
                                            bool withTicket) {
    auto result = std::make_shared<Export>();
    result->key = key;
    result->snapshot = std::move(snapshot);
    TableBuilder builder(*result);
    for (const memory::SnapshotPiece &piece : result->snapshot.pieces) {
        builder.add(piece);
    }
    auto table = builder.encode();
    if (!table) {
        return forward(table);
    }
    result->table = std::move(*table);
    if (const auto random = os.randomBytes(std::as_writable_bytes(std::span(result->token)));
        !random) {
        return failWith(random.error(), "getrandom for a token");
    }
    const wire::IpcHandle handle = {.fd = -1,
                                    .rendezvousFd = identity.rendezvousFd,
                                    .kind = key.kind,
                                    .flags = 0,
                                    .serverId = identity.serverId,
                                    .token = result->token,
                                    .sizeBytes = key.windowBytes,
                                    .fdIdentity = 0,
                                    .pid = identity.pid};
    result->handle =
        std::make_unique<TicketedHandle>(os, handle, withTicket, fileOfOneObject(*result));
    return result;
}

} // namespace causeway::ipc
