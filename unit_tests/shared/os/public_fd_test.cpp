#include "shared/os/public_fd.h"

#include "shared/os/linux_os.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace causeway {
namespace {

class PublicFdTest : public fakes::ResourceCheckedTest {
  protected:
    [[nodiscard]] PublicFd make() {
        UniqueFd fd = std::move(linuxOs().memfdCreate("causeway-test", 0).value());
        const FileInfo file = linuxOs().fileInfo(fd.get()).value();
        return {os_, std::move(fd), file};
    }

    /// As if the application had closed `number` and opened another file.
    [[nodiscard]] static UniqueFd replace(int number) {
        const UniqueFd other(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        EXPECT_EQ(::dup3(other.get(), number, O_CLOEXEC), number);
        return UniqueFd(number);
    }

    fakes::FaultyOs os_{linuxOs()};
};

TEST_F(PublicFdTest, ClosesWhatIsStillOurs) {
    {
        PublicFd fd = make();
        EXPECT_TRUE(fd.isStillOurs());
    }
    EXPECT_EQ(leftovers(), "");
}

TEST_F(PublicFdTest, NoneIsNotOurs) {
    EXPECT_FALSE(PublicFd().isStillOurs());
}

TEST_F(PublicFdTest, LeavesAnotherFileAlone) {
    UniqueFd stranger;
    {
        PublicFd fd = make();
        stranger = replace(fd.get());
        EXPECT_FALSE(fd.isStillOurs());
    }
    EXPECT_TRUE(linuxOs().fileInfo(stranger.get()));
}

// A client closes the number, and the driver's next descriptor of the same file has it again.
TEST_F(PublicFdTest, LeavesTheDriversOwnNextDescriptorAlone) {
    UniqueFd next;
    {
        PublicFd fd = make();
        const UniqueFd kept = std::move(linuxOs().duplicate(fd.get()).value());
        const int number = fd.get();
        ::close(number);
        next = std::move(linuxOs().duplicate(kept.get()).value());
        ASSERT_EQ(next.get(), number);
        EXPECT_FALSE(fd.isStillOurs());
    }
    EXPECT_TRUE(linuxOs().fileInfo(next.get()));
}

TEST_F(PublicFdTest, OfTwoWithOneNumberTheLaterHasIt) {
    PublicFd first = make();
    const UniqueFd kept = std::move(linuxOs().duplicate(first.get()).value());
    ::close(first.get());
    PublicFd second(os_, std::move(linuxOs().duplicate(kept.get()).value()), first.file());
    ASSERT_EQ(second.get(), first.get());
    EXPECT_FALSE(first.isStillOurs());
    EXPECT_TRUE(second.isStillOurs());
    first = std::move(second);
    EXPECT_TRUE(first.isStillOurs()) << "a claim moves along";
}

TEST_F(PublicFdTest, AssigningLetsGoOfTheOldOneInTheSameWay) {
    PublicFd fd = make();
    const UniqueFd stranger = replace(fd.get());
    fd = make();
    EXPECT_TRUE(fd.isStillOurs());
    EXPECT_NE(fd.get(), stranger.get());
    EXPECT_TRUE(linuxOs().fileInfo(stranger.get()));
    fd = make();
    fd = PublicFd();
    EXPECT_FALSE(fd.isStillOurs());
}

TEST_F(PublicFdTest, ANumberThatIsNoLongerOursIsForgotten) {
    PublicFd fd = make();
    const int number = fd.get();
    ::close(number);
    EXPECT_FALSE(fd.isStillOurs());
    const UniqueFd next = std::move(linuxOs().memfdCreate("causeway-test", 0).value());
    EXPECT_EQ(next.get(), number);
    EXPECT_FALSE(fd.isStillOurs());
}

TEST_F(PublicFdTest, AMovedFromOneOwnsNothing) {
    PublicFd first = make();
    const int number = first.get();
    PublicFd second = std::move(first);
    EXPECT_EQ(second.get(), number);
    EXPECT_TRUE(second.isStillOurs());
}

TEST_F(PublicFdTest, AKernelShortOfMemoryDoesNotMakeItAStranger) {
    PublicFd fd = make();
    os_.failKind(fakes::OsCall::FileInfo, ENOMEM);
    EXPECT_TRUE(fd.isStillOurs());
    os_.heal();
}

} // namespace
} // namespace causeway
