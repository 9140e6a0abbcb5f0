#include "unit_tests/black_box/ipc_fixture.h"

#include <fmt/core.h>

#include <cstring>
#include <set>
#include <string>

namespace causeway::black_box {

namespace {

/// Variables are read once in a process, so every test asks a child that has them.
class EnvironmentTest : public DriverTest {};

struct Uuids {
    int devices = 0;
    std::string bytes;
};

Uuids uuidsWith(const std::string &variable) {
    Peer peer({.environment = {variable}});
    const auto reply = peer.demand({.command = Command::DeviceUuids});
    return {reply.number, std::string(reply.handle.data, sizeof(reply.handle.data))};
}

constexpr size_t uuidSize = sizeof(ze_device_uuid_t);

} // namespace

TEST_F(EnvironmentTest, SoftDevicesAreAsManyAsAskedFor) {
    EXPECT_EQ(uuidsWith("CAUSEWAY_SOFT_DEVICES=3").devices, 3);
}

TEST_F(EnvironmentTest, SoftDevicesHaveDistinctUuids) {
    const auto uuids = uuidsWith("CAUSEWAY_SOFT_DEVICES=3");
    std::set<std::string> distinct = {std::string(uuidSize, '\0')};
    for (size_t i = 0; i < 3; ++i) {
        distinct.insert(uuids.bytes.substr(i * uuidSize, uuidSize));
    }
    EXPECT_EQ(distinct.size(), 4U) << "three, and none of them zero";
}

TEST_F(EnvironmentTest, UuidsAreTheSameInEveryProcess) {
    const auto first = uuidsWith("CAUSEWAY_SOFT_DEVICES=3");
    const auto second = uuidsWith("CAUSEWAY_SOFT_DEVICES=3");
    EXPECT_EQ(first.bytes, second.bytes);
    const auto fewer = uuidsWith("CAUSEWAY_SOFT_DEVICES=1");
    EXPECT_EQ(first.bytes.substr(0, uuidSize), fewer.bytes.substr(0, uuidSize));
}

TEST_F(EnvironmentTest, UnknownDeviceCountIsTheDefault) {
    EXPECT_EQ(uuidsWith("CAUSEWAY_SOFT_DEVICES=many").devices, 1);
    EXPECT_EQ(uuidsWith("CAUSEWAY_SOFT_DEVICES=-1").devices, 1);
}

TEST_F(EnvironmentTest, SoftMemoryIsTheDevicesSize) {
    Peer peer({.environment = {fmt::format("CAUSEWAY_SOFT_MEMORY={}", 32 * chunk)}});
    EXPECT_EQ(peer.demand({.command = Command::DeviceMemory}).value, 32 * chunk);
}

// Out of memory is said when an object is created, and a retry works after a release.
TEST_F(EnvironmentTest, FieldCase50_CreationBeyondSoftMemoryIsOutOfDeviceMemory) {
    Peer peer({.environment = {fmt::format("CAUSEWAY_SOFT_MEMORY={}", 32 * chunk)}});
    const Request fillUp = {.command = Command::CountObjects, .size = chunk, .value = 1000};
    for (int round = 0; round < 3; ++round) {
        const auto reply = peer.ask(fillUp);
        EXPECT_EQ(reply.result, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        EXPECT_STRNE(reply.text.data(), "");
        EXPECT_EQ(reply.value, 32U) << "objects were created; round " << round;
        const uint64_t base = peer.buildRange(32, chunk, 1); // each is written to
        EXPECT_EQ(peer.goodEnds(base, chunk, 32, 1), 32U);
        EXPECT_EQ(peer.ask(fillUp).value, 0U) << "beyond these";
        peer.destroyRange();
    }
}

TEST_F(EnvironmentTest, ObjectLargerThanSoftMemoryIsRefused) {
    Peer peer({.environment = {fmt::format("CAUSEWAY_SOFT_MEMORY={}", 32 * chunk)}});
    const auto reply = peer.ask({.command = Command::CountObjects, .size = 33 * chunk, .value = 1});
    EXPECT_EQ(reply.result, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}

TEST_F(EnvironmentTest, ObjectsBeyondTheDescriptorLimitAreCreated) {
    Peer peer({.descriptorLimit = 64});
    const auto reply = peer.ask({.command = Command::CountObjects, .size = chunk, .value = 1200});
    EXPECT_EQ(reply.result, ZE_RESULT_SUCCESS) << reply.text.data();
    EXPECT_EQ(reply.value, 1200U);
}

} // namespace causeway::black_box
