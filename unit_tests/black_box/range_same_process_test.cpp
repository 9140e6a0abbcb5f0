#include "unit_tests/black_box/ipc_fixture.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace causeway::black_box {

namespace {

/// Handles opened in the process that exported them.
class RangeSameProcessTest : public IpcTest {
  protected:
    static uint64_t checksumOfView(const View &view, const Range &range) {
        return checksumOf(view.base(), range.size());
    }
};

} // namespace

TEST_F(RangeSameProcessTest, FieldCase54_OpenInTheSameContextIsASecondAddress) {
    const Range range(context(), manyPieces(3));
    const View view(context(), range.exportWhole());
    EXPECT_NE(view.base(), range.base());
    EXPECT_EQ(checksumOfView(view, range), range.checksum());
    storeWord(view.base() + chunk, 1);
    EXPECT_EQ(loadWord(range.piece(1)), 1U);
}

TEST_F(RangeSameProcessTest, FieldCase54_OpenInAnotherContext) {
    const Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    const Context other;
    const View view(other.get(), handle);
    EXPECT_EQ(checksumOfView(view, range), range.checksum());
}

TEST_F(RangeSameProcessTest, FieldCase54_OpenInAnotherThread) {
    const Range range(context(), manyPieces(3));
    const auto handle = range.exportWhole();
    uint64_t sum = 0;
    std::jthread([&] { sum = checksumOfView(View(context(), handle), range); }).join();
    EXPECT_EQ(sum, range.checksum());
}

TEST_F(RangeSameProcessTest, UnalignedWindowIsByteExact) {
    const Range range(context(), {Piece::window(4 * chunk, chunk, 2 * chunk), Piece::of(chunk)});
    const View view(context(), range.exportWindow(33, 2 * chunk + 1));
    EXPECT_EQ(checksumOf(view.base(), 2 * chunk + 1), range.checksum(33, 2 * chunk + 1));
}

TEST_F(RangeSameProcessTest, OpenTakesNoDescriptor) {
    const Range range(context(), manyPieces(20));
    const auto handle = range.exportWhole();
    const auto before = openDescriptors();
    const View first(context(), handle);
    const View second(context(), handle);
    EXPECT_EQ(difference(before, openDescriptors()), "");
}

TEST_F(RangeSameProcessTest, FieldCase55_CloseLeavesTheOriginalUnharmed) {
    const Range range(context(), {Piece::of(chunk), Piece::of(chunk), Piece::again(0, 0, chunk)});
    for (int round = 0; round < 3; ++round) {
        const auto handle = range.exportWhole();
        View(context(), handle).close();
        EXPECT_EQ(checksumOf(range.base(), range.size()), range.checksum());
        storeWord(range.base(), patternWord(range.objectNumber(0), 0));
        EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    }
}

TEST_F(RangeSameProcessTest, ViewOutlivesTheOriginal) {
    const auto range = std::make_unique<Range>(context(), manyPieces(2));
    const auto handle = range->exportWhole();
    const View view(context(), handle);
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    range->freeReservations();
    range->destroyObjects();
    EXPECT_EQ(checksumOfView(view, *range), range->checksum());
}

TEST_F(RangeSameProcessTest, PutThenOpenFails) {
    const Range range(context(), manyPieces(2));
    const auto handle = range.exportWhole();
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    EXPECT_EQ(openResult(context(), handle), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(lastErrorDescription(), "");
}

TEST_F(RangeSameProcessTest, FieldCase76_ThreadsGetOpenCloseAndPut) {
    const Range range(context(), manyPieces(4));
    std::atomic<int> failures = 0;
    constexpr size_t most = 8;
    std::vector<std::jthread> threads;
    threads.reserve(most);
    for (size_t i = 0; i < most; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < 100; ++round) {
                ze_ipc_mem_handle_t handle = {};
                const size_t offset = i % 4 * chunk;
                const auto got = tryExport(context(), range.base() + offset, chunk, &handle);
                const auto opened = openResult(context(), handle);
                const auto put = putIpcHandle(context(), handle);
                failures += got == ZE_RESULT_SUCCESS && opened == ZE_RESULT_SUCCESS &&
                                    put == ZE_RESULT_SUCCESS
                                ? 0
                                : 1;
            }
        });
    }
    threads.clear();
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(checksumOf(range.base(), range.size()), range.checksum());
}

} // namespace causeway::black_box
