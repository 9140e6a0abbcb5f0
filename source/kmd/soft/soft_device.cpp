#include "source/kmd/soft/soft_device.h"

#include <algorithm>
#include <cstring>

namespace causeway::kmd::soft {
namespace {

constexpr uint64_t smallPage = uint64_t{64} << 10;
constexpr uint64_t largePage = uint64_t{2} << 20;
constexpr size_t bootBytes = 12; // of a uuid; the index follows

/// The finalizer of MurmurHash3.
uint64_t mix(uint64_t value) {
    value ^= value >> 33;
    value *= 0xff51afd7ed558ccdULL;
    value ^= value >> 33;
    value *= 0xc4ceb9fe1a85ec53ULL;
    value ^= value >> 33;
    return value;
}

} // namespace

SoftDevice::SoftDevice(DeviceProperties properties,
                       uint32_t index,
                       uint64_t pageBytes,
                       HostMemory &host)
    : properties_(std::move(properties)), index_(index), pageBytes_(pageBytes), host_(host) {}

PageRules SoftDevice::pageRules(Placement placement) const {
    const uint64_t small = std::max(smallPage, pageBytes_);
    return PageRules{.granularity = placement == Placement::Host ? pageBytes_ : small,
                     .preferredSmall = small,
                     .preferredLarge = largePage,
                     .largeFrom = largePage};
}

uint64_t SoftDevice::freeBytes() const {
    return properties_.memoryBytes - std::min(ledger_.inUse(), properties_.memoryBytes);
}

Result<Charge> SoftDevice::charge(Placement placement, uint64_t sizeBytes) const {
    const bool host = placement == Placement::Host;
    Ledger &ledger = host ? host_.ledger : ledger_;
    const uint64_t limit = host ? host_.limitBytes : properties_.memoryBytes;
    auto charge = ledger.take(sizeBytes, limit);
    if (!charge) {
        return fail(host ? Status::OutOfHostMemory : Status::OutOfDeviceMemory,
                    "asked for {} bytes of {} memory while {} of {} bytes are in use",
                    sizeBytes,
                    toString(placement),
                    ledger.inUse(),
                    limit);
    }
    return std::move(*charge);
}

DeviceUuid softDeviceUuid(const std::array<uint8_t, 16> &bootId, uint32_t index) {
    std::array<uint64_t, 2> words = {};
    std::memcpy(words.data(), bootId.data(), sizeof(words));
    // The boot id itself is not ours to publish.
    words[0] = mix(words[0] ^ 0x4361757365776179ULL); // "Causeway"
    words[1] = mix(words[1] ^ words[0]);
    DeviceUuid uuid = {};
    std::memcpy(uuid.data(), words.data(), bootBytes);
    for (size_t i = bootBytes; i < uuid.size(); ++i) {
        uuid[i] = static_cast<uint8_t>(index >> (8 * (i - bootBytes)));
    }
    return uuid;
}

bool sameBoot(const DeviceUuid &a, const DeviceUuid &b) {
    return std::equal(a.begin(), a.begin() + bootBytes, b.begin());
}

} // namespace causeway::kmd::soft
