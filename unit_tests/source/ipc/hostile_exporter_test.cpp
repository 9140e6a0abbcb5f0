#include "source/ipc/importer.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/ipc/peer.h"
#include "unit_tests/source/ipc/scripted_peer.h"

#include <sys/socket.h>

#include <cstring>

namespace causeway::ipc {
namespace {

constexpr uint32_t objects = 4;
constexpr uint64_t window = objects * testPieceBytes;

/// What an exporter can say that is not true. Each ends the open with an error and a sentence, and
/// leaves nothing.
class HostileExporterTest : public fakes::ResourceCheckedTest {
  protected:
    void expectRefused(ScriptedPeer::Script script,
                       std::string_view text,
                       Status status = Status::InvalidArgument) {
        const auto before = fakes::ResourceSnapshot::take();
        {
            const ScriptedPeer exporter(std::move(script));
            EXPECT_TRUE(failsWith(open(exporter), status, text));
        }
        EXPECT_EQ(difference(before, fakes::ResourceSnapshot::take()), "");
    }

    [[nodiscard]] Result<uint64_t> open(const ScriptedPeer &exporter) {
        return openRemoteRange(importer_.os,
                               *importer_.memory,
                               importer_.device(),
                               exporter.handle(window),
                               withTimeout(patienceOfTests));
    }

    [[nodiscard]] wire::RangeTable honestTable() const {
        return tableOf(objects, importer_.device().properties().uuid);
    }

    /// Answers the Open with exactly this.
    [[nodiscard]] static ScriptedPeer::Script answering(wire::Reply header,
                                                        std::vector<std::byte> table,
                                                        size_t fds) {
        return [=](ScriptedTalk &talk) {
            (void)talk.request();
            talk.reply(header, objectFiles(fds), table);
            talk.staySilent();
        };
    }

    /// Answers the Open with a table of the test's choice.
    [[nodiscard]] static ScriptedPeer::Script withTable(const wire::RangeTable &table) {
        const auto bytes = wire::encodeTable(table);
        return answering(okReply(0, objects, bytes.size()), bytes, objects);
    }

    /// Answers the Open with the table in a file of the test's making.
    [[nodiscard]] static ScriptedPeer::Script withTableFile(std::function<UniqueFd()> make,
                                                            uint64_t promisedBytes) {
        return [=](ScriptedTalk &talk) {
            (void)talk.request();
            std::vector<UniqueFd> fds;
            fds.push_back(make());
            talk.reply({.tableInFile = true, .tableBytes = promisedBytes}, fds);
            talk.staySilent();
        };
    }

    /// Answers honestly but for the third object's descriptor.
    [[nodiscard]] ScriptedPeer::Script withThird(std::function<UniqueFd()> make) const {
        return [=, table = honestTable()](ScriptedTalk &talk) {
            (void)talk.request();
            const auto bytes = wire::encodeTable(table);
            std::vector<UniqueFd> fds = objectFiles(objects);
            fds[2] = make();
            talk.reply(okReply(0, objects, bytes.size()), fds, bytes);
            talk.staySilent();
        };
    }

    Peer importer_;
};

UniqueFd tableFile(std::span<const std::byte> bytes,
                   int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) {
    UniqueFd file =
        std::move(linuxOs().memfdCreate("causeway-test-table", MFD_ALLOW_SEALING).value());
    EXPECT_EQ(linuxOs().writeAt(file.get(), bytes, 0).value(), bytes.size());
    linuxOs().addSeals(file.get(), seals).value();
    return file;
}

UniqueFd pipeEnd() {
    std::array<int, 2> ends = {};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd readEnd(ends[0]);
    return UniqueFd(ends[1]);
}

UniqueFd directory() {
    return UniqueFd(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

UniqueFd nullDevice() {
    return UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC));
}

TEST_F(HostileExporterTest, AnHonestOneIsOpened) {
    const ScriptedPeer exporter(withTable(honestTable()));

    const uint64_t va = must(open(exporter));

    EXPECT_EQ(must(importer_.memory->addressRange(va)).sizeBytes, window);
    importer_.close(va);
}

TEST_F(HostileExporterTest, AReplyThatIsNoneIsRefused) {
    const auto raw = [](std::vector<std::byte> bytes) {
        return [bytes](ScriptedTalk &talk) {
            (void)talk.request();
            talk.send(bytes, objectFiles(2));
            talk.staySilent();
        };
    };
    expectRefused(raw(std::vector<std::byte>(1)), "reply of the exporter");
    expectRefused(raw(std::vector<std::byte>(wire::replyHeaderBytes)), "magic");
    auto header = wire::encodeReply(okReply(0, 0), {});
    header[4] = std::byte{9};
    expectRefused(raw(header), "version", Status::UnsupportedVersion);
    expectRefused(raw(std::vector<std::byte>(wire::maxReplyBytes + 1)), "overlong");
}

TEST_F(HostileExporterTest, AnEmptyMessageIsTakenForItsEnd) {
    expectRefused(
        [](ScriptedTalk &talk) {
            (void)talk.request();
            talk.send({}, objectFiles(1));
            talk.staySilent();
        },
        "gone");
}

TEST_F(HostileExporterTest, ATableWithoutBytesIsRefused) {
    expectRefused(answering(okReply(0, 0, 0), {}, 0), "table");
}

TEST_F(HostileExporterTest, AWrongFirstIsRefused) {
    const auto bytes = wire::encodeTable(honestTable());
    expectRefused(answering(okReply(1, 3, bytes.size()), bytes, 3), "asked for 4 objects from 0");
}

TEST_F(HostileExporterTest, MoreThanAskedForIsRefused) {
    const auto bytes = wire::encodeTable(honestTable());
    expectRefused(answering(okReply(0, 5, bytes.size()), bytes, 5), "sent 5 from 0");
}

TEST_F(HostileExporterTest, AWrongAnswerToAFetchIsRefused) {
    const auto fetching = [table = honestTable()](uint32_t first, uint32_t count, size_t fds) {
        return [=](ScriptedTalk &talk) {
            answerOpen(talk, table, 1);
            (void)talk.request();
            talk.reply(okReply(first, count), objectFiles(fds));
            talk.staySilent();
        };
    };
    expectRefused(fetching(0, 3, 3), "asked for 3 objects from 1");
    expectRefused(fetching(2, 2, 2), "asked for 3 objects from 1");
    expectRefused(fetching(1, 4, 4), "sent 4 from 1");
    expectRefused(fetching(1, 3, 2), "promised 3 descriptors and sent 2");
    expectRefused(fetching(1, 2, 3), "promised 2 descriptors and sent 3");
}

TEST_F(HostileExporterTest, DescriptorsThatWereNotPromisedAreRefused) {
    const auto bytes = wire::encodeTable(honestTable());
    expectRefused(answering(okReply(0, 1, bytes.size()), bytes, 4), "promised 1");
    expectRefused(answering(okReply(0, 0, bytes.size()), bytes, 1), "promised 0");
    expectRefused(answering(okReply(0, 4, bytes.size()), bytes, 0), "sent 0");
}

TEST_F(HostileExporterTest, DescriptorsOnARefusalAreClosed) {
    expectRefused(
        [](ScriptedTalk &talk) {
            (void)talk.request();
            talk.reply({.status = wire::ReplyStatus::UnknownToken}, objectFiles(3));
        },
        "no longer shares");
}

TEST_F(HostileExporterTest, ASecondTableIsRefused) {
    expectRefused(
        [table = honestTable()](ScriptedTalk &talk) {
            answerOpen(talk, table, 1);
            (void)talk.request();
            const auto bytes = wire::encodeTable(table);
            talk.reply(okReply(1, 3, bytes.size()), objectFiles(3), bytes);
            talk.staySilent();
        },
        "second table");
}

TEST_F(HostileExporterTest, ATruncatedTableIsRefused) {
    auto bytes = wire::encodeTable(honestTable());
    bytes.pop_back();
    expectRefused(answering(okReply(0, 4, bytes.size()), bytes, 4), "the exporter's table");
    bytes.resize(10);
    expectRefused(answering(okReply(0, 4, bytes.size()), bytes, 4), "the exporter's table");
}

TEST_F(HostileExporterTest, ATableOfAnotherVersionIsUnsupported) {
    auto bytes = wire::encodeTable(honestTable());
    bytes[4] = std::byte{99};
    expectRefused(
        answering(okReply(0, 4, bytes.size()), bytes, 4), "version", Status::UnsupportedVersion);
}

TEST_F(HostileExporterTest, ATableOfAnotherSizeThanTheHandleIsRefused) {
    auto table = honestTable();
    table.windowBytes -= 1;
    expectRefused(withTable(table), fmt::format("the handle says {} bytes", window));
}

TEST_F(HostileExporterTest, ATableThatPointsOutOfItsObjectIsRefused) {
    auto table = honestTable();
    table.pieces[1].offset = testPieceBytes;
    expectRefused(withTable(table), "the exporter's table");
}

TEST_F(HostileExporterTest, ATableBeyondTheAddressSpaceIsOutOfDeviceMemory) {
    constexpr uint64_t huge = uint64_t{1} << 61;
    const auto bytes = wire::encodeTable(tableOf(1, importer_.device().properties().uuid, huge));
    const ScriptedPeer exporter(answering(okReply(0, 1, bytes.size()), bytes, 1));

    EXPECT_TRUE(failsWith(openRemoteRange(importer_.os,
                                          *importer_.memory,
                                          importer_.device(),
                                          exporter.handle(huge),
                                          withTimeout(patienceOfTests)),
                          Status::OutOfDeviceMemory));
}

TEST_F(HostileExporterTest, ADeviceOutOfReachIsNamedWithOurs) {
    auto table = honestTable();
    table.objects[3].device.fill(0xEE);
    expectRefused(withTable(table), toString(table.objects[3].device));
    expectRefused(withTable(table), toString(importer_.device().properties().uuid));
}

TEST_F(HostileExporterTest, AKindThatTheDeviceCannotMapIsRefused) {
    auto table = honestTable();
    table.objects[0].kind = ObjectKind::DmaBuf;
    expectRefused(withTable(table), "dma-buf");
}

TEST_F(HostileExporterTest, ATableFileThatCanChangeIsRefused) {
    const auto bytes = wire::encodeTable(honestTable());
    for (const int seals : {F_SEAL_SEAL,
                            F_SEAL_SHRINK | F_SEAL_GROW,
                            F_SEAL_WRITE | F_SEAL_GROW,
                            F_SEAL_WRITE | F_SEAL_SHRINK}) {
        expectRefused(withTableFile([=] { return tableFile(bytes, seals); }, bytes.size()),
                      "not in a sealed file");
    }
}

TEST_F(HostileExporterTest, ATableFileOfAnotherSizeIsRefused) {
    const auto bytes = wire::encodeTable(honestTable());
    expectRefused(withTableFile([=] { return tableFile(bytes); }, bytes.size() + 1), "promised");
    expectRefused(withTableFile([=] { return tableFile(bytes); }, bytes.size() - 1), "promised");
    expectRefused(withTableFile([] { return tableFile({}); }, bytes.size()), "promised");
}

TEST_F(HostileExporterTest, ATableFileAboveTheLimitIsRefusedBeforeItIsRead) {
    constexpr uint64_t huge = uint64_t{1} << 40;
    expectRefused(
        withTableFile([] { return objectFile(huge, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW); },
                      huge),
        "exceeds");
}

TEST_F(HostileExporterTest, ATableInSomethingThatIsNoMemfdIsRefused) {
    for (UniqueFd (*make)() : {pipeEnd, directory, nullDevice}) {
        expectRefused(withTableFile(make, 100), "not in a sealed file");
    }
}

TEST_F(HostileExporterTest, ATableFileThatWasNotSentIsRefused) {
    expectRefused(answering({.tableInFile = true, .tableBytes = 100}, {}, 0), "sent 0");
}

TEST_F(HostileExporterTest, ObjectsThatAreNoMemfdsAreRefused) {
    for (UniqueFd (*make)() : {pipeEnd, directory, nullDevice}) {
        expectRefused(withThird(make), "object 2 of 4");
    }
    expectRefused(
        withThird([] { return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }),
        "object 2 of 4");
}

TEST_F(HostileExporterTest, AnObjectThatCanBeCutIsRefused) {
    for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_GROW}) {
        expectRefused(withThird([=] { return objectFile(testPieceBytes, seals); }),
                      "can still change its size");
    }
}

TEST_F(HostileExporterTest, AnObjectShorterThanPromisedIsRefused) {
    expectRefused(withThird([] { return objectFile(testPieceBytes - 1); }), "promised");
    expectRefused(withThird([] { return objectFile(0); }), "promised");
}

TEST_F(HostileExporterTest, ABadObjectInALaterBatchUndoesTheEarlierOnes) {
    expectRefused(
        [table = honestTable()](ScriptedTalk &talk) {
            answerOpen(talk, table, 2);
            const auto next = talk.request();
            std::vector<UniqueFd> fds = objectFiles(2);
            fds[1] = pipeEnd();
            talk.reply(okReply(next->first, 2), fds);
            talk.staySilent();
        },
        "object 3 of 4");
}

} // namespace
} // namespace causeway::ipc
