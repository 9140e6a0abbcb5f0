#include "source/kmd/published_file.h"

#include "shared/os/linux_os.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/memory/result_checks.h"

#include <unistd.h>

#include <cerrno>

namespace causeway::kmd {
namespace {

class PublishedFileTest : public fakes::ResourceCheckedTest {
  protected:
    [[nodiscard]] std::shared_ptr<PublishedFile> publish(
        PublishUntil until = PublishUntil::NobodyHoldsIt) {
        return publisher_.publish(os_, file_.get(), until);
    }

    [[nodiscard]] static bool isOpen(int number) { return linuxOs().fileInfo(number).has_value(); }

    fakes::FaultyOs os_{linuxOs()};
    const UniqueFd file_ = std::move(linuxOs().memfdCreate("causeway-test", 0).value());
    FilePublisher publisher_;
};

TEST_F(PublishedFileTest, AllWhoHoldItHaveTheSameNumberOfTheSameFile) {
    const auto first = publish();
    const auto second = publish();
    const auto number = must(first->number());
    EXPECT_EQ(must(second->number()).fd, number.fd);
    EXPECT_EQ(must(first->number()).fd, number.fd);
    EXPECT_NE(number.fd, file_.get());
    EXPECT_EQ(number.file.inode, linuxOs().fileInfo(file_.get())->inode);
    EXPECT_EQ(linuxOs().fileInfo(number.fd)->inode, number.file.inode);
}

TEST_F(PublishedFileTest, ClosesWhenNobodyHoldsIt) {
    auto held = publish();
    const int number = must(held->number()).fd;
    held.reset();
    EXPECT_FALSE(isOpen(number));
}

TEST_F(PublishedFileTest, StaysOpenAsLongAsTheMemoryWhereItWasPromised) {
    int number = -1;
    {
        FilePublisher publisher;
        number = must(publisher.publish(os_, file_.get(), PublishUntil::MemoryIsGone)->number()).fd;
        EXPECT_TRUE(isOpen(number));
        const auto held = publisher.publish(os_, file_.get(), PublishUntil::NobodyHoldsIt);
        EXPECT_EQ(must(held->number()).fd, number);
    }
    EXPECT_FALSE(isOpen(number));
}

TEST_F(PublishedFileTest, ReplacesWhatAnApplicationClosed) {
    const auto held = publish();
    const int closed = must(held->number()).fd;
    const UniqueFd stranger = std::move(linuxOs().memfdCreate("causeway-stranger", 0).value());
    ASSERT_EQ(::dup2(stranger.get(), closed), closed);
    const UniqueFd owner(closed);
    const auto number = must(held->number());
    EXPECT_NE(number.fd, closed);
    EXPECT_EQ(linuxOs().fileInfo(number.fd)->inode, number.file.inode);
    EXPECT_TRUE(isOpen(closed));
}

TEST_F(PublishedFileTest, AReplacementMayHaveTheClosedNumber) {
    const auto held = publish();
    const int closed = must(held->number()).fd;
    ::close(closed);
    EXPECT_EQ(must(held->number()).fd, closed);
    EXPECT_TRUE(isOpen(closed));
}

TEST_F(PublishedFileTest, AShortageIsTriedAgainTheNextTime) {
    const auto held = publish();
    for (uint64_t k = 1; k <= 2; ++k) {
        os_.failAt(k, EMFILE);
        EXPECT_TRUE(failsWith(held->number(), Status::OutOfHostMemory));
        os_.heal();
    }
    EXPECT_TRUE(succeeds(held->number()));
}

} // namespace
} // namespace causeway::kmd
