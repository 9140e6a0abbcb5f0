#include "shared/wire/ipc_handle.h"

#include "shared/wire/wire_struct.h"

#include <zlib.h>

#include <algorithm>
#include <bit>

namespace causeway::wire {
namespace {

constexpr uint32_t handleMagic = wireMagic("CWYH");

struct HandleLayout {
    int32_t fd = -1;
    int32_t rendezvousFd = -1;
    uint32_t magic = handleMagic;
    uint8_t version = handleVersion;
    uint8_t kind = 0;
    uint16_t flags = 0;
    uint64_t serverId = 0;
    Token token = {};
    uint64_t sizeBytes = 0;
    uint64_t fdIdentity = 0;
    int32_t pid = 0;
    uint32_t crc = 0;
};

static_assert(WireStruct<HandleLayout>);
static_assert(sizeof(HandleLayout) == sizeof(HandleBytes));
static_assert(offsetof(HandleLayout, fd) == 0);
static_assert(offsetof(HandleLayout, rendezvousFd) == 4);
static_assert(offsetof(HandleLayout, magic) == 8);
static_assert(offsetof(HandleLayout, version) == 12);
static_assert(offsetof(HandleLayout, kind) == 13);
static_assert(offsetof(HandleLayout, flags) == 14);
static_assert(offsetof(HandleLayout, serverId) == 16);
static_assert(offsetof(HandleLayout, token) == 24);
static_assert(offsetof(HandleLayout, sizeBytes) == 40);
static_assert(offsetof(HandleLayout, fdIdentity) == 48);
static_assert(offsetof(HandleLayout, pid) == 56);
static_assert(offsetof(HandleLayout, crc) == 60);

// Clients overwrite what lies before the magic; the CRC covers the rest up to itself.
constexpr size_t coveredFrom = offsetof(HandleLayout, magic);
constexpr size_t coveredBytes = offsetof(HandleLayout, crc) - coveredFrom;

uint32_t coveredCrc(const HandleLayout &layout) {
    const auto bytes = std::bit_cast<std::array<Bytef, sizeof(HandleLayout)>>(layout);
    return static_cast<uint32_t>(::crc32(0, bytes.data() + coveredFrom, coveredBytes));
}

bool isKnown(HandleKind kind) {
    return kind == HandleKind::SingleDevice || kind == HandleKind::SingleHost ||
           kind == HandleKind::Range;
}

/// Under a wrong magic the bytes are a handle of ours with damage there, or the leavings of a
/// client that kept the descriptor alone. Only the former's CRC holds with the magic restored
/// (garbage: one chance in 2^32; all zeros: never).
Result<DecodedHandle> judgeForeign(const HandleLayout &layout) {
    HandleLayout restored = layout;
    restored.magic = handleMagic;
    if (coveredCrc(restored) == layout.crc) {
        return fail(Status::InvalidArgument,
                    "IPC handle is damaged: magic is {:#010x}, expected {:#010x}",
                    layout.magic,
                    handleMagic);
    }
    return DescriptorOnly{layout.fd};
}

/// Under a right magic: version first, since a later version may cover other bytes by its CRC;
/// the rest means something only once the CRC holds.
Result<void> checkFields(const HandleLayout &layout) {
    if (layout.version != handleVersion) {
        return fail(Status::UnsupportedVersion,
                    "IPC handle: version is {}, this driver understands {}",
                    layout.version,
                    handleVersion);
    }
    if (const uint32_t crc = coveredCrc(layout); crc != layout.crc) {
        return fail(Status::InvalidArgument,
                    "IPC handle is damaged: CRC is {:#010x}, its bytes give {:#010x}",
                    layout.crc,
                    crc);
    }
    if (layout.flags != 0) {
        return fail(Status::UnsupportedVersion,
                    "IPC handle: flags are {:#06x}, this driver understands none",
                    layout.flags);
    }
    if (!isKnown(static_cast<HandleKind>(layout.kind))) {
        return fail(Status::InvalidArgument, "IPC handle: kind {} is unknown", layout.kind);
    }
    if (layout.sizeBytes == 0) {
        return fail(Status::InvalidArgument, "IPC handle: size is 0");
    }
    return {};
}

IpcHandle fromLayout(const HandleLayout &layout) {
    return {.fd = layout.fd,
            .rendezvousFd = layout.rendezvousFd,
            .kind = static_cast<HandleKind>(layout.kind),
            .flags = layout.flags,
            .serverId = layout.serverId,
            .token = layout.token,
            .sizeBytes = layout.sizeBytes,
            .fdIdentity = layout.fdIdentity,
            .pid = layout.pid};
}

/// Shifts carry high bits down, odd factors (here the golden ratio's and e's bits) low bits up.
/// Each step can be undone, so distinct values stay distinct.
uint64_t scramble(uint64_t value) {
    value ^= value >> 31;
    value *= 0x9e3779b97f4a7c15;
    value ^= value >> 29;
    value *= 0xb7e151628aed2a6b;
    value ^= value >> 32;
    return value;
}

} // namespace

uint64_t fileIdentity(uint64_t device, uint64_t inode) {
    // st_dev is small and shared by all memfds: scrambled first, so that small inode numbers do
    // not cancel it. The sum keeps the inodes of one device apart.
    const uint64_t mixed = scramble(scramble(device + 1) + inode);
    return std::max<uint64_t>(mixed, 1); // 0 says "no descriptor" in a handle
}

HandleBytes encodeHandle(const IpcHandle &handle) {
    HandleLayout layout = {.fd = handle.fd,
                           .rendezvousFd = handle.rendezvousFd,
                           .kind = static_cast<uint8_t>(handle.kind),
                           .flags = handle.flags,
                           .serverId = handle.serverId,
                           .token = handle.token,
                           .sizeBytes = handle.sizeBytes,
                           .fdIdentity = handle.fdIdentity,
                           .pid = handle.pid};
    layout.crc = coveredCrc(layout);
    return std::bit_cast<HandleBytes>(layout);
}

Result<DecodedHandle> decodeHandle(std::span<const std::byte, 64> bytes) {
    const auto layout = readWire<HandleLayout>(bytes, 0);
    if (layout.magic != handleMagic) {
        return judgeForeign(layout);
    }
    if (auto checked = checkFields(layout); !checked) {
        return forward(checked);
    }
    return fromLayout(layout);
}

} // namespace causeway::wire
