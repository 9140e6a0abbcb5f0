// Devices of one machine reach each other's memory. How many there are is read once in a
// process, so all of it happens in peers.

#include "unit_tests/black_box/ipc_fixture.h"

namespace causeway::black_box {

namespace {

constexpr uint64_t count = 3;
constexpr size_t size = count * chunk;
constexpr uint32_t onFirst = 1;
constexpr uint32_t onSecond = 2;
constexpr uint32_t inTurns = 3;

ChildOptions twoDevices() {
    return {.environment = {"CAUSEWAY_SOFT_DEVICES=2"}};
}

class TwoDevicesTest : public IpcTest {
  protected:
    static uint64_t build(Peer &peer, uint32_t devices, uint64_t firstObject) {
        return peer
            .demand({.command = Command::BuildRange,
                     .flags = devices,
                     .size = chunk,
                     .value = count,
                     .extra = firstObject})
            .address;
    }

    static void copy(Peer &peer, size_t device, uint64_t target, uint64_t source, size_t bytes) {
        peer.demand({.command = Command::Copy,
                     .address = target,
                     .size = bytes,
                     .value = device,
                     .extra = source});
    }

    static uint64_t open(Peer &peer, const ze_ipc_mem_handle_t &handle, size_t device) {
        const auto reply = peer.tryOpen(handle, 0, device);
        EXPECT_EQ(reply.result, ZE_RESULT_SUCCESS) << reply.text.data();
        const auto properties = peer.allocProperties(reply.address);
        EXPECT_EQ(properties.number, ZE_MEMORY_TYPE_DEVICE);
        EXPECT_EQ(properties.extra, device) << "the one it was opened for";
        return reply.address;
    }

    static bool hasObjects(Peer &peer, uint64_t address, uint64_t firstObject) {
        return peer.goodEnds(address, chunk, count, firstObject) == count;
    }
};

} // namespace

TEST_F(TwoDevicesTest, FieldCase66_RangeOfOneOpensOnTheOtherAndIsCopiedBothWays) {
    Peer exporter(twoDevices());
    Peer importer(twoDevices());
    for (const uint32_t owner : {onFirst, onSecond, inTurns}) {
        const uint64_t source = build(exporter, owner, 10);
        const auto handle = exporter.exportRange(source, size);
        for (size_t device = 0; device < 2; ++device) {
            exporter.fillRange(10);
            const uint64_t own = build(importer, onFirst << device, 20);
            const uint64_t view = open(importer, handle, device);
            copy(importer, device, own, view, size);
            EXPECT_TRUE(hasObjects(importer, own, 10)) << owner << device;
            importer.fillRange(30);
            copy(importer, 1 - device, view + 100, own + 100, size - 100); // across borders
            copy(importer, device, view, own, 100);
            EXPECT_TRUE(hasObjects(exporter, source, 30)) << owner << device;
            EXPECT_EQ(importer.close(view), ZE_RESULT_SUCCESS);
        }
        EXPECT_EQ(exporter.put(handle), ZE_RESULT_SUCCESS);
    }
}

TEST_F(TwoDevicesTest, ASingleObjectOpensOnTheOther) {
    Peer exporter(twoDevices());
    Peer importer(twoDevices());
    const uint64_t source = build(exporter, inTurns, 10);
    for (uint64_t i = 0; i < count; ++i) {
        const auto handle = exporter.exportObject(source + i * chunk);
        const uint64_t view = open(importer, handle, 1 - i % 2);
        EXPECT_EQ(importer.goodEnds(view, chunk, 1, 10 + i), 1U);
    }
}

// What is device 0 here is device 1 there; uuids decide.
TEST_F(TwoDevicesTest, FieldCase67_HiddenDevicesShiftNumbersAndNothingElse) {
    Peer exporter(twoDevices());
    Peer importer({.environment = {"CAUSEWAY_SOFT_DEVICES=2", "ZE_AFFINITY_MASK=1"}});
    EXPECT_EQ(importer.demand({.command = Command::DeviceUuids}).number, 1);
    for (const uint32_t owner : {onSecond, onFirst, inTurns}) {
        const uint64_t source = build(exporter, owner, 10);
        const uint64_t view = open(importer, exporter.exportRange(source, size), 0);
        EXPECT_TRUE(hasObjects(importer, view, 10)) << owner;
    }
}

TEST_F(TwoDevicesTest, FieldCase17_TheOtherDeviceNeedsTheMovedDescriptorNoMore) {
    const DescriptorChannel channel;
    ChildOptions options = twoDevices();
    options.socket = channel.there.get();
    const Range range(context(), manyPieces(1), {.firstObject = 10});
    ze_ipc_mem_handle_t handle = {};
    require(zeMemGetIpcHandle(context(), range.base(), &handle), "zeMemGetIpcHandle");
    Peer importer(options);
    const uint64_t own = build(importer, onSecond, 20);
    channel.send(descriptorOf(handle));
    const int moved = importer.receiveDescriptor();
    const uint64_t view = open(importer, withZeroRest(withDescriptor(handle, moved)), 0);
    importer.closeDescriptor(moved);
    copy(importer, 1, own, view, chunk);
    EXPECT_EQ(importer.goodEnds(own, chunk, 1, 10), 1U);
}

TEST_F(TwoDevicesTest, FieldCase33_WhatTheCapabilitiesPromiseOpens) {
    Peer exporter(twoDevices());
    Peer importer(twoDevices());
    for (size_t owner = 0; owner < 2; ++owner) {
        const auto handle = exporter.exportRange(build(exporter, onFirst << owner, 10), size);
        for (size_t device = 0; device < 2; ++device) {
            const auto promised = importer.demand(
                {.command = Command::Capabilities, .value = device, .extra = owner});
            EXPECT_NE(promised.value, 0U) << "the range extension";
            EXPECT_NE(promised.number & ZE_IPC_PROPERTY_FLAG_MEMORY, 0);
            EXPECT_EQ(promised.extra, 1U) << "access of " << device << " to " << owner;
            EXPECT_TRUE(hasObjects(importer, open(importer, handle, device), 10));
        }
        EXPECT_EQ(exporter.put(handle), ZE_RESULT_SUCCESS);
        const auto refused = importer.tryOpen(handle);
        EXPECT_NE(refused.result, ZE_RESULT_SUCCESS);
        EXPECT_STRNE(refused.text.data(), "");
    }
}

TEST_F(TwoDevicesTest, AnImportIsSharedAnewFromEitherDevice) {
    Peer first(twoDevices());
    Peer middle(twoDevices());
    Peer last(twoDevices());
    const uint64_t source = build(first, inTurns, 10);
    const auto handle = first.exportRange(source, size);
    for (size_t device = 0; device < 2; ++device) {
        const uint64_t view = open(middle, handle, device);
        const uint64_t end = open(last, middle.exportRange(view, size), 1 - device);
        EXPECT_TRUE(hasObjects(last, end, 10));
    }
}

} // namespace causeway::black_box
