#include "unit_tests/contract/contract_test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

namespace causeway::contract {
namespace {

/// Export and import between two ends. One process plays both: what a peer receives is a duplicate
/// of the descriptor sent, here as there.
class SharingContractTest : public ContractTest {
  protected:
    [[nodiscard]] UniqueFd received(const kmd::Memory &memory) {
        const kmd::Extent extent = {.offset = memory.backingOffset(),
                                    .sizeBytes = memory.sizeBytes()};
        const auto sent = memory.backing()->exportDescriptor({&extent, 1});
        EXPECT_TRUE(sent) << sent.error().message;
        return std::move(*os_.duplicate(sent->get()));
    }

    /// As a peer does: the whole backing becomes one object, of which a window is bound.
    [[nodiscard]] Result<std::shared_ptr<kmd::Memory>> import(const kmd::Memory &memory) {
        return pool_->importObject(device(),
                                   received(memory),
                                   {.kind = memory.backing()->kind(),
                                    .placement = memory.placement(),
                                    .sizeBytes = memory.backing()->sizeBytes()});
    }

    void bindWindow(uint64_t va, const kmd::Memory &imported, const kmd::Memory &original) {
        const kmd::Binding binding = {.va = va,
                                      .memory = &imported,
                                      .offset = original.backingOffset(),
                                      .sizeBytes = original.sizeBytes()};
        const auto bound = space_->bind({&binding, 1});
        ASSERT_TRUE(bound) << bound.error().message;
    }

    void expectRefused(UniqueFd fd, const kmd::ImportInfo &info) {
        const auto imported = pool_->importObject(device(), std::move(fd), info);
        ASSERT_FALSE(imported);
        EXPECT_EQ(imported.error().status, Status::InvalidArgument) << imported.error().message;
        EXPECT_FALSE(imported.error().message.empty());
    }
};

TEST_P(SharingContractTest, ImportedObjectHasTheSameBytes) {
    const auto neighbour = create(page); // in a bank, the object begins elsewhere than the file
    const auto memory = create(2 * page);
    const uint64_t va = reserve(4 * page);
    bind(va, *memory);
    fill(va, 2 * page, 0x66);
    const auto imported = import(*memory);
    ASSERT_TRUE(imported) << imported.error().message;
    bindWindow(va + 2 * page, **imported, *memory);
    EXPECT_TRUE(holds(va + 2 * page, 2 * page, 0x66));
    fill(va + 3 * page, page, 0x67);
    EXPECT_TRUE(holds(va + page, page, 0x67));
}

TEST_P(SharingContractTest, ImportedMemoryIsNotCharged) {
    const auto memory = create(page);
    const auto imported = import(*memory);
    ASSERT_TRUE(imported);
    EXPECT_EQ(device().freeBytes(), deviceBytes - page);
    EXPECT_EQ((*imported)->placement(), memory->placement());
    EXPECT_EQ(&(*imported)->device(), &device());
}

TEST_P(SharingContractTest, ViewSurvivesTheDroppedDescriptorAndTheExporter) {
    auto memory = create(largePage);
    const uint64_t va = reserve(2 * largePage);
    bind(va, *memory);
    fill(va, largePage, 0x21);
    {
        const auto imported = import(*memory);
        ASSERT_TRUE(imported);
        bindWindow(va + largePage, **imported, *memory);
        (*imported)->dropDescriptor();
    }
    ASSERT_TRUE(space_->unbind(va, largePage));
    memory.reset();
    backend_->reclaim();
    const auto next = create(largePage); // must not get the pages that the view still shows
    bind(va, *next);
    fill(va, largePage, 0x99);
    EXPECT_TRUE(holds(va + largePage, largePage, 0x21));
}

TEST_P(SharingContractTest, MemoryComesBackOnceTheViewIsGone) {
    auto memory = create(largePage);
    const uint64_t va = reserve(largePage);
    {
        const auto imported = import(*memory);
        ASSERT_TRUE(imported);
        bindWindow(va, **imported, *memory);
    }
    memory.reset();
    ASSERT_TRUE(space_->unbind(va, largePage));
    backend_->reclaim();
    EXPECT_EQ(device().freeBytes(), deviceBytes);
}

TEST_P(SharingContractTest, DroppedDescriptorLeavesNothingToBindOrExport) {
    const auto memory = create(page);
    const auto imported = import(*memory);
    ASSERT_TRUE(imported);
    EXPECT_TRUE((*imported)->backing()->exportDescriptor({}));
    EXPECT_TRUE((*imported)->backing()->canTravel());
    (*imported)->dropDescriptor();
    EXPECT_FALSE((*imported)->backing()->canTravel());
    const kmd::Binding binding = {
        .va = reserve(page), .memory = imported->get(), .sizeBytes = page};
    const auto bound = space_->bind({&binding, 1});
    ASSERT_FALSE(bound);
    EXPECT_EQ(bound.error().status, Status::UnsupportedFeature);
    const auto sent = (*imported)->backing()->exportDescriptor({});
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().status, Status::UnsupportedFeature);
}

TEST_P(SharingContractTest, ImportedMemoryTravelsOnAndKeepsItsBytes) {
    auto memory = create(page);
    const uint64_t va = reserve(2 * page);
    bind(va, *memory);
    fill(va, page, 0x42);
    {
        const auto first = import(*memory);
        ASSERT_TRUE(first);
        const auto second = import(**first);
        ASSERT_TRUE(second);
        const auto sent = (*first)->backing()->exportDescriptor({});
        ASSERT_TRUE(sent && os_.fileInfo(sent->get())) << "sending closed its descriptor";
        (*first)->dropDescriptor();
        bindWindow(va + page, **second, *memory);
    }
    ASSERT_TRUE(space_->unbind(va, page));
    memory.reset();
    const auto next = create(page);
    bind(va, *next);
    fill(va, page, 0x99);
    EXPECT_TRUE(holds(va + page, page, 0x42));
}

TEST_P(SharingContractTest, OwnMemoryIsBoundAnewAfterDropDescriptor) {
    const auto memory = create(page);
    memory->dropDescriptor();
    bind(reserve(page), *memory);
}

TEST_P(SharingContractTest, FailedExportLeavesNothing) {
    const auto memory = create(page);
    const auto attempt = [&] {
        const kmd::Extent extent = {.offset = memory->backingOffset(), .sizeBytes = page};
        return memory->backing()->exportDescriptor({&extent, 1});
    };
    for (uint64_t k = 1; k <= 3; ++k) {
        GetParam().failAt(*backend_, os_, k);
        const auto sent = attempt();
        EXPECT_TRUE(sent || sent.error().status == Status::OutOfHostMemory);
    }
    GetParam().failAt(*backend_, os_, 0);
    EXPECT_TRUE(attempt());
}

TEST_P(SharingContractTest, FailedKindCheckLeavesNothing) {
    const auto memory = create(page);
    const UniqueFd file = received(*memory);
    failEach(
        [&] {
            UniqueFd sent(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
            return pool_->importObject(device(), std::move(sent), {.sizeBytes = page});
        },
        [](const Result<std::shared_ptr<kmd::Memory>> &) {});
}

TEST_P(SharingContractTest, FileSmallerThanPromisedIsRefused) {
    const auto memory = create(page);
    expectRefused(received(*memory), {.sizeBytes = memory->backing()->sizeBytes() + 1});
    expectRefused(received(*memory), {.sizeBytes = UINT64_MAX});
    expectRefused(received(*memory), {.sizeBytes = 0});
}

TEST_P(SharingContractTest, FileThatCanBeCutIsRefused) {
    for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE}) {
        auto file = os_.memfdCreate("causeway-test", MFD_ALLOW_SEALING);
        ASSERT_TRUE(file && os_.truncate(file->get(), page) && os_.addSeals(file->get(), seals));
        expectRefused(std::move(*file), {.sizeBytes = page});
    }
}

TEST_P(SharingContractTest, OtherKindsOfFilesAreRefused) {
    std::array<int, 2> ends = {};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    expectRefused(UniqueFd(ends[0]), {.sizeBytes = page});
    expectRefused(UniqueFd(ends[1]), {.kind = ObjectKind::DmaBuf, .sizeBytes = page});
    expectRefused(UniqueFd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), {.sizeBytes = 1});
    const auto memory = create(page);
    expectRefused(received(*memory), {.kind = ObjectKind::DmaBuf, .sizeBytes = page});
    expectRefused(UniqueFd(), {.sizeBytes = page});
}

TEST_P(SharingContractTest, SealedFileOfHugePagesIsRefused) {
    auto file = os_.memfdCreate("causeway-test", MFD_ALLOW_SEALING | MFD_HUGETLB);
    if (!file || !os_.truncate(file->get(), largePage)) {
        GTEST_SKIP() << "no hugetlbfs here";
    }
    ASSERT_TRUE(os_.addSeals(file->get(), F_SEAL_SHRINK | F_SEAL_GROW));
    expectRefused(std::move(*file), {.sizeBytes = page});
}

INSTANTIATE_TEST_SUITE_P(Backends,
                         SharingContractTest,
                         ::testing::ValuesIn(sharingCases()),
                         caseName);

} // namespace
} // namespace causeway::contract
