#include "unit_tests/black_box/command_calls.h"
#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/black_box/server_names.h"
#include "unit_tests/black_box/usm_kinds.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>

/// What a child that is forked, and not executed anew, may do with the driver of its parent:
/// nothing, until it starts one of its own. Its end changes nothing for the parent.
namespace causeway::black_box {
namespace {

constexpr size_t copySize = size_t{8} << 20; // large enough to be shared out to several threads

/// Runs `body`, which answers whether all was right, in a forked child. One that hangs is killed.
[[nodiscard]] pid_t startFork(const std::function<bool()> &body) {
    const pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    alarm(static_cast<unsigned>(defaultWait().count() / 1000) + 1);
    try {
        _exit(body() ? 0 : 1);
    } catch (const HarnessError &error) {
        std::fprintf(stderr, "in the forked child: %s\n", error.what());
        _exit(2);
    }
}

void expectRight(pid_t pid) {
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
}

bool copiesInOwnContext() {
    const Context context;
    auto *const list = createImmediate(context.get());
    auto *const src = allocate(context.get(), Kind::Device, copySize);
    auto *const dst = allocate(context.get(), Kind::Host, copySize);
    for (int round = 1; round <= 10; ++round) {
        std::memset(src, round, copySize);
        appendCopy(list, dst, src, copySize);
        require(commandListHostSynchronize(list, longTimeout()), "zeCommandListHostSynchronize");
        if (std::memcmp(src, dst, copySize) != 0) {
            return false;
        }
    }
    return true;
}

bool shows(const Range &range, const std::byte *base) {
    Checksum sum;
    sum.add(base, range.size());
    return sum.value() == range.checksum();
}

bool sharesInOwnContext() {
    const Context context;
    const Range range(context.get(), manyPieces(3));
    const auto handle = range.exportWhole();
    const View view(context.get(), handle);
    const bool isRight = shows(range, view.base());
    require(putIpcHandle(context.get(), handle), "zeMemPutIpcHandle");
    return isRight;
}

class ForkTest : public IpcTest {};

TEST_F(ForkTest, HandlesOfTheParentMeanNothingInAChild_Forks) {
    const Range range(context(), manyPieces(2));
    const auto handle = range.exportWhole();
    auto *const parents = driver().handle;
    expectRight(startFork([&] {
        uint32_t count = 0;
        ze_driver_handle_t none = nullptr;
        ze_driver_properties_t properties = {};
        void *opened = nullptr;
        return zeDriverGet(&count, &none) == ZE_RESULT_ERROR_UNINITIALIZED &&
               zeDriverGetProperties(parents, &properties) == ZE_RESULT_ERROR_UNINITIALIZED &&
               exportResult(context(), range.base(), range.size()) ==
                   ZE_RESULT_ERROR_UNINITIALIZED &&
               zeMemOpenIpcHandle(context(), firstDevice(), handle, 0, &opened) ==
                   ZE_RESULT_ERROR_UNINITIALIZED &&
               zeContextDestroy(context()) == ZE_RESULT_ERROR_UNINITIALIZED;
    }));
}

TEST_F(ForkTest, MemoryThatWasMappedBeforeStaysReadable_Forks) {
    const Range range(context(), manyPieces(3));
    Peer exporter;
    const auto base = exporter.buildRange(2, chunk, 7);
    const View view(context(), exporter.exportRange(base, 2 * chunk));
    expectRight(startFork(
        [&] { return shows(range, range.base()) && loadWord(view.base()) == patternWord(7, 0); }));
}

TEST_F(ForkTest, AChildStartsTheDriverAfresh_Forks) {
    ASSERT_TRUE(copiesInOwnContext()); // the parent's driver has all its threads by now
    for (int child = 0; child < 3; ++child) {
        expectRight(startFork([] {
            restartDriver();
            return copiesInOwnContext() && sharesInOwnContext();
        }));
    }
}

TEST_F(ForkTest, AChildOfAChildDoesSoToo_Forks) {
    expectRight(startFork([] {
        restartDriver();
        const bool first = sharesInOwnContext();
        int status = -1;
        const pid_t pid = startFork([] {
            restartDriver();
            return sharesInOwnContext();
        });
        return first && waitpid(pid, &status, 0) == pid && status == 0;
    }));
}

TEST_F(ForkTest, ParentAndChildOpenWhatTheOtherShares_Forks) {
    const Range range(context(), manyPieces(3));
    const auto fromParent = range.exportWhole();
    std::array<int, 2> toParent = {};
    std::array<int, 2> toChild = {};
    ASSERT_EQ(pipe(toParent.data()), 0);
    ASSERT_EQ(pipe(toChild.data()), 0);
    const std::array<Descriptor, 4> closed = {Descriptor(toParent[0]),
                                              Descriptor(toParent[1]),
                                              Descriptor(toChild[0]),
                                              Descriptor(toChild[1])};
    const pid_t child = startFork([&] {
        restartDriver();
        const Context own;
        const View view(own.get(), fromParent);
        const Range mine(own.get(), manyPieces(5), {.firstObject = 1000});
        const auto handle = mine.exportWhole();
        char go = 0;
        return shows(range, view.base()) &&
               write(toParent[1], &handle, sizeof(handle)) == sizeof(handle) &&
               read(toChild[0], &go, 1) == 1;
    });
    ze_ipc_mem_handle_t fromChild = {};
    ASSERT_EQ(readAll(toParent[0], std::as_writable_bytes(std::span(&fromChild, 1)), Deadline()),
              ReadStatus::Complete);
    {
        const View view(context(), fromChild);
        EXPECT_EQ(loadWord(view.base()), patternWord(1000, 0));
    }
    EXPECT_EQ(write(toChild[1], "g", 1), 1);
    expectRight(child);
    Peer importer; // the child's end has not taken the parent's server along
    EXPECT_NE(importer.open(fromParent), 0U);
}

/// Forks fall into every part of an export and an open, whose locks the children inherit.
TEST_F(ForkTest, ForksWhileOtherThreadsShareAndOpen_Forks) {
    const Range range(context(), manyPieces(40));
    Peer exporter;
    const auto base = exporter.buildRange(300, chunk, 0); // several batches
    const auto remote = exporter.exportRange(base, 300 * chunk);
    std::atomic<bool> done = false;
    std::atomic<int> failures = 0;
    const auto loop = [&](auto step) {
        return std::jthread([&, step] {
            while (!done) {
                failures += step() ? 0 : 1;
            }
        });
    };
    {
        const auto shares = loop([&] {
            ze_ipc_mem_handle_t handle = {};
            return tryExport(context(), range.base(), range.size(), &handle) == ZE_RESULT_SUCCESS &&
                   putIpcHandle(context(), handle) == ZE_RESULT_SUCCESS;
        });
        const auto opens = loop([&] { return openResult(context(), remote) == ZE_RESULT_SUCCESS; });
        for (int child = 0; child < 40; ++child) {
            expectRight(startFork([] {
                restartDriver();
                return sharesInOwnContext();
            }));
        }
        done = true;
    }
    EXPECT_EQ(failures, 0);
}

/// The listener of a dead exporter that a child of it holds would take connections and answer none.
TEST_F(ForkTest, AChildThatOutlivesAnExporterKeepsNoSocketOfIt_Forks) {
    const DescriptorChannel channel;
    Peer exporter(
        {.environment = {"CAUSEWAY_IPC_TIMEOUT_MS=60000"}, .socket = channel.there.get()});
    const auto base = exporter.buildRange(2, chunk, 0);
    const auto handle = exporter.exportRange(base, 2 * chunk);
    const auto sockets = socketsOfServer(handle);
    ASSERT_EQ(sockets, 2U); // the listener, and the rendezvous
    exporter.demand({.command = Command::ForkSleeper});
    exporter.kill();

    EXPECT_TRUE(eventually([&] { return socketsOfServer(handle) == 0; }));
    EXPECT_EQ(openResult(context(), handle), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

} // namespace
} // namespace causeway::black_box
