#pragma once

#include "shared/os/linux_os.h"
#include "shared/wire/range_table.h"
#include "source/ipc/export.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace causeway::ipc {

/// A memfd as an exporter's object file: sealed against changes of size. Its name shows its
/// mappings to the resource check.
[[nodiscard]] inline UniqueFd objectFile(uint64_t sizeBytes,
                                         int seals = F_SEAL_SHRINK | F_SEAL_GROW) {
    UniqueFd file =
        std::move(linuxOs().memfdCreate("causeway-test-object", MFD_ALLOW_SEALING).value());
    linuxOs().truncate(file.get(), sizeBytes).value();
    if (seals != 0) {
        linuxOs().addSeals(file.get(), seals).value();
    }
    return file;
}

/// A backing whose descriptors are made for the occasion, and run out on demand.
class TestBacking final : public kmd::Backing {
  public:
    explicit TestBacking(uint64_t sizeBytes)
        : file_(objectFile(sizeBytes)), sizeBytes_(sizeBytes) {}

    [[nodiscard]] ObjectKind kind() const override { return ObjectKind::Memfd; }

    [[nodiscard]] uint64_t sizeBytes() const override { return sizeBytes_; }

    [[nodiscard]] bool holdsOneObject() const override { return true; }

    [[nodiscard]] bool canTravel() const override { return true; }

    [[nodiscard]] Result<kmd::TravelFd> exportDescriptor(std::span<const kmd::Extent>) override {
        if (throws) {
            throw std::bad_alloc();
        }
        if (exhausted) {
            return fail(Status::OutOfHostMemory, "told to have no descriptor");
        }
        ++exported;
        return kmd::TravelFd::own(std::move(linuxOs().duplicate(file_.get()).value()));
    }

    [[nodiscard]] std::shared_ptr<kmd::PublishedFile> publish(kmd::PublishUntil until) override {
        return publisher_.publish(linuxOs(), file_.get(), until);
    }

    std::atomic<bool> exhausted = false;
    std::atomic<bool> throws = false;
    std::atomic<int> exported = 0;

  private:
    UniqueFd file_;
    uint64_t sizeBytes_;
    kmd::FilePublisher publisher_;
};

inline constexpr uint64_t testPieceBytes = 4096;

/// An export of as many test backings, each shown by one piece; `pieces` more than that show the
/// last one again and again, which makes a long table.
struct TestExport {
    explicit TestExport(size_t objects, size_t pieces = 0, uint8_t tokenByte = 0xA5) {
        auto made = std::make_shared<Export>();
        made->token.fill(tokenByte);
        wire::RangeTable table;
        for (size_t i = 0; i < objects; ++i) {
            backings.push_back(std::make_shared<TestBacking>(testPieceBytes));
            table.objects.push_back({.sizeBytes = testPieceBytes});
            made->objects.push_back({.backing = backings.back(), .extents = {{0, testPieceBytes}}});
        }
        for (size_t i = 0; i < std::max(objects, pieces); ++i) {
            table.pieces.push_back({.object = static_cast<uint32_t>(std::min(i, objects - 1)),
                                    .sizeBytes = testPieceBytes});
        }
        table.windowBytes = table.pieces.size() * testPieceBytes;
        made->key = {.owner = this, .address = 1, .windowBytes = table.windowBytes, .flags = 0};
        made->table = wire::encodeTable(table);
        windowBytes = table.windowBytes;
        token = made->token;
        reference = std::move(made);
    }

    std::vector<std::shared_ptr<TestBacking>> backings;
    std::shared_ptr<const Export> reference;
    wire::Token token = {};
    uint64_t windowBytes = 0;
};

} // namespace causeway::ipc
