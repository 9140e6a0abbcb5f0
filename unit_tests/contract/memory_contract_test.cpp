#include "unit_tests/contract/contract_test.h"

namespace causeway::contract {
namespace {

class MemoryContractTest : public ContractTest {};

TEST_P(MemoryContractTest, ObjectTellsWhatItIs) {
    const auto memory = create(3 * page);
    EXPECT_EQ(memory->sizeBytes(), 3 * page);
    EXPECT_EQ(memory->placement(), Placement::Device);
    EXPECT_EQ(&memory->device(), &device());
    EXPECT_EQ(memory->backing()->kind(), ObjectKind::Memfd);
    EXPECT_GE(memory->backing()->sizeBytes(), memory->backingOffset() + 3 * page);
    EXPECT_EQ(create(page, Placement::Host)->placement(), Placement::Host);
}

TEST_P(MemoryContractTest, PageRulesArePowersOfTwoAndHostIsNotCoarser) {
    const auto onDevice = device().pageRules(Placement::Device);
    const auto onHost = device().pageRules(Placement::Host);
    for (const auto &rules : {onDevice, onHost}) {
        for (const uint64_t size :
             {rules.granularity, rules.preferredSmall, rules.preferredLarge}) {
            EXPECT_EQ(size & (size - 1), 0U);
        }
        EXPECT_GE(rules.preferredSmall, rules.granularity);
        EXPECT_GE(rules.preferredLarge, rules.preferredSmall);
        EXPECT_EQ(rules.largeFrom, largePage);
    }
    EXPECT_LE(onHost.granularity, onDevice.granularity);
}

TEST_P(MemoryContractTest, ObjectsBeginAtMultiplesOfTheirPage) {
    const auto small = create(page);
    const auto large = create(largePage + page);
    const auto host = create(device().pageRules(Placement::Host).granularity, Placement::Host);
    EXPECT_EQ(small->backingOffset() % page, 0U);
    EXPECT_EQ(large->backingOffset() % largePage, 0U);
    EXPECT_EQ(host->backingOffset() % device().pageRules(Placement::Host).granularity, 0U);
}

TEST_P(MemoryContractTest, FreeBytesFollowCreationAndDestruction) {
    EXPECT_EQ(device().freeBytes(), deviceBytes);
    auto first = create(page);
    auto second = create(largePage);
    EXPECT_EQ(device().freeBytes(), deviceBytes - page - largePage);
    first.reset();
    EXPECT_EQ(device().freeBytes(), deviceBytes - largePage);
    second.reset();
    EXPECT_EQ(device().freeBytes(), deviceBytes);
}

TEST_P(MemoryContractTest, HostMemoryIsNotTheDevices) {
    const auto memory = create(largePage, Placement::Host);
    EXPECT_EQ(device().freeBytes(), deviceBytes);
}

TEST_P(MemoryContractTest, CreationBeyondTheDeviceIsRefusedUntilMemoryComesBack) {
    auto most = create(deviceBytes - page);
    const auto refused =
        pool_->create(device(), {.placement = Placement::Device, .sizeBytes = 2 * page});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, Status::OutOfDeviceMemory);
    EXPECT_FALSE(refused.error().message.empty());
    EXPECT_EQ(device().freeBytes(), page);
    most.reset();
    EXPECT_NE(create(2 * page), nullptr);
}

TEST_P(MemoryContractTest, FailedCreationLeavesNothing) {
    for (const Placement placement : {Placement::Device, Placement::Host}) {
        failEach(
            [&] {
                return pool_->create(device(), {.placement = placement, .sizeBytes = largePage});
            },
            [&](Result<std::shared_ptr<kmd::Memory>> memory) {
                if (memory) {
                    memory->reset();
                }
                EXPECT_EQ(device().freeBytes(), deviceBytes);
            });
    }
}

TEST_P(MemoryContractTest, NewMemoryIsZeroedAlsoWhereOldMemoryWas) {
    SKIP_WITHOUT_BYTES();
    const uint64_t va = reserve(largePage);
    for (int round = 0; round < 3; ++round) {
        const auto memory = create(largePage);
        bind(va, *memory);
        EXPECT_TRUE(holds(va, largePage, 0));
        fill(va, largePage, 0x5A);
        ASSERT_TRUE(space_->unbind(va, largePage));
    }
}

TEST_P(MemoryContractTest, ObjectsDoNotShareBytes) {
    SKIP_WITHOUT_BYTES();
    constexpr uint8_t count = 40;
    std::vector<std::shared_ptr<kmd::Memory>> objects;
    std::vector<uint64_t> addresses;
    for (uint8_t i = 0; i < count; ++i) {
        const uint64_t sizeBytes = i % 7 == 6 ? largePage : (1 + i % 5) * page;
        objects.push_back(create(sizeBytes, i % 3 == 0 ? Placement::Host : Placement::Device));
        addresses.push_back(reserve(sizeBytes));
        bind(addresses.back(), *objects.back());
        fill(addresses.back(), sizeBytes, i);
        if (i % 4 == 3) { // a hole for later ones
            ASSERT_TRUE(space_->unbind(addresses[i - 2U], objects[i - 2U]->sizeBytes()));
            objects[i - 2U].reset();
        }
    }
    for (uint8_t i = 0; i < count; ++i) {
        EXPECT_TRUE(objects[i] == nullptr || holds(addresses[i], objects[i]->sizeBytes(), i)) << i;
    }
}

TEST_P(MemoryContractTest, MemoryOutlivesItsPool) {
    auto memory = create(page);
    auto backing = memory->backing();
    pool_.reset();
    backend_->reclaim();
    memory.reset();
    backing.reset();
    EXPECT_EQ(device().freeBytes(), deviceBytes);
}

INSTANTIATE_TEST_SUITE_P(Backends,
                         MemoryContractTest,
                         ::testing::ValuesIn(backendCases()),
                         caseName);

} // namespace
} // namespace causeway::contract
