#include "source/ipc/range_fetcher.h"

#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/ipc/scripted_peer.h"

#include <cerrno>
#include <set>

namespace causeway::ipc {
namespace {

using std::chrono::milliseconds;

/// An Os of an importer with few descriptors, whose messages lose some on the way.
class FetcherOs final : public fakes::ForwardingOs {
  public:
    using ForwardingOs::ForwardingOs;

    uint64_t descriptorLimit() override { return limit; }

    /// Lets through as many descriptors of each message as arrive[] says, in turn.
    OsResult<ReceivedMessage> receiveMessage(int fd,
                                             std::span<std::byte> bytes,
                                             size_t maxFds) override {
        auto message = os_.receiveMessage(fd, bytes, maxFds);
        if (message && message->sizeBytes > 0 && received < arrive.size() &&
            arrive[received++] < message->fds.size()) {
            message->fds.resize(arrive[received - 1]);
            message->fdsTruncated = true;
        }
        return message;
    }

    uint64_t limit = 1024;
    std::vector<size_t> arrive;
    size_t received = 0;
};

class RangeFetcherTest : public fakes::ResourceCheckedTest {
  protected:
    /// Fetches the whole range and counts what came.
    [[nodiscard]] Result<void> fetch(const ScriptedPeer &peer,
                                     uint64_t windowBytes,
                                     milliseconds timeout = patienceOfTests) {
        auto fetcher = RangeFetcher::open(os_, peer.handle(windowBytes), withTimeout(timeout));
        if (!fetcher) {
            return forward(fetcher);
        }
        return fetcher->fetch([this](uint32_t first, std::span<UniqueFd> fds) -> Result<void> {
            for (size_t i = 0; i < fds.size(); ++i) {
                EXPECT_TRUE(brought_.insert(first + static_cast<uint32_t>(i)).second)
                    << "brought twice";
                EXPECT_TRUE(linuxOs().fileInfo(fds[i].get()));
            }
            return {};
        });
    }

    void expectFailure(ScriptedPeer::Script script,
                       Status status,
                       std::string_view text,
                       uint32_t objects = 4,
                       milliseconds timeout = patienceOfTests) {
        {
            const ScriptedPeer peer(std::move(script));
            EXPECT_TRUE(failsWith(fetch(peer, objects * testPieceBytes, timeout), status, text));
        }
        EXPECT_EQ(leftovers(), "");
    }

    fakes::FaultyOs faults_{linuxOs()};
    FetcherOs os_{faults_};
    std::set<uint32_t> brought_;
};

TEST_F(RangeFetcherTest, BringsEachObjectOnceInBatches) {
    constexpr uint32_t objects = 20;
    os_.limit = 24; // batches of 3
    const ScriptedPeer peer([](ScriptedTalk &talk) {
        const auto open = talk.request();
        const auto bytes = wire::encodeTable(tableOf(objects));
        EXPECT_EQ(open->count, 3U);
        talk.reply(okReply(0, 3, bytes.size()), objectFiles(3), bytes);
        while (const auto next = talk.request()) {
            EXPECT_EQ(next->type, wire::RequestType::Fetch);
            EXPECT_LE(next->count, 3U);
            talk.reply(okReply(next->first, next->count), objectFiles(next->count));
        }
    });

    EXPECT_TRUE(succeeds(fetch(peer, objects * testPieceBytes)));
    EXPECT_EQ(brought_.size(), objects);
}

TEST_F(RangeFetcherTest, AsksAgainForWhatDidNotCome) {
    constexpr uint32_t objects = 10;
    const ScriptedPeer peer([](ScriptedTalk &talk) {
        answerOpen(talk, tableOf(objects), 1);
        while (const auto next = talk.request()) {
            talk.reply(okReply(next->first, 1), objectFiles(1));
        }
    });

    EXPECT_TRUE(succeeds(fetch(peer, objects * testPieceBytes)));
    EXPECT_EQ(brought_.size(), objects);
}

TEST_F(RangeFetcherTest, DescriptorsLostOnTheWayAreAskedForAgain) {
    constexpr uint32_t objects = 10;
    os_.arrive = {2, 0, 3, 1, 0, 1};
    const ScriptedPeer peer([](ScriptedTalk &talk) {
        answerOpen(talk, tableOf(objects), objects);
        while (const auto next = talk.request()) {
            talk.reply(okReply(next->first, next->count), objectFiles(next->count));
        }
    });

    EXPECT_TRUE(succeeds(fetch(peer, objects * testPieceBytes)));
    EXPECT_EQ(brought_.size(), objects);
}

TEST_F(RangeFetcherTest, TwoAnswersInARowWithoutADescriptorEndIt) {
    os_.arrive = {2, 0, 0};
    expectFailure(
        [](ScriptedTalk &talk) {
            answerOpen(talk, tableOf(4), 4);
            while (const auto next = talk.request()) {
                talk.reply(okReply(next->first, next->count), objectFiles(next->count));
            }
        },
        Status::OutOfHostMemory,
        "no descriptor left");
}

TEST_F(RangeFetcherTest, AnExporterThatNeverSendsADescriptorIsGivenUp) {
    expectFailure(
        [](ScriptedTalk &talk) {
            answerOpen(talk, tableOf(4), 0);
            while (const auto next = talk.request()) {
                talk.reply(okReply(next->first, 0));
            }
        },
        Status::OutOfHostMemory,
        "no descriptor left");
}

TEST_F(RangeFetcherTest, ADescriptorThatTheSinkLeavesIsClosed) {
    const ScriptedPeer peer([](ScriptedTalk &talk) {
        answerOpen(talk, tableOf(4), 4);
        talk.staySilent();
    });
    auto fetcher = must(
        RangeFetcher::open(os_, peer.handle(4 * testPieceBytes), withTimeout(patienceOfTests)));
    std::vector<int> left;
    must(fetcher.fetch([&](uint32_t, std::span<UniqueFd> fds) -> Result<void> {
        for (const UniqueFd &fd : fds) {
            left.push_back(fd.get());
        }
        return {};
    }));

    ASSERT_EQ(left.size(), 4U);
    const auto now = fakes::ResourceSnapshot::take();
    for (const int fd : left) {
        EXPECT_FALSE(now.descriptors.contains(fd));
    }
}

TEST_F(RangeFetcherTest, AnErrorOfTheSinkEndsIt) {
    const ScriptedPeer peer([](ScriptedTalk &talk) {
        answerOpen(talk, tableOf(4), 2);
        talk.staySilent();
    });
    auto fetcher = must(
        RangeFetcher::open(os_, peer.handle(4 * testPieceBytes), withTimeout(patienceOfTests)));

    EXPECT_TRUE(failsWith(fetcher.fetch([](uint32_t, std::span<UniqueFd>) -> Result<void> {
        return fail(Status::DeviceLost, "the sink is full");
    }),
                          Status::DeviceLost,
                          "the sink is full"));
}

TEST_F(RangeFetcherTest, NobodyUnderThatIdIsAnError) {
    uint64_t gone = 0;
    {
        const ScriptedPeer peer([](ScriptedTalk &) {});
        gone = peer.handle(1).serverId;
    }
    wire::IpcHandle handle;
    handle.serverId = gone;
    handle.sizeBytes = 1;

    EXPECT_TRUE(failsWith(RangeFetcher::open(os_, handle, withTimeout(patienceOfTests)),
                          Status::InvalidArgument,
                          "exited, or lives in another network namespace"));
}

TEST_F(RangeFetcherTest, SilenceIsATimeout) {
    expectFailure([](ScriptedTalk &talk) { talk.staySilent(); },
                  Status::NotAvailable,
                  "in time",
                  4,
                  milliseconds(50));
}

TEST_F(RangeFetcherTest, SilenceAfterTheTableIsATimeout) {
    expectFailure(
        [](ScriptedTalk &talk) {
            answerOpen(talk, tableOf(4), 2);
            talk.staySilent();
        },
        Status::NotAvailable,
        "in time",
        4,
        milliseconds(50));
}

TEST_F(RangeFetcherTest, AnExporterThatClosesIsAnErrorAtOnce) {
    expectFailure(
        [](ScriptedTalk &talk) {
            (void)talk.request();
            talk.close();
        },
        Status::InvalidArgument,
        "gone");
    expectFailure([](ScriptedTalk &talk) { talk.close(); }, Status::InvalidArgument, "gone");
}

TEST_F(RangeFetcherTest, AnExporterThatAnswersAndClosesIsAnErrorOnceMoreIsNeeded) {
    expectFailure(
        [](ScriptedTalk &talk) {
            answerOpen(talk, tableOf(4), 2);
            talk.close();
        },
        Status::InvalidArgument,
        "gone");
}

TEST_F(RangeFetcherTest, AnExporterThatSentAllAndClosedHasDoneItsPart) {
    const ScriptedPeer peer([](ScriptedTalk &talk) {
        answerOpen(talk, tableOf(4), 4);
        talk.close();
    });

    EXPECT_TRUE(succeeds(fetch(peer, 4 * testPieceBytes)));
}

TEST_F(RangeFetcherTest, EachRefusalHasItsStatus) {
    const auto refuse = [](wire::ReplyStatus status) {
        return [status](ScriptedTalk &talk) {
            (void)talk.request();
            talk.reply({.status = status});
        };
    };
    expectFailure(
        refuse(wire::ReplyStatus::UnknownToken), Status::InvalidArgument, "no longer shares");
    expectFailure(
        refuse(wire::ReplyStatus::UnsupportedVersion), Status::UnsupportedVersion, "version");
    expectFailure(refuse(wire::ReplyStatus::BadRequest), Status::InvalidArgument, "refused");
    expectFailure(refuse(wire::ReplyStatus::Failed), Status::InvalidArgument, "refused");
    expectFailure(refuse(wire::ReplyStatus::Exhausted), Status::OutOfHostMemory, "descriptor");
}

TEST_F(RangeFetcherTest, AServerOfAnotherUserIsNotTrusted) {
    class OtherUserOs final : public fakes::ForwardingOs {
      public:
        using ForwardingOs::ForwardingOs;

        uid_t userId() override { return os_.userId() + 1; }
    };

    OtherUserOs os(faults_);
    const ScriptedPeer peer([](ScriptedTalk &talk) { talk.staySilent(); });

    EXPECT_TRUE(failsWith(RangeFetcher::open(os, peer.handle(1), withTimeout(patienceOfTests)),
                          Status::InsufficientPermissions,
                          "is served by user"));
}

TEST_F(RangeFetcherTest, EachSystemCallCanFail) {
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        const ScriptedPeer peer([](ScriptedTalk &talk) {
            answerOpen(talk, tableOf(4), 2);
            while (const auto next = talk.request()) {
                talk.reply(okReply(next->first, next->count), objectFiles(next->count));
            }
        });
        brought_.clear();
        const uint64_t faults = faults_.faults();
        faults_.failAt(k, ENOBUFS);
        const auto fetched = fetch(peer, 4 * testPieceBytes);
        faults_.heal();
        reached = faults_.faults() > faults;
        EXPECT_TRUE(fetched || !fetched.error().message.empty());
        EXPECT_TRUE(fetched || reached);
    }
    EXPECT_GT(k, 5U);
}

} // namespace
} // namespace causeway::ipc
