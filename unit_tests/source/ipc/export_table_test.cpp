#include "source/ipc/export_table.h"

#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/ipc/peer.h"
#include "unit_tests/source/ipc/test_backing.h"

#include <thread>

namespace causeway::ipc {
namespace {

/// An export of one page of an imaginary mapping.
std::shared_ptr<Export> exportOf(const void *owner,
                                 uint8_t tokenByte,
                                 uint64_t mappingId = 1,
                                 uint32_t flags = 0) {
    auto made = std::make_shared<Export>();
    made->key = {.owner = owner, .address = 0x10000, .windowBytes = 4096, .flags = flags};
    made->token.fill(tokenByte);
    made->snapshot = {.address = 0x10000, .windowBytes = 4096, .leadBytes = 0, .pieces = {}};
    made->snapshot.pieces.push_back(
        {.object = nullptr, .sizeBytes = 4096, .mappingId = mappingId, .origin = {}});
    return made;
}

class ExportTableTest : public fakes::ResourceCheckedTest {
  protected:
    ExportTable table_;
    const int owner_ = 0;
    const int otherOwner_ = 0;
};

TEST_F(ExportTableTest, FindsByToken) {
    const auto added = table_.add(exportOf(&owner_, 1));

    EXPECT_EQ(table_.find(added->token), added);
    EXPECT_EQ(table_.find(wire::Token{}), nullptr);
}

/// An export of one allocation.
std::shared_ptr<Export> objectExport(const void *owner,
                                     uint8_t tokenByte,
                                     uint64_t mappingId,
                                     uint64_t bytes) {
    auto made = exportOf(owner, tokenByte, mappingId);
    made->key.kind = wire::HandleKind::SingleDevice;
    made->key.mappingId = mappingId;
    made->key.windowBytes = bytes;
    made->snapshot.windowBytes = bytes;
    return made;
}

TEST_F(ExportTableTest, RevokingFindsTheOneAllocationAmongThoseThatWereAtItsAddress) {
    const auto older = table_.add(objectExport(&owner_, 1, 10, 4096));
    const auto revoked = table_.add(objectExport(&owner_, 2, 11, 8192));
    const auto newer = table_.add(objectExport(&owner_, 3, 12, 8192));
    table_.add(objectExport(&owner_, 2, 11, 8192)); // got twice

    table_.revokeObject(&owner_, 0x10000, 11);
    table_.revokeObject(&owner_, 0x10000, 13);
    table_.revokeObject(&otherOwner_, 0x10000, 12);

    EXPECT_EQ(table_.find(revoked->token), nullptr);
    EXPECT_EQ(table_.find(older->token), older);
    EXPECT_EQ(table_.find(newer->token), newer);
    EXPECT_EQ(table_.size(), 2U);
}

TEST_F(ExportTableTest, TheLastPutRemoves) {
    const auto added = table_.add(exportOf(&owner_, 1));
    ASSERT_EQ(table_.findSame(added->key, added->snapshot), added);
    ASSERT_EQ(table_.findSame(added->key, added->snapshot), added);

    table_.put(&owner_, added->token);
    table_.put(&owner_, added->token);
    EXPECT_EQ(table_.find(added->token), added);

    table_.put(&owner_, added->token);
    EXPECT_EQ(table_.find(added->token), nullptr);
    EXPECT_EQ(table_.size(), 0U);
}

TEST_F(ExportTableTest, NeverCountsBelowZero) {
    const auto added = table_.add(exportOf(&owner_, 1));
    for (int i = 0; i < 3; ++i) {
        table_.put(&owner_, added->token);
    }

    const auto again = table_.add(exportOf(&owner_, 1));
    table_.put(&owner_, again->token);

    EXPECT_EQ(table_.size(), 0U);
}

TEST_F(ExportTableTest, TheSameLayoutAddedTwiceIsCountedTwice) {
    const auto first = table_.add(exportOf(&owner_, 1));
    const auto second = table_.add(exportOf(&owner_, 2));

    EXPECT_EQ(second, first);
    EXPECT_EQ(table_.size(), 1U);
    table_.put(&owner_, first->token);
    EXPECT_EQ(table_.size(), 1U);
    table_.put(&owner_, first->token);
    EXPECT_EQ(table_.size(), 0U);
}

TEST_F(ExportTableTest, AChangedLayoutIsAnotherExport) {
    const auto before = table_.add(exportOf(&owner_, 1, 1));
    const auto changed = exportOf(&owner_, 2, 2);

    EXPECT_EQ(table_.findSame(changed->key, changed->snapshot), nullptr);
    EXPECT_EQ(table_.add(changed), changed);

    EXPECT_EQ(table_.find(before->token), before);
    EXPECT_EQ(table_.findSame(changed->key, changed->snapshot), changed);
}

TEST_F(ExportTableTest, PuttingTheOlderLayoutKeepsTheNewer) {
    const auto before = table_.add(exportOf(&owner_, 1, 1));
    const auto changed = table_.add(exportOf(&owner_, 2, 2));

    table_.put(&owner_, before->token);

    EXPECT_EQ(table_.find(before->token), nullptr);
    EXPECT_EQ(table_.findSame(changed->key, changed->snapshot), changed);
}

TEST_F(ExportTableTest, PuttingTheNewerLayoutKeepsTheOlder) {
    const auto before = table_.add(exportOf(&owner_, 1, 1));
    const auto changed = table_.add(exportOf(&owner_, 2, 2));

    table_.put(&owner_, changed->token);

    EXPECT_EQ(table_.find(before->token), before);
    EXPECT_EQ(table_.findSame(changed->key, changed->snapshot), nullptr);
    table_.put(&owner_, before->token);
    EXPECT_EQ(table_.size(), 0U);
}

TEST_F(ExportTableTest, OtherFlagsAreAnotherExport) {
    const auto plain = table_.add(exportOf(&owner_, 1, 1, 0));

    EXPECT_NE(table_.add(exportOf(&owner_, 2, 1, 1)), plain);
    EXPECT_EQ(table_.size(), 2U);
}

TEST_F(ExportTableTest, AnotherOwnersPutHasNoEffect) {
    const auto added = table_.add(exportOf(&owner_, 1));

    table_.put(&otherOwner_, added->token);
    table_.put(nullptr, added->token);

    EXPECT_EQ(table_.find(added->token), added);
}

TEST_F(ExportTableTest, AnUnknownPutHasNoEffect) {
    const auto added = table_.add(exportOf(&owner_, 1));

    table_.put(&owner_, wire::Token{});

    EXPECT_EQ(table_.find(added->token), added);
}

TEST_F(ExportTableTest, DroppingAnOwnerRemovesAllOfItsAndNothingElse) {
    const auto kept = table_.add(exportOf(&otherOwner_, 1));
    const auto first = table_.add(exportOf(&owner_, 2, 1));
    (void)table_.add(exportOf(&owner_, 3, 2));
    (void)table_.findSame(first->key, first->snapshot);

    table_.dropOwner(&owner_);

    EXPECT_EQ(table_.size(), 1U);
    EXPECT_EQ(table_.find(kept->token), kept);
    EXPECT_EQ(table_.findSame(first->key, first->snapshot), nullptr);
    EXPECT_EQ(table_.findSame(kept->key, kept->snapshot), kept);
}

TEST_F(ExportTableTest, ARemovedExportLivesOnWhereItIsInUse) {
    auto made = exportOf(&owner_, 1);
    made->handle =
        std::make_unique<TicketedHandle>(linuxOs(), wire::IpcHandle{.sizeBytes = 1}, true);
    const wire::Token token = made->token;
    (void)table_.add(std::move(made));
    ExportTable::Reference inUse = table_.find(token);

    table_.put(&owner_, token);

    EXPECT_TRUE(linuxOs().fileInfo(decoded(inUse->handle->bytes()).fd));
    inUse.reset();
    EXPECT_EQ(leftovers(), "");
}

TEST_F(ExportTableTest, ThreadsThatAddTheSameShareOne) {
    constexpr size_t threadCount = 4;
    constexpr int rounds = 200;
    std::vector<std::thread> threads;
    for (size_t i = 0; i < threadCount; ++i) {
        threads.emplace_back([this, i] {
            for (int round = 0; round < rounds; ++round) {
                auto fresh = exportOf(&owner_, static_cast<uint8_t>(i + 1));
                const ExportKey key = fresh->key;
                auto mine = table_.findSame(key, fresh->snapshot);
                if (mine == nullptr) {
                    mine = table_.add(std::move(fresh));
                }
                EXPECT_NE(table_.find(mine->token), nullptr);
                table_.put(&owner_, mine->token);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(table_.size(), 0U);
}

} // namespace
} // namespace causeway::ipc
