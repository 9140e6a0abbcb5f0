#include "source/kmd/soft/soft_backend.h"

#include "shared/base/checked.h"
#include "shared/base/log.h"
#include "source/kmd/soft/object_name.h"
#include "source/kmd/soft/soft_address_space.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace causeway::kmd::soft {
namespace {

std::array<uint8_t, 16> bootIdOr0(Os &os) {
    const auto id = os.bootId();
    if (id) {
        return *id;
    }
    log(LogLevel::Warn,
        "device uuids are the same on every machine, since {}",
        describe(id.error(), "the boot id cannot be read").message);
    return {};
}

/// Beyond the domains that Linux numbers.
constexpr uint32_t softPciDomain = 0x7fff50f7;

DeviceProperties propertiesOf(const DeviceUuid &uuid, uint32_t index, uint64_t memoryBytes) {
    return DeviceProperties{.name = "Causeway soft device",
                            .uuid = uuid,
                            .pci = {.domain = softPciDomain, .bus = index},
                            .vendorId = 0x1CA5, // ours; registered nowhere
                            .deviceId = 0x50F7,
                            .memoryBytes = memoryBytes,
                            .coreClockMHz = 1000, // nominal: clients divide by it
                            .threadCount = std::max(1U, std::thread::hardware_concurrency()),
                            .integrated = true,
                            .cpuVisible = true};
}

} // namespace

SoftBackend::SoftBackend(Os &os, const SoftConfig &config) : os_(os), maps_(os) {
    host_.limitBytes = os.totalMemory();
    files_.ownFileBudget = config.ownFileBudget;
    files_.dedicatedOnly = config.dedicatedOnly;
    const uint64_t memoryBytes =
        config.memoryBytes != 0 ? config.memoryBytes : os.totalMemory() / 2;
    const auto bootId = bootIdOr0(os);
    for (uint32_t i = 0; i < config.deviceCount; ++i) {
        devices_.push_back(std::make_unique<SoftDevice>(
            propertiesOf(softDeviceUuid(bootId, i), i, memoryBytes), i, os.pageSize(), host_));
    }
}

bool SoftBackend::canReach(const Device &device, const DeviceUuid &uuid) const {
    return sameBoot(device.properties().uuid, uuid);
}

Result<FoundObject> SoftBackend::identify(UniqueFd file) const {
    const auto link = os_.fileName(file.get());
    const auto info = os_.fileInfo(file.get());
    if (!link || !info) {
        return failWith(link ? info.error() : link.error(), "looking at a descriptor");
    }
    const auto name = parseObjectName(*link);
    const bool isWhole = info->sizeBytes > 0 && isAligned(info->sizeBytes, os_.pageSize());
    if (!name || name->bank || !isWhole) {
        return fail(Status::InvalidArgument,
                    "it is {}, not the memory of one object of a soft device",
                    *link);
    }
    return FoundObject{.file = std::move(file),
                       .info = {.kind = ObjectKind::Memfd,
                                .placement = name->placement,
                                .sizeBytes = info->sizeBytes,
                                .owner = name->device}};
}

Result<std::unique_ptr<MemoryPool>> SoftBackend::createPool() {
    auto banks = std::make_shared<BankStore>(os_, devices_.size());
    {
        const MutexLock lock(mutex_);
        std::erase_if(stores_, [](const auto &store) { return store.expired(); });
        stores_.push_back(banks);
    }
    return std::make_unique<SoftPool>(os_, files_, std::move(banks));
}

Result<std::unique_ptr<AddressSpace>> SoftBackend::createAddressSpace() {
    return std::make_unique<SoftAddressSpace>(os_, maps_);
}

void SoftBackend::reclaim() {
    std::vector<std::shared_ptr<BankStore>> living;
    {
        const MutexLock lock(mutex_);
        for (const auto &store : stores_) {
            if (auto banks = store.lock()) {
                living.push_back(std::move(banks));
            }
        }
    }
    for (const auto &store : living) {
        store->sweep();
    }
}

} // namespace causeway::kmd::soft
