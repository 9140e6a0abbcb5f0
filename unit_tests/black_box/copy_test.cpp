#include "unit_tests/black_box/copy_fixture.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

namespace causeway::black_box {

INSTANTIATE_TEST_SUITE_P(Ways,
                         CopyTest,
                         testing::Values(Way::Queue, Way::Asynchronous, Way::Synchronous),
                         wayName);

namespace {

constexpr size_t mebibyte = size_t{1} << 20;

void expectAsModelled(const std::vector<Block> &blocks) {
    for (const Block &block : blocks) {
        block.expectAsModelled();
    }
}

/// Mostly small, now and then all that fits.
size_t randomSize(Random &random, size_t most) {
    constexpr std::array<size_t, 4> bounds = {64, 300, 9000, SIZE_MAX};
    return numberIn(random, 0, std::min(most, bounds.at(numberIn(random, 0, 3))));
}

} // namespace

/// Copies and fills between, and within, memory of every kind.
class EveryKindTest : public CopyTest {
  protected:
    static constexpr size_t bytes = 3 * chunk + 123;

    void addOwn(void *stack, size_t stackSize) {
        add("malloc", heap_.data(), heap_.size());
        add("stack", stack, stackSize);
        for (const Kind kind : {Kind::Device, Kind::Host, Kind::Shared}) {
            add(nameOf(kind), allocate(kind, bytes), bytes);
        }
    }

    void add(std::string name, void *base, size_t size) {
        blocks_.emplace_back(std::move(name), base, size, random_);
    }

    void appendCopyOfAny() {
        Block &dst = anyBlock();
        const Block &src = anyBlock();
        const size_t size = randomSize(random_, std::min(dst.size(), src.size()));
        const size_t to = numberIn(random_, 0, dst.size() - size);
        const size_t from = numberIn(random_, 0, src.size() - size);
        copy(dst, to, src, from, size);
    }

    void appendFillOfAny() {
        Block &dst = anyBlock();
        const auto pattern = randomPattern(size_t{1} << numberIn(random_, 0, 7));
        const size_t size = randomSize(random_, dst.size()) / pattern.size() * pattern.size();
        fill(dst, numberIn(random_, 0, dst.size() - size), pattern, size);
    }

    void appendAny() { numberIn(random_, 0, 4) == 0 ? appendFillOfAny() : appendCopyOfAny(); }

    Block &anyBlock() { return blocks_[numberIn(random_, 0, blocks_.size() - 1)]; }

    std::vector<std::byte> heap_ = std::vector<std::byte>(bytes);
    std::vector<Block> blocks_;
};

INSTANTIATE_TEST_SUITE_P(Ways,
                         EveryKindTest,
                         testing::Values(Way::Queue, Way::Asynchronous, Way::Synchronous),
                         wayName);

TEST_P(EveryKindTest, ARandomRunLeavesWhatAByteModelDoes) {
    const auto seed = 100 + static_cast<uint64_t>(GetParam());
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    random_.seed(seed);
    std::array<std::byte, 30001> stack = {};
    addOwn(stack.data(), stack.size());

    const Range range(context(),
                      {Piece::of(chunk),
                       Piece::of(chunk).onHost(),
                       Piece::window(3 * chunk, chunk, chunk),
                       Piece::of(2 * chunk)});
    add("mapped range", range.base(), range.size());

    // In another process: a range of four objects, and a fifth one that is shared by itself.
    Peer peer;
    const uint64_t there = peer.buildRange(5, chunk, 500);
    const View rangeOfPeer(context(), peer.exportRange(there, 4 * chunk));
    const View objectOfPeer(context(), peer.exportObject(there + 4 * chunk));
    add("a peer's range", rangeOfPeer.base(), 4 * chunk);
    add("a peer's object", objectOfPeer.base(), chunk);

    ze_ipc_mem_handle_t handle = {};
    const auto *const exported = allocate(Kind::Device, bytes);
    require(zeMemGetIpcHandle(context(), exported, &handle), "zeMemGetIpcHandle");
    const View opened(context(), handle);
    add("an opened allocation", opened.base(), bytes);

    for (int round = 0; round < 200 && !HasFailure(); ++round) {
        for (int i = 0; i < 10; ++i) {
            appendAny();
        }
        run();
        expectAsModelled(blocks_);
    }

    const auto &alias = blocks_.back().model();
    EXPECT_TRUE(std::equal(alias.begin(), alias.end(), exported)) << "at the exporter's address";
    for (const auto &[address, block] :
         {std::pair{there, &blocks_.at(6)}, std::pair{there + 4 * chunk, &blocks_.at(7)}}) {
        EXPECT_EQ(peer.checksum(address, block->size()),
                  checksumOf(block->model().data(), block->size()))
            << block->name() << ", as the peer sees it";
    }
}

TEST_P(CopyTest, AnySizeAtAnyAlignment) {
    constexpr size_t most = 100'000;
    Block dst = allocatedBlock(Kind::Device, most + 64);
    const Block src = allocatedBlock(Kind::Host, most + 64);
    for (size_t size = 1; size <= most && !HasFailure(); size += 1 + size / 9) {
        for (const size_t odd : std::initializer_list<size_t>{0, 1, 7, 33}) {
            copy(dst, odd, src, size % 32, size);
            run();
            dst.expectAsModelled();
        }
    }
    src.expectAsModelled();
}

TEST_P(CopyTest, OverlappingSidesAreAsIfAllWereReadFirst) {
    Block block = allocatedBlock(Kind::Shared, 6 * mebibyte);
    constexpr size_t size = 5 * mebibyte;
    for (const size_t shift : {size_t{1}, size_t{8}, size_t{4096}, mebibyte - 100}) {
        copy(block, shift, block, 0, size);
        copy(block, 3, block, shift + 3, size);
        copy(block, shift, block, shift, size);
        run();
        block.expectAsModelled();
    }
}

TEST_P(CopyTest, NothingIsCopiedOfNoBytes) {
    Block block = allocatedBlock(Kind::Device, 4096);
    copy(block, 5, block, 100, 0);
    EXPECT_EQ(fillResult(block.at(7), "abcd", 4, 0), ZE_RESULT_SUCCESS);
    run();
    block.expectAsModelled();
}

TEST_P(CopyTest, LargeCopiesAreCompleteFromEndToEnd) {
    constexpr size_t size = 16 * mebibyte + 3 * smallPage + 7;
    Block device = allocatedBlock(Kind::Device, size + 100);
    std::vector<std::byte> heap(size + 100);
    const Block source("malloc", heap.data(), heap.size(), random_);
    copy(device, 13, source, 50, size);
    run();
    device.expectAsModelled();
    source.expectAsModelled();
}

TEST_P(CopyTest, LargeFillsAreCompleteFromEndToEnd) {
    Block block = allocatedBlock(Kind::Device, 17 * mebibyte);
    fill(block, 21, randomPattern(128), 16 * mebibyte + 128);
    run();
    block.expectAsModelled();
    fill(block, 3, randomPattern(1), 16 * mebibyte + 5);
    run();
    block.expectAsModelled();
}

TEST_P(CopyTest, FillsRepeatPatternsOfEverySize) {
    Block block = allocatedBlock(Kind::Device, 4 * smallPage);
    for (size_t patternSize = 1; patternSize <= 128; patternSize *= 2) {
        const auto pattern = randomPattern(patternSize);
        for (const size_t count : std::initializer_list<size_t>{1, 2, 3, 31}) {
            fill(block, numberIn(random_, 0, 1000), pattern, count * patternSize);
            run();
            block.expectAsModelled();
        }
    }
}

TEST_P(CopyTest, OtherPatternsAreRefusedAndNothingIsFilled) {
    const Block block = allocatedBlock(Kind::Device, smallPage);
    const auto pattern = randomPattern(512);
    const auto result = [&](size_t patternSize, size_t size) {
        return fillResult(block.at(0), pattern.data(), patternSize, size);
    };
    for (const size_t bad : std::initializer_list<size_t>{0, 3, 24, 127, 256, 512}) {
        EXPECT_EQ(result(bad, bad == 0 ? 8 : bad), ZE_RESULT_ERROR_INVALID_SIZE) << bad;
    }
    EXPECT_EQ(result(8, 20), ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_NE(lastErrorDescription(), "");
    EXPECT_EQ(result(128, 64), ZE_RESULT_ERROR_INVALID_SIZE);
    run();
    block.expectAsModelled();
    ze_command_queue_group_properties_t group = {};
    group.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    uint32_t count = 1;
    require(zeDeviceGetCommandQueueGroupProperties(firstDevice(), &count, &group),
            "zeDeviceGetCommandQueueGroupProperties");
    EXPECT_EQ(group.maxMemoryFillPatternSize, 128U);
}

TEST_P(CopyTest, ThePatternIsReadWhenTheCallIsMade) {
    Block block = allocatedBlock(Kind::Device, smallPage);
    auto pattern = randomPattern(16);
    fill(block, 0, pattern, smallPage);
    std::ranges::fill(pattern, std::byte{0});
    run();
    block.expectAsModelled();
}

TEST_P(CopyTest, MemoryThatDoesNotPermitItIsRefused) {
    const Block block = allocatedBlock(Kind::Device, 1000);
    const Range range(context(), {Piece::of(chunk), Piece::of(chunk).readOnly()});
    std::array<std::byte, 1000> local = {};
    const auto result = [&](void *dst, const void *src, size_t size) {
        return zeCommandListAppendMemoryCopy(list(), dst, src, size, nullptr, 0, nullptr);
    };
    EXPECT_EQ(result(block.at(1), local.data(), 1000), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(result(local.data(), block.at(999), 2), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(result(range.piece(1) - 1, local.data(), 2), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(lastErrorDescription(), "");
    run();
    block.expectAsModelled();
    EXPECT_EQ(checksumOf(range.base(), range.size()), range.checksum());
}

/// A source that belongs to another context.
class CopyFromContextTest : public CopyTest {
  protected:
    ze_result_t copyFrom(ze_context_handle_t source, void *dst, const void *src, size_t size) {
        return zeCommandListAppendMemoryCopyFromContext(
            list(), dst, source, src, size, nullptr, 0, nullptr);
    }
};

INSTANTIATE_TEST_SUITE_P(Ways,
                         CopyFromContextTest,
                         testing::Values(Way::Queue, Way::Asynchronous, Way::Synchronous),
                         wayName);

TEST_P(CopyFromContextTest, TheBytesArrive) {
    constexpr size_t size = chunk + 11;
    const Context other;
    const Block source(
        "of another context", black_box::allocate(other.get(), Kind::Device, size), size, random_);
    Block here = allocatedBlock(Kind::Device, size);
    EXPECT_EQ(copyFrom(other.get(), here.at(4), source.at(7), size - 9), ZE_RESULT_SUCCESS);
    here.modelCopy(4, source, 7, size - 9);
    run();
    here.expectAsModelled();
    source.expectAsModelled();
}

TEST_P(CopyFromContextTest, WithoutAContextItIsRefused) {
    const Block source = allocatedBlock(Kind::Host, 100);
    const Block here = allocatedBlock(Kind::Device, 100);
    EXPECT_EQ(copyFrom(nullptr, here.at(0), source.at(0), 100),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_NE(lastErrorDescription(), "");
    run();
    here.expectAsModelled();
}

TEST_P(CopyFromContextTest, TheSourceIsJudgedByItsContext) {
    const Context other;
    const Block source(
        "of another context", black_box::allocate(other.get(), Kind::Host, 100), 100, random_);
    const Block here = allocatedBlock(Kind::Device, 100);
    EXPECT_EQ(copyFrom(other.get(), here.at(0), source.at(50), 51),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(lastErrorDescription(), "");
    run();
    here.expectAsModelled();
}

TEST_P(CopyFromContextTest, ARecordedSourceOutlivesItsContext) {
    constexpr size_t size = 1000;
    auto other = std::make_unique<Context>();
    const Block source(
        "of another context", black_box::allocate(other->get(), Kind::Device, size), size, random_);
    Block here = allocatedBlock(Kind::Device, size);
    require(copyFrom(other->get(), here.at(0), source.at(0), size),
            "zeCommandListAppendMemoryCopyFromContext");
    here.modelCopy(0, source, 0, size);
    other.reset();
    run();
    here.expectAsModelled();
}

} // namespace causeway::black_box
