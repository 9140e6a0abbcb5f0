// What LinuxOs adds to the system calls that it makes. What they do otherwise is the kernel's, and
// seen by every test above.

#include "shared/os/linux_os.h"

#include "unit_tests/fakes/file_size_limit.h"
#include "unit_tests/fakes/resource_check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

namespace causeway {
namespace {

constexpr uint64_t page = 4096;

/// Of this process: the names are those of the whole machine.
std::string socketName() {
    return "causeway-linux-os-test-" + std::to_string(::getpid());
}

class LinuxOsTest : public fakes::ResourceCheckedTest {
  protected:
    UniqueFd makeFile() {
        auto file = os_.memfdCreate("causeway-test", MFD_ALLOW_SEALING);
        EXPECT_TRUE(file);
        return std::move(*file);
    }

    LinuxOs os_;
};

// SIGXFSZ has its default action here: a call that let the kernel find out would end the test.
TEST_F(LinuxOsTest, FileSizeLimitIsAnErrorAndNotASignal) {
    const UniqueFd file = makeFile();
    const fakes::FileSizeLimit limit(page);
    const auto tooLong = os_.truncate(file.get(), page + 1);
    ASSERT_FALSE(tooLong);
    EXPECT_EQ(tooLong.error().value, EFBIG);
    ASSERT_TRUE(os_.truncate(file.get(), page));

    const std::array<std::byte, 16> bytes = {};
    for (const uint64_t offset : {page - 15, page, 4 * page}) {
        const auto written = os_.writeAt(file.get(), bytes, offset);
        ASSERT_FALSE(written) << offset;
        EXPECT_EQ(written.error().value, EFBIG) << offset;
    }
    EXPECT_EQ(os_.writeAt(file.get(), bytes, page - 16), 16U);
    EXPECT_EQ(os_.fileInfo(file.get())->sizeBytes, page) << "a refused write has grown the file";
}

TEST_F(LinuxOsTest, DescriptorsAreClosedOnExec) {
    std::vector<UniqueFd> made;
    made.push_back(makeFile());
    made.push_back(std::move(*os_.duplicate(made[0].get())));
    made.push_back(std::move(*os_.reopen(made[0].get(), O_RDONLY)));
    made.push_back(std::move(*os_.epollCreate()));
    made.push_back(std::move(*os_.eventCreate()));
    made.push_back(std::move(*os_.openProcess(os_.processId())));
    made.push_back(std::move(*os_.listenAbstract(socketName(), 1)));
    made.push_back(std::move(*os_.connectAbstract(socketName(), std::chrono::milliseconds(1000))));
    made.push_back(std::move(*os_.accept(made[6].get())));
    ASSERT_TRUE(
        os_.sendMessage(made[7].get(), std::array{std::byte{1}}, std::array{made[0].get()}));
    std::array<std::byte, 8> bytes = {};
    auto received = os_.receiveMessage(made[8].get(), bytes, 1);
    ASSERT_TRUE(received);
    ASSERT_EQ(received->fds.size(), 1U);
    made.push_back(std::move(received->fds[0]));
    for (const UniqueFd &fd : made) {
        EXPECT_EQ(::fcntl(fd.get(), F_GETFD), FD_CLOEXEC) << *os_.fileName(fd.get());
    }
}

TEST_F(LinuxOsTest, PeerThatHasGoneIsAnErrorAndNotASignal) {
    const UniqueFd listener = std::move(*os_.listenAbstract(socketName(), 1));
    const UniqueFd client =
        std::move(*os_.connectAbstract(socketName(), std::chrono::milliseconds(1000)));
    (void)os_.accept(listener.get()); // and closed
    const auto sent = os_.sendMessage(client.get(), std::array{std::byte{1}}, {});
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().value, EPIPE);
}

TEST_F(LinuxOsTest, LockIsSeenByOtherOpenFileDescriptionsOnly) {
    const UniqueFd file = makeFile();
    ASSERT_TRUE(os_.truncate(file.get(), 4 * page));
    {
        const UniqueFd lease = std::move(*os_.reopen(file.get(), O_RDWR));
        ASSERT_TRUE(os_.lockForReading(lease.get(), page, page));
        EXPECT_EQ(os_.isLockedByOthers(file.get(), page, page), true);
        EXPECT_EQ(os_.isLockedByOthers(file.get(), 0, page), false);
        EXPECT_EQ(os_.isLockedByOthers(file.get(), 2 * page, page), false);
        EXPECT_EQ(os_.isLockedByOthers(lease.get(), page, page), false);
    }
    EXPECT_EQ(os_.isLockedByOthers(file.get(), page, page), false);
}

// Sanitizers and the allocator map things of their own meanwhile: hence the margins.
TEST_F(LinuxOsTest, MapCountFollowsMappings) {
    constexpr uint64_t pages = 2000;
    constexpr uint64_t margin = 500;
    const uint64_t before = *os_.mapCount();
    EXPECT_GT(before, 1U);
    EXPECT_LT(before, *os_.mapCountLimit());
    const uint64_t address = *os_.reserveAddress(0, pages * page);
    // Every other page readable: no two neighbours can be one mapping.
    for (uint64_t i = 1; i < pages; i += 2) {
        ASSERT_TRUE(os_.protect(address + i * page, page, Protection::Read));
    }
    EXPECT_GE(*os_.mapCount(), before + pages - margin);
    ASSERT_TRUE(os_.unmap(address, pages * page));
    EXPECT_LE(*os_.mapCount(), before + margin);
}

TEST_F(LinuxOsTest, ConnectGivesUpInTimeWhereNobodyAccepts) {
    const UniqueFd listener = std::move(*os_.listenAbstract(socketName(), 0));
    const auto connect = [&] {
        return os_.connectAbstract(socketName(), std::chrono::milliseconds(50));
    };
    const auto first = connect(); // fills the queue of one
    ASSERT_TRUE(first);
    const auto second = connect();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().value, ETIMEDOUT);
}

TEST_F(LinuxOsTest, FutexWaitSleepsOnlyWhileTheWordHoldsWhatIsExpected) {
    const std::atomic<uint32_t> word{5};
    const auto other = os_.futexWait(word, 4, std::chrono::nanoseconds(-1));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().value, EAGAIN);
    const auto late = os_.futexWait(word, 5, std::chrono::milliseconds(1));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().value, ETIMEDOUT);
}

TEST_F(LinuxOsTest, FutexWakeWakesASleeperThatWouldWaitForEver) {
    std::atomic<uint32_t> word{0};
    std::thread waker([&] {
        word = 1;
        EXPECT_TRUE(os_.futexWake(word));
    });
    while (word == 0) {
        const auto slept = os_.futexWait(word, 0, std::chrono::nanoseconds(-1));
        EXPECT_TRUE(slept || slept.error().value == EAGAIN || slept.error().value == EINTR);
    }
    waker.join();
}

} // namespace
} // namespace causeway
