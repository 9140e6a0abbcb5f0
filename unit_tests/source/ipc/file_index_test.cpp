#include "source/ipc/file_index.h"

#include "unit_tests/source/memory/memory_fixture.h"

namespace causeway::ipc {
namespace {

class FileIndexTest : public memory::MemoryFixture {
  protected:
    FileIndex index_;
    int owner_ = 0;
    int other_ = 0;
};

TEST_F(FileIndexTest, FindsALivingObjectOfTheSameOwner) {
    const auto made = object(1);
    index_.add(&owner_, 7, made, 4096);
    const auto found = index_.find(&owner_, 7);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->object, made);
    EXPECT_EQ(found->address, 4096U);
    EXPECT_FALSE(index_.find(&other_, 7));
    EXPECT_FALSE(index_.find(&owner_, 8));
}

TEST_F(FileIndexTest, KeepsNoMemoryAlive) {
    index_.add(&owner_, 7, object(1), 0);
    EXPECT_EQ(backend_.fake().liveMemory(), 0U);
    EXPECT_FALSE(index_.find(&owner_, 7));
}

TEST_F(FileIndexTest, TheLastWordCounts) {
    const auto made = object(1);
    index_.add(&owner_, 7, object(1), 1);
    index_.add(&owner_, 7, made, 2);
    EXPECT_EQ(index_.find(&owner_, 7)->address, 2U);
    EXPECT_EQ(index_.size(), 1U);
}

TEST_F(FileIndexTest, ForgetsAnOwner) {
    const auto made = object(1);
    index_.add(&owner_, 7, made, 0);
    index_.add(&other_, 7, made, 0);
    index_.dropOwner(&owner_);
    EXPECT_FALSE(index_.find(&owner_, 7));
    EXPECT_TRUE(index_.find(&other_, 7));
}

TEST_F(FileIndexTest, DeadObjectsDoNotPileUp) {
    const auto living = object(1);
    index_.add(&owner_, 0, living, 0);
    for (uint64_t file = 1; file < 5000; ++file) {
        index_.add(&owner_, file, object(1), 0);
    }
    EXPECT_LE(index_.size(), 64U);
    EXPECT_TRUE(index_.find(&owner_, 0));
}

TEST_F(FileIndexTest, LivingObjectsAllStay) {
    std::vector<memory::PhysicalMemoryRef> living;
    for (uint64_t file = 0; file < 300; ++file) {
        living.push_back(object(1));
        index_.add(&owner_, file, living.back(), file);
    }
    for (uint64_t file = 0; file < 300; ++file) {
        EXPECT_EQ(index_.find(&owner_, file)->object, living[file]);
    }
}

} // namespace
} // namespace causeway::ipc
