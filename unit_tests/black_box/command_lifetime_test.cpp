#include "unit_tests/black_box/command_fixture.h"

#include <thread>

namespace causeway::black_box {

namespace {

/// What commands name may end before they do.
class CommandLifetimeTest : public CommandTest {
  protected:
    static constexpr size_t size = 2 * chunk;

    void SetUp() override {
        CommandTest::SetUp();
        start_ = event(0);
        done_ = event(1);
    }

    /// A copy that waits for start_ and signals done_.
    void appendWaiting(ze_command_list_handle_t list, void *dst, const void *src) {
        require(zeCommandListAppendMemoryCopy(list, dst, src, size, done_, 1, &start_),
                "zeCommandListAppendMemoryCopy");
    }

    [[nodiscard]] std::byte *filledAllocation(Kind kind = Kind::Device) const {
        auto *const memory = allocate(context(), kind, size);
        fillWhole(memory, size, 1);
        return memory;
    }

    void expectCopied(const std::vector<std::byte> &copy) {
        std::vector<std::byte> expected(size);
        fillWhole(expected.data(), size, 1);
        EXPECT_TRUE(copy == expected);
    }

    void expectGone(const std::byte *memory) {
        ze_memory_allocation_properties_t properties = {};
        properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
        require(zeMemGetAllocProperties(context(), memory, &properties, nullptr),
                "zeMemGetAllocProperties");
        EXPECT_EQ(properties.type, ZE_MEMORY_TYPE_UNKNOWN);
        EXPECT_EQ(zeMemGetAddressRange(context(), memory, nullptr, nullptr),
                  ZE_RESULT_ERROR_ADDRESS_NOT_FOUND);
        ze_ipc_mem_handle_t handle = {};
        EXPECT_EQ(zeMemGetIpcHandle(context(), memory, &handle), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(zeMemFree(context(), const_cast<std::byte *>(memory)),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }

    ze_event_handle_t start_ = nullptr;
    ze_event_handle_t done_ = nullptr;
    std::vector<std::byte> copy_ = std::vector<std::byte>(size);
};

TEST_F(CommandLifetimeTest, FreedMemoryIsGoneForCallsAndStaysForCommands) {
    for (const Kind kind : {Kind::Device, Kind::Host, Kind::Shared}) {
        SCOPED_TRACE(nameOf(kind));
        auto *const immediate = createImmediate(context());
        auto *const memory = filledAllocation(kind);
        const size_t mappings = memoryFileMappings();
        appendWaiting(immediate, copy_.data(), memory);
        EXPECT_EQ(zeMemFree(context(), memory), ZE_RESULT_SUCCESS);
        expectGone(memory);
        EXPECT_EQ(memoryFileMappings(), mappings);
        EXPECT_NE(allocate(context(), kind, size), memory) << "the address is still taken";
        EXPECT_EQ(zeEventQueryStatus(done_), ZE_RESULT_NOT_READY);
        signal(start_);
        finish(immediate);
        expectCopied(copy_);
        // The new allocation is there, the old one is not.
        EXPECT_EQ(memoryFileMappings(), mappings);
        copy_.assign(size, {});
        require(zeEventHostReset(start_), "zeEventHostReset");
        require(zeEventHostReset(done_), "zeEventHostReset");
    }
}

TEST_F(CommandLifetimeTest, AClosedListKeepsWhatItNamesUntilItIsReset) {
    auto *const memory = filledAllocation();
    const size_t mappings = memoryFileMappings();
    appendCopy(list_, copy_.data(), memory, size);
    require(zeCommandListClose(list_), "zeCommandListClose");
    EXPECT_EQ(zeMemFree(context(), memory), ZE_RESULT_SUCCESS);
    for (int round = 0; round < 2; ++round) {
        copy_.assign(size, {});
        execute(queue_, list_);
        finish();
        expectCopied(copy_);
    }
    EXPECT_EQ(memoryFileMappings(), mappings);
    require(zeCommandListReset(list_), "zeCommandListReset");
    EXPECT_EQ(memoryFileMappings(), mappings - 1);
}

TEST_F(CommandLifetimeTest, ABlockingFreeReturnsWhenCommandsAreDone) {
    auto *const immediate = createImmediate(context());
    auto *const memory = filledAllocation();
    appendWaiting(immediate, copy_.data(), memory);
    std::thread signaller([this] { signal(start_); });
    ze_memory_free_ext_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC;
    desc.freePolicy = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE;
    EXPECT_EQ(zeMemFreeExt(context(), &desc, memory), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventQueryStatus(done_), ZE_RESULT_SUCCESS);
    expectCopied(copy_);
    signaller.join();
}

TEST_F(CommandLifetimeTest, FieldCase39_ACopyThroughOneViewOutlivesTheOther) {
    Peer peer;
    const uint64_t there = peer.buildRange(2, chunk, 30);
    const auto handle = peer.exportRange(there, size);
    View evicted(context(), handle);
    const View used(context(), handle);
    auto *const immediate = createImmediate(context());
    appendWaiting(immediate, copy_.data(), used.base());
    evicted.close();
    signal(start_);
    finish(immediate);
    EXPECT_TRUE(hasEnds(copy_.data(), chunk, 30));
    EXPECT_TRUE(hasEnds(copy_.data() + chunk, chunk, 31));
}

TEST_F(CommandLifetimeTest, FieldCase39_AClosedImportStaysForCommands) {
    Peer peer;
    const uint64_t there = peer.buildRange(2, chunk, 30);
    View view(context(), peer.exportRange(there, size));
    const size_t mappings = memoryFileMappings();
    auto *const immediate = createImmediate(context());
    appendWaiting(immediate, copy_.data(), view.base());
    view.close();
    EXPECT_EQ(memoryFileMappings(), mappings);
    signal(start_);
    finish(immediate);
    EXPECT_TRUE(hasEnds(copy_.data(), chunk, 30));
    EXPECT_TRUE(hasEnds(copy_.data() + chunk, chunk, 31));
    EXPECT_LT(memoryFileMappings(), mappings);
}

TEST_F(CommandLifetimeTest, EventsAndTheirPoolMayEndFirst) {
    copyWord(list_, 1, 0, done_, {start_});
    closeAndExecute(queue_, list_);
    require(zeEventDestroy(start_), "zeEventDestroy");
    require(zeEventDestroy(done_), "zeEventDestroy");
    // The index begins anew, and is the same event for the list.
    auto *const again = event(0);
    auto *const doneAgain = event(1);
    require(zeEventPoolDestroy(pool_), "zeEventPoolDestroy");
    EXPECT_EQ(zeCommandQueueSynchronize(queue_, 1'000'000), ZE_RESULT_NOT_READY);
    signal(again);
    finish();
    EXPECT_EQ(words_[1], 100U);
    EXPECT_EQ(zeEventQueryStatus(doneAgain), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventDestroy(again), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventDestroy(doneAgain), ZE_RESULT_SUCCESS);
}

TEST_F(CommandLifetimeTest, TheListAndTheFenceMayEndFirst) {
    auto *const fence = createFence(queue_);
    copyWord(list_, 1, 0, done_, {start_});
    closeAndExecute(queue_, list_, fence);
    require(zeCommandListDestroy(list_), "zeCommandListDestroy");
    require(zeFenceDestroy(fence), "zeFenceDestroy");
    signal(start_);
    finish();
    EXPECT_EQ(words_[1], 100U);
    EXPECT_EQ(zeEventQueryStatus(done_), ZE_RESULT_SUCCESS);
}

TEST_F(CommandLifetimeTest, AQueueThatEndsDropsItsWork) {
    auto *const fence = createFence(queue_);
    copyWord(list_, 1, 0, done_, {start_});
    closeAndExecute(queue_, list_, fence);
    EXPECT_EQ(zeCommandQueueDestroy(queue_), ZE_RESULT_SUCCESS);
    signal(start_);
    // Nobody waits for ever for what was dropped.
    EXPECT_NE(zeFenceHostSynchronize(fence, UINT64_MAX), ZE_RESULT_SUCCESS);
    EXPECT_NE(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    EXPECT_EQ(zeEventQueryStatus(done_), ZE_RESULT_NOT_READY);
    EXPECT_EQ(words_[1], 101U);
    // The list and its context are as good as before.
    auto *const queue = createQueue(context());
    execute(queue, list_);
    finish(queue);
    EXPECT_EQ(words_[1], 100U);
    EXPECT_EQ(zeFenceDestroy(fence), ZE_RESULT_SUCCESS);
}

TEST_F(CommandLifetimeTest, AContextEndsWithWorkThatWaits) {
    auto *const immediate = createImmediate(context());
    appendWaiting(immediate, copy_.data(), filledAllocation());
    copyWord(list_, 1, 0, nullptr, {start_});
    closeAndExecute(queue_, list_);
    replaceContext();
    EXPECT_EQ(zeEventHostSignal(start_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(zeCommandListDestroy(immediate), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(zeCommandQueueDestroy(queue_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

/// A copy into memory that is no longer there when it runs: a device would meet a page fault.
class CommandFailureTest : public CommandLifetimeTest {
  protected:
    void SetUp() override {
        CommandLifetimeTest::SetUp();
        range_ = std::make_unique<Range>(context(), manyPieces(2));
    }

    void TearDown() override {
        range_.reset();
        CommandLifetimeTest::TearDown();
    }

    void expectLost(ze_event_handle_t neverSignalled) {
        EXPECT_EQ(zeEventHostSynchronize(neverSignalled, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
        EXPECT_EQ(zeEventQueryStatus(neverSignalled), ZE_RESULT_ERROR_DEVICE_LOST);
        EXPECT_EQ(zeContextGetStatus(context()), ZE_RESULT_ERROR_DEVICE_LOST);
        EXPECT_NE(lastErrorDescription(), "");
    }

    std::unique_ptr<Range> range_;
};

TEST_F(CommandFailureTest, ItIsToldByEveryWaitAndNothingIsSignalled) {
    auto *const fence = createFence(queue_);
    auto *const second = event(2);
    appendWaiting(list_, range_->base(), copy_.data());
    copyWord(list_, 1, 0, second);
    closeAndExecute(queue_, list_, fence);
    range_->unmapPiece(1);
    EXPECT_EQ(zeContextGetStatus(context()), ZE_RESULT_SUCCESS);
    signal(start_);
    EXPECT_EQ(zeFenceHostSynchronize(fence, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_EQ(zeFenceQueryStatus(fence), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_EQ(zeCommandQueueSynchronize(queue_, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    expectLost(done_);
    expectLost(second);
    EXPECT_EQ(words_[1], 101U);
    EXPECT_EQ(checksumOf(range_->base(), chunk), range_->checksum(0, chunk)) << "nothing written";
}

TEST_F(CommandFailureTest, TheOtherQueuesOfTheContextAreLostToo) {
    auto *const waiting = createImmediate(context());
    auto *const never = event(2);
    copyWord(waiting, 1, 0, event(3), {never});
    auto *const failing = createImmediate(context());
    appendWaiting(failing, range_->base(), copy_.data());
    range_->unmapPiece(0);
    signal(start_);
    EXPECT_EQ(commandListHostSynchronize(failing, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_EQ(commandListHostSynchronize(waiting, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    expectLost(never);
    EXPECT_EQ(zeCommandListAppendMemoryCopy(
                  waiting, &words_[1], &words_[0], sizeof(uint64_t), nullptr, 0, nullptr),
              ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_EQ(words_[1], 101U);
}

TEST_F(CommandFailureTest, LostAccessIsSuchAFailure) {
    appendWaiting(list_, range_->base(), copy_.data());
    closeAndExecute(queue_, list_);
    require(zeVirtualMemSetAccessAttribute(
                context(), range_->base(), size, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY),
            "zeVirtualMemSetAccessAttribute");
    signal(start_);
    EXPECT_EQ(zeCommandQueueSynchronize(queue_, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    expectLost(done_);
    EXPECT_EQ(checksumOf(range_->base(), size), range_->checksum());
}

TEST_F(CommandFailureTest, ASynchronousListTellsItAtOnce) {
    appendCopy(list_, range_->base(), copy_.data(), size);
    require(zeCommandListClose(list_), "zeCommandListClose");
    range_->unmapPiece(0);
    auto *const immediate = createImmediate(context(), ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    EXPECT_EQ(immediateAppendList(immediate, list_), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_EQ(zeContextGetStatus(context()), ZE_RESULT_ERROR_DEVICE_LOST);
}

TEST_F(CommandFailureTest, OtherContextsWorkOn) {
    const Context other;
    auto *const before = createImmediate(other.get());
    appendWaiting(list_, range_->base(), copy_.data());
    closeAndExecute(queue_, list_);
    range_->unmapPiece(0);
    signal(start_);
    EXPECT_EQ(zeCommandQueueSynchronize(queue_, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);

    EXPECT_EQ(zeContextGetStatus(other.get()), ZE_RESULT_SUCCESS);
    uint64_t source = 42;
    for (auto *const list : {before, createImmediate(other.get())}) {
        uint64_t target = 0;
        appendCopy(list, &target, &source, sizeof(source));
        finish(list);
        EXPECT_EQ(target, 42U);
    }
}

TEST_F(CommandFailureTest, MemoryOfALostContextIsFreed) {
    auto *const memory = filledAllocation();
    appendWaiting(list_, range_->base(), memory);
    closeAndExecute(queue_, list_);
    range_->unmapPiece(0);
    signal(start_);
    EXPECT_EQ(zeCommandQueueSynchronize(queue_, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    require(zeCommandListDestroy(list_), "zeCommandListDestroy");
    const size_t mappings = memoryFileMappings();
    ze_memory_free_ext_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC;
    desc.freePolicy = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE;
    EXPECT_EQ(zeMemFreeExt(context(), &desc, memory), ZE_RESULT_SUCCESS);
    EXPECT_EQ(memoryFileMappings(), mappings - 1);
}

} // namespace
} // namespace causeway::black_box
