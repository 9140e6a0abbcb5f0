#include "unit_tests/black_box/ipc_fixture.h"

#include <poll.h>

#include <atomic>
#include <future>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

/// Field cases about many ranks and many threads at once.
namespace causeway::black_box {
namespace {

constexpr uint64_t theirs = 8'000'000;

/// Up to so many milliseconds late.
void beLate(std::minstd_rand &random, unsigned most) {
    ::poll(nullptr, 0, static_cast<int>((random() >> 8) % most));
}

class RankSkewTest : public IpcTest {
  protected:
    static constexpr size_t ranks = 8;
    static constexpr uint64_t objects = 2;

    static uint64_t firstObject(size_t rank) { return theirs + objects * rank; }

    /// One rank: shares, and opens what the others share as it comes.
    void run(size_t self) {
        Peer &peer = *peers_[self];
        std::minstd_rand random(static_cast<uint32_t>(self + 1));
        self == 0 ? void(::poll(nullptr, 0, 300)) : beLate(random, 50);
        const uint64_t base = peer.buildRange(objects, chunk, firstObject(self));
        handles_[self].set_value(peer.exportRange(base, objects * chunk));
        for (size_t step = 1; step < ranks; ++step) {
            const size_t other = (self + step) % ranks;
            beLate(random, 50);
            if (shared_[other].wait_for(defaultWait()) != std::future_status::ready) {
                return;
            }
            const uint64_t view = peer.open(shared_[other].get());
            good_ += peer.goodEnds(view, chunk, objects, firstObject(other)) == objects ? 1 : 0;
            peer.close(view);
        }
    }

    std::vector<std::unique_ptr<Peer>> peers_;
    std::vector<std::promise<ze_ipc_mem_handle_t>> handles_{ranks};
    std::vector<std::shared_future<ze_ipc_mem_handle_t>> shared_;
    std::atomic<size_t> good_ = 0;
};

TEST_F(RankSkewTest, FieldCase34_RanksThatAreLateOpenAndAreOpened) {
    for (auto &handle : handles_) {
        shared_.push_back(handle.get_future().share());
        peers_.push_back(std::make_unique<Peer>());
    }
    {
        std::vector<std::jthread> threads;
        for (size_t rank = 0; rank < ranks; ++rank) {
            threads.emplace_back([this, rank] {
                try {
                    run(rank);
                } catch (const HarnessError &error) {
                    ADD_FAILURE() << "rank " << rank << ": " << error.what();
                }
            });
        }
    }
    EXPECT_EQ(good_, ranks * (ranks - 1));
    peers_.clear();
}

/// A range, in one of two contexts.
struct Shared {
    ze_context_handle_t context = nullptr;
    std::unique_ptr<Range> range;
};

/// What one thread has got and opened, and gives back.
class Sharer {
  public:
    Sharer(std::span<const Shared> ranges, uint32_t seed) : ranges_(ranges), random_(seed) {}

    /// False where a call did not do what it must.
    bool call() {
        const uint32_t what = below(4);
        if (what == 0 || got_.empty()) {
            return get();
        }
        if (what == 1 || views_.empty()) {
            return open();
        }
        return what == 2 ? close() : put();
    }

    bool end() {
        bool isRight = true;
        while (!views_.empty()) {
            isRight = close() && isRight;
        }
        while (!got_.empty()) {
            isRight = put() && isRight;
        }
        return isRight;
    }

    /// The last that was got.
    [[nodiscard]] const ze_ipc_mem_handle_t &last() const { return last_; }

  private:
    uint32_t below(size_t count) { return static_cast<uint32_t>((random_() >> 8) % count); }

    template <typename Item>
    Item takeOne(std::vector<Item> &items) {
        std::swap(items[below(items.size())], items.back());
        const Item item = items.back();
        items.pop_back();
        return item;
    }

    bool get() {
        const auto &shared = ranges_[below(ranges_.size())];
        const auto result =
            tryExport(shared.context, shared.range->base(), shared.range->size(), &last_);
        got_.emplace_back(&shared, last_);
        return result == ZE_RESULT_SUCCESS;
    }

    bool open() {
        const auto &[shared, handle] = got_[below(got_.size())];
        auto *const context = ranges_[below(ranges_.size())].context;
        void *base = nullptr;
        if (zeMemOpenIpcHandle(context, firstDevice(), handle, 0, &base) != ZE_RESULT_SUCCESS) {
            return false;
        }
        views_.emplace_back(context, base);
        return loadWord(base) == patternWord(shared->range->objectNumber(0), 0);
    }

    bool close() {
        const auto [context, base] = takeOne(views_);
        return zeMemCloseIpcHandle(context, base) == ZE_RESULT_SUCCESS;
    }

    bool put() {
        const auto [shared, handle] = takeOne(got_);
        return putIpcHandle(shared->context, handle) == ZE_RESULT_SUCCESS;
    }

    std::span<const Shared> ranges_;
    std::minstd_rand random_;
    ze_ipc_mem_handle_t last_ = {};
    std::vector<std::pair<const Shared *, ze_ipc_mem_handle_t>> got_;
    std::vector<std::pair<ze_context_handle_t, void *>> views_;
};

class ManyThreadsTest : public IpcTest {
  protected:
    void shareInThreads(int calls) {
        const Context second;
        std::vector<Shared> ranges;
        for (int i = 0; i < 8; ++i) {
            auto *const owner = i % 2 == 0 ? context() : second.get();
            ranges.push_back({owner, std::make_unique<Range>(owner, manyPieces(2))});
        }
        const auto descriptors = openDescriptors();
        const auto mappings = memoryFileMappings();
        std::vector<Sharer> sharers;
        for (uint32_t i = 0; i < 16; ++i) {
            sharers.emplace_back(ranges, i + 1);
        }
        std::atomic<int> failures = 0;
        std::vector<std::jthread> threads;
        for (auto &sharer : sharers) {
            threads.emplace_back([&] {
                for (int i = 0; i < calls; ++i) {
                    failures += sharer.call() ? 0 : 1;
                }
                failures += sharer.end() ? 0 : 1;
            });
        }
        threads.clear();
        EXPECT_EQ(failures, 0);
        EXPECT_EQ(difference(descriptors, openDescriptors()), "");
        EXPECT_EQ(memoryFileMappings(), mappings);
        for (const auto &sharer : sharers) {
            EXPECT_EQ(openResult(context(), sharer.last()), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        }
    }
};

TEST_F(ManyThreadsTest, FieldCase76_RandomCallsOfSixteenThreadsEndAtZero) {
    shareInThreads(500);
}

TEST_F(ManyThreadsTest, FieldCase76_TenThousandCallsOfSixteenThreadsEndAtZero_Long) {
    shareInThreads(10'000);
}

} // namespace
} // namespace causeway::black_box
