#include "unit_tests/black_box/command_calls.h"
#include "unit_tests/black_box/usm_kinds.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace causeway::black_box {
namespace {

constexpr size_t size = size_t{8} << 20; // large enough to be shared out to several threads

/// Whether copies in a context of its own arrive, some of them.
bool copiesInOwnContext() {
    const Context context;
    auto *const list = createImmediate(context.get());
    auto *const src = allocate(context.get(), Kind::Device, size);
    auto *const dst = allocate(context.get(), Kind::Host, size);
    for (int round = 1; round <= 10; ++round) {
        std::memset(src, round, size);
        appendCopy(list, dst, src, size);
        require(commandListHostSynchronize(list, longTimeout()), "zeCommandListHostSynchronize");
        if (std::memcmp(src, dst, size) != 0) {
            return false;
        }
    }
    return true;
}

/// A child that hangs is killed.
int exitStatusOfChild() {
    const pid_t pid = fork();
    if (pid == 0) {
        alarm(static_cast<unsigned>(defaultWait().count() / 1000) + 1);
        try {
            _exit(copiesInOwnContext() ? 0 : 1);
        } catch (const HarnessError &) {
            _exit(2);
        }
    }
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return status;
}

TEST(ForkCopyTest, AForkedChildCopiesInAContextOfItsOwn_Forks) {
    ASSERT_TRUE(copiesInOwnContext()); // the driver has its threads by now
    for (int child = 0; child < 3; ++child) {
        EXPECT_EQ(exitStatusOfChild(), 0);
    }
}

} // namespace
} // namespace causeway::black_box
