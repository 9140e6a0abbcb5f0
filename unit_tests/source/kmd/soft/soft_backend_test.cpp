#include "source/kmd/soft/object_name.h"
#include "unit_tests/source/kmd/soft/soft_test.h"

#include <cerrno>
#include <set>

namespace causeway::kmd::soft {
namespace {

using fakes::OsCall;

class SoftBackendTest : public SoftTest {};

TEST_F(SoftBackendTest, DevicesSayWhatTheyAre) {
    start({.deviceCount = 3, .memoryBytes = 12345 * page});
    std::set<DeviceUuid> uuids;
    for (const auto &each : backend_->devices()) {
        const DeviceProperties &properties = each->properties();
        EXPECT_EQ(properties.name, "Causeway soft device");
        EXPECT_EQ(properties.vendorId, 0x1CA5U);
        EXPECT_EQ(properties.deviceId, 0x50F7U);
        EXPECT_EQ(properties.memoryBytes, 12345 * page);
        EXPECT_TRUE(properties.integrated && properties.cpuVisible);
        EXPECT_GT(properties.threadCount, 0U);
        uuids.insert(properties.uuid);
    }
    EXPECT_EQ(uuids.size(), 3U);
}

TEST_F(SoftBackendTest, MemoryIsHalfOfTheMachinesUnlessSaid) {
    const SoftBackend backend(os_, {});
    EXPECT_EQ(backend.devices()[0]->properties().memoryBytes, linuxOs().totalMemory() / 2);
}

TEST_F(SoftBackendTest, UuidsAreTheSameInEveryProcessOfOneBoot) {
    const SoftBackend one(os_, {.deviceCount = 1});
    const SoftBackend two(os_, {.deviceCount = 2});
    EXPECT_EQ(one.devices()[0]->properties().uuid, two.devices()[0]->properties().uuid);
    EXPECT_NE(softDeviceUuid({1}, 0), softDeviceUuid({2}, 0));
    EXPECT_FALSE(sameBoot(softDeviceUuid({1}, 0), softDeviceUuid({2}, 0)));
}

TEST_F(SoftBackendTest, WithoutABootIdDevicesStillHaveUuids) {
    os_.failKind(OsCall::BootId, ENOENT);
    const SoftBackend backend(os_, {.deviceCount = 2});
    const auto devices = backend.devices();
    EXPECT_NE(devices[0]->properties().uuid, devices[1]->properties().uuid);
    EXPECT_NE(devices[0]->properties().uuid, DeviceUuid{});
}

TEST_F(SoftBackendTest, ReachesDevicesOfThisBootAlsoThoseItDoesNotHave) {
    const auto bootId = *linuxOs().bootId();
    EXPECT_TRUE(backend_->canReach(device(), device().properties().uuid));
    EXPECT_TRUE(backend_->canReach(device(), softDeviceUuid(bootId, 7)));
    EXPECT_FALSE(backend_->canReach(device(), DeviceUuid{}));
}

UniqueFd copyOf(int fd) {
    return std::move(*linuxOs().duplicate(fd));
}

TEST_F(SoftBackendTest, IdentifiesFilesOfOneObject) {
    start({.ownFileBudget = 1});
    const auto own = create(3 * page, Placement::Host);
    const auto banked = create(page);
    const auto found = backend_->identify(copyOf(exportOne(*own)->get()));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->info.sizeBytes, 3 * page);
    EXPECT_EQ(found->info.placement, Placement::Host);
    EXPECT_EQ(found->info.kind, ObjectKind::Memfd);
    EXPECT_EQ(found->info.owner, device().properties().uuid);
    EXPECT_TRUE(own->backing()->holdsOneObject());

    const auto lease = exportOne(*banked);
    EXPECT_FALSE(backend_->identify(copyOf(lease->get()))) << "a bank";
    EXPECT_FALSE(banked->backing()->holdsOneObject());
    EXPECT_FALSE(backend_->identify(UniqueFd()));
    const std::string name = objectName(device().properties().uuid, Placement::Device, false);
    for (const uint64_t size : {uint64_t{0}, page + 1}) {
        UniqueFd odd = std::move(*linuxOs().memfdCreate(name, 0));
        ASSERT_TRUE(linuxOs().truncate(odd.get(), size));
        EXPECT_FALSE(backend_->identify(std::move(odd))) << size;
    }
}

TEST_F(SoftBackendTest, DevicesHaveAccountsOfTheirOwn) {
    start({.deviceCount = 2});
    const auto memory = create(page);
    EXPECT_EQ(backend_->devices()[0]->freeBytes(), deviceBytes - page);
    EXPECT_EQ(backend_->devices()[1]->freeBytes(), deviceBytes);
}

TEST_F(SoftBackendTest, AccountOfAFileLivesAsLongAsTheFile) {
    auto memory = create(page);
    auto backing = memory->backing();
    memory.reset();
    EXPECT_EQ(usedBytes(), page);
    backing.reset();
    EXPECT_EQ(usedBytes(), 0U);
}

} // namespace
} // namespace causeway::kmd::soft
