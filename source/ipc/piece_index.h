#pragma once

#include "shared/wire/range_table.h"
#include "source/memory/memory_manager.h"

#include <cstdint>
#include <numeric>
#include <vector>

namespace causeway::ipc {

/// Which pieces show which object, and where each piece lies: both in one pass over the table.
class PieceIndex {
  public:
    explicit PieceIndex(const wire::RangeTable &table)
        : table_(table)
        , firstOf_(table.objects.size() + 1)
        , order_(table.pieces.size())
        , position_(table.pieces.size()) {
        uint64_t position = 0;
        for (size_t i = 0; i < table.pieces.size(); ++i) {
            ++firstOf_[table.pieces[i].object + 1];
            position_[i] = position;
            position += table.pieces[i].sizeBytes;
        }
        std::partial_sum(firstOf_.begin(), firstOf_.end(), firstOf_.begin());
        std::vector<size_t> next(firstOf_.begin(), firstOf_.end() - 1);
        for (size_t i = 0; i < table.pieces.size(); ++i) {
            order_[next[table.pieces[i].object]++] = i;
        }
    }

    void addPiecesOf(uint32_t object,
                     const memory::PhysicalMemoryRef &memory,
                     const std::shared_ptr<const wire::IpcHandle> &origin,
                     std::vector<memory::ImportTransaction::Piece> &pieces) const {
        for (size_t i = firstOf_[object]; i < firstOf_[object + 1]; ++i) {
            const wire::TablePiece &piece = table_.pieces[order_[i]];
            pieces.push_back({.position = position_[order_[i]],
                              .object = memory,
                              .offset = piece.offset,
                              .sizeBytes = piece.sizeBytes,
                              .access = piece.access,
                              .origin = {.handle = origin, .object = object}});
        }
    }

  private:
    const wire::RangeTable &table_;
    std::vector<size_t> firstOf_;
    std::vector<size_t> order_;
    std::vector<uint64_t> position_;
};

} // namespace causeway::ipc
