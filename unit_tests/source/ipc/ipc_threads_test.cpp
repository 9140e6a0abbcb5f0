#include "unit_tests/source/ipc/rollback_fixture.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

namespace causeway::ipc {
namespace {

constexpr size_t threads = 16;
constexpr size_t ranges = 8;
constexpr uint64_t pages = 4;
constexpr uint64_t windowBytes = pages * devicePage;
constexpr int stepsOfAThread = 400;

/// The first word of each page of an object: which range and which page of it, and how often the
/// range had been mapped anew. Bytes of another range, place or time would show.
uint64_t stamp(uint64_t range, uint64_t page, uint64_t version) {
    return (version << 16) | (range << 8) | page;
}

uint64_t wordAt(uint64_t va) {
    uint64_t word = 0;
    std::memcpy(&word, bytesAt(va, sizeof(word)).data(), sizeof(word));
    return word;
}

/// What is open, and with which peer.
struct Opened {
    Peer *peer = nullptr;
    uint64_t va = 0;
};

/// Things that threads leave to one another, in no order.
template <typename T>
class Pool {
  public:
    void add(T thing) {
        const std::lock_guard lock(mutex_);
        things_.push_back(std::move(thing));
    }

    std::optional<T> take() {
        const std::lock_guard lock(mutex_);
        if (things_.empty()) {
            return std::nullopt;
        }
        T thing = std::move(things_.front());
        things_.pop_front();
        return thing;
    }

  private:
    std::mutex mutex_;
    std::deque<T> things_;
};

class IpcThreadsTest : public fakes::ResourceCheckedTest,
                       public testing::WithParamInterface<Placing> {
  protected:
    /// One object for the whole range, so that what is mapped is of one version.
    void mapAnew(size_t range) {
        Place &place = places_[range];
        const std::lock_guard lock(place.mutex);
        if (place.mapped) {
            must(exporter_.memory->unmap(place.va, windowBytes));
        }
        place.mapped = !place.mapped;
        if (!place.mapped) {
            return;
        }
        const auto object = must(
            exporter_.memory->createPhysical(exporter_.device(), Placement::Device, windowBytes));
        // Filled elsewhere: others may share and read the range as soon as it is mapped.
        const uint64_t aside = must(exporter_.memory->reserve(0, windowBytes));
        must(exporter_.memory->map(aside, windowBytes, object, 0, Access::ReadWrite));
        ++place.version;
        for (uint64_t page = 0; page < pages; ++page) {
            const uint64_t word = stamp(range, page, place.version);
            std::memcpy(bytesAt(aside + page * devicePage, 8).data(), &word, sizeof(word));
        }
        must(exporter_.memory->freeReservation(aside, windowBytes));
        must(exporter_.memory->map(place.va, windowBytes, object, 0, Access::ReadWrite));
    }

    /// Another reservation in the place of this one, which may be shared and open.
    void reserveAnew(size_t range) {
        Place &place = places_[range];
        const std::lock_guard lock(place.mutex);
        must(exporter_.memory->freeReservation(place.va, windowBytes));
        place.mapped = false;
        place.va = must(exporter_.memory->reserve(0, windowBytes));
    }

    void share(size_t range) {
        uint64_t va = 0;
        {
            const std::lock_guard lock(places_[range].mutex);
            va = places_[range]
                     .va; // it may be unmapped, freed and another's by the time of the call
        }
        auto handle = exporter_.share(va, windowBytes);
        if (handle) {
            shared_.add(*handle);
        } else {
            EXPECT_EQ(handle.error().status, Status::AddressNotFound) << handle.error().message;
        }
    }

    void openOne(Peer &peer) {
        auto shared = shared_.take();
        if (!shared) {
            return;
        }
        const auto va = peer.open(*shared);
        if (va) {
            expectOneVersion(*va);
            opened_.add({.peer = &peer, .va = *va});
            ++opens_;
        } else {
            // A Get of the same unchanged range counts the same export: others may have put it.
            EXPECT_EQ(va.error().status, Status::InvalidArgument) << va.error().message;
        }
        shared_.add(*shared);
    }

    void closeOne() {
        if (const auto opened = opened_.take()) {
            expectOneVersion(opened->va);
            opened->peer->close(opened->va);
        }
    }

    void putOne() {
        if (const auto shared = shared_.take()) {
            exporter_.put(*shared);
        }
    }

    static void expectOneVersion(uint64_t va) {
        const uint64_t first = wordAt(va);
        for (uint64_t page = 0; page < pages; ++page) {
            ASSERT_EQ(wordAt(va + page * devicePage), first + page);
        }
    }

    void work(unsigned seed) {
        std::minstd_rand random(seed);
        for (int step = 0; step < stepsOfAThread; ++step) {
            const size_t range = random() % ranges;
            switch (random() % 12) {
            case 0:
            case 1:
                mapAnew(range);
                break;
            case 2:
                reserveAnew(range);
                break;
            case 3:
            case 4:
            case 5:
                share(range);
                break;
            case 6:
            case 7:
                openOne(importer_);
                break;
            case 8:
                openOne(exporter_);
                break;
            case 9:
            case 10:
                closeOne();
                break;
            default:
                putOne();
                break;
            }
        }
    }

    struct Place {
        std::mutex mutex;
        uint64_t va = 0;
        bool mapped = false;
        uint64_t version = 0;
    };

    Peer exporter_{configOf(GetParam())};
    Peer importer_;
    std::array<Place, ranges> places_;
    Pool<wire::HandleBytes> shared_;
    Pool<Opened> opened_;
    std::atomic<int> opens_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Placings,
                         IpcThreadsTest,
                         testing::Values(Placing::OwnFiles, Placing::Banks),
                         nameOf);

/// Whatever threads do to the same ranges at the same time: what opens is what was mapped at one
/// moment, in whole; a call that came too late says so; and in the end nothing is left.
TEST_P(IpcThreadsTest, RandomCallsOnSharedRanges) {
    for (Place &place : places_) {
        place.va = must(exporter_.memory->reserve(0, windowBytes));
    }
    {
        std::vector<std::jthread> workers;
        for (unsigned i = 0; i < threads; ++i) {
            workers.emplace_back([this, i] { work(i + 1); });
        }
    }
    while (const auto opened = opened_.take()) {
        expectOneVersion(opened->va);
        opened->peer->close(opened->va);
    }
    while (const auto shared = shared_.take()) {
        exporter_.put(*shared);
    }
    for (const Place &place : places_) {
        must(exporter_.memory->freeReservation(place.va, windowBytes));
    }
    EXPECT_GE(opens_, stepsOfAThread) << "hardly anything was opened";
    EXPECT_EQ(exporter_.service.liveExports(), 0U);
    // Slots that an importer mapped are looked at again when memory is asked for, or so:
    exporter_.backend.reclaim();
    const auto &device = exporter_.device();
    EXPECT_TRUE(eventually([&] { return device.freeBytes() == device.properties().memoryBytes; }));
}

} // namespace
} // namespace causeway::ipc
