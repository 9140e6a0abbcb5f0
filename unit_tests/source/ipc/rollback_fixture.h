#pragma once

#include "unit_tests/source/ipc/peer.h"
#include "unit_tests/source/ipc/test_client.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>

namespace causeway::ipc {

/// How objects are placed.
enum class Placing : uint8_t { OwnFiles, Banks };

[[nodiscard]] inline kmd::soft::SoftConfig configOf(Placing placing) {
    return placing == Placing::Banks ? bankedConfig() : kmd::soft::SoftConfig{};
}

[[nodiscard]] inline std::string nameOf(const testing::TestParamInfo<Placing> &info) {
    return info.param == Placing::Banks ? "Banks" : "OwnFiles";
}

/// Fails each system call of one peer in turn while something is tried, and checks that all is as
/// before afterwards and that it works the next time.
class RollbackFixture : public fakes::ResourceCheckedTest,
                        public testing::WithParamInterface<Placing> {
  protected:
    static constexpr uint64_t objects = 16;
    static constexpr size_t socketsOfAServer = 3; // its listener, and the two of the rendezvous

    /// Remembers what everybody holds while nothing goes on: as many servers, which let go of a
    /// connection a little after its importer did.
    void settle(size_t servers) {
        EXPECT_TRUE(
            eventually([&] { return sockets() == socketsBefore_ + servers * socketsOfAServer; }));
        base_ = fakes::ResourceSnapshot::take();
    }

    /// What is there more or less than when things were settled.
    [[nodiscard]] std::string changes() const {
        std::string text;
        (void)eventually([&] {
            text = difference(base_, fakes::ResourceSnapshot::take());
            return text.empty();
        });
        return text;
    }

    /// `call` tries; `finish` judges what it gave and takes it back. Each of the calls that the
    /// peer makes meanwhile fails in turn, with `error`. Returns how many there are.
    template <typename T>
    uint64_t sweep(Peer &failing,
                   int error,
                   const std::function<Result<T>()> &call,
                   const std::function<void(const T &)> &finish) {
        constexpr uint64_t most = 2000; // ends a sweep that would not end
        for (uint64_t k = 1; k <= most; ++k) {
            const uint64_t faults = failing.faults.faults();
            failing.faults.failAt(k, error);
            const Result<T> tried = call();
            failing.faults.heal();
            failing.giveLeftoversBack();
            const bool reached = failing.faults.faults() > faults;
            SCOPED_TRACE(testing::Message()
                         << "call " << k << ": "
                         << (reached ? toString(*failing.faults.lastFault()) : "none"));
            EXPECT_TRUE(tried || (reached && !tried.error().message.empty()));
            if (tried) {
                finish(*tried);
            }
            EXPECT_EQ(changes(), "");
            finish(must(call()));
            EXPECT_EQ(changes(), "");
            if (!reached || HasFailure()) {
                return k - 1;
            }
        }
        ADD_FAILURE() << "the calls did not end";
        return most;
    }

  private:
    [[nodiscard]] static size_t sockets() {
        const auto now = fakes::ResourceSnapshot::take();
        return static_cast<size_t>(std::ranges::count_if(now.descriptors, [](const auto &entry) {
            return entry.second.starts_with("socket:");
        }));
    }

    const size_t socketsBefore_ = sockets();
    fakes::ResourceSnapshot base_;
};

} // namespace causeway::ipc
