#pragma once

#include "shared/os/linux_os.h"
#include "source/ipc/server.h"
#include "source/ipc/ways.h"
#include "unit_tests/source/ipc/test_backing.h"
#include "unit_tests/source/ipc/test_client.h"

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace causeway::ipc {

/// By the first of the ways that RangeFetcher tries.
[[nodiscard]] inline Result<Conversation> connectByName(Os &os,
                                                        uint64_t serverId,
                                                        std::chrono::milliseconds timeout) {
    wire::IpcHandle handle;
    handle.serverId = serverId;
    return waysToExporters().front().connect(os, handle, withTimeout(timeout));
}

/// The end of a conversation that a script speaks: an exporter that answers whatever the test
/// wants.
class ScriptedTalk {
  public:
    ScriptedTalk(UniqueFd socket, int wake) : socket_(std::move(socket)), wake_(wake) {}

    /// The next request, or nothing once the importer has gone.
    std::optional<wire::Request> request() {
        std::array<pollfd, 2> fds = {pollfd{socket_.get(), POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
        if (linuxOs().poll(fds, patienceOfTests).value_or(0) < 1 || fds[0].revents == 0) {
            return std::nullopt;
        }
        std::array<std::byte, wire::requestBytes> buffer = {};
        const auto message = linuxOs().receiveMessage(socket_.get(), buffer, 0);
        if (!message || message->sizeBytes == 0) {
            return std::nullopt;
        }
        auto request = wire::decodeRequest(std::span(buffer).first(message->sizeBytes));
        EXPECT_TRUE(succeeds(request)) << "the importer sent a bad request";
        return request ? std::optional(*request) : std::nullopt;
    }

    void send(std::span<const std::byte> bytes, std::span<const UniqueFd> fds = {}) {
        std::vector<int> numbers;
        for (const UniqueFd &fd : fds) {
            numbers.push_back(fd.get());
        }
        // The importer may have given up by now.
        static_cast<void>(linuxOs().sendMessage(socket_.get(), bytes, numbers));
    }

    void reply(const wire::Reply &header,
               std::span<const UniqueFd> fds = {},
               std::span<const std::byte> table = {}) {
        send(wire::encodeReply(header, table), fds);
    }

    /// Says nothing until the importer gives up.
    void staySilent() {
        while (request()) {
        }
    }

    void close() { socket_.reset(); }

  private:
    UniqueFd socket_;
    int wake_;
};

/// A listener thread that takes one connection and runs a script on it.
class ScriptedPeer {
  public:
    using Script = std::function<void(ScriptedTalk &)>;

    explicit ScriptedPeer(Script script) : script_(std::move(script)) {
        linuxOs().randomBytes(std::as_writable_bytes(std::span(&id_, 1))).value();
        listener_ = std::move(linuxOs().listenAbstract(serverName(id_), 4).value());
        wake_ = std::move(linuxOs().eventCreate().value());
        thread_ = std::thread([this] { run(); });
    }

    ScriptedPeer(const ScriptedPeer &) = delete;
    ScriptedPeer &operator=(const ScriptedPeer &) = delete;

    ~ScriptedPeer() {
        linuxOs().eventSignal(wake_.get()).value();
        thread_.join();
    }

    [[nodiscard]] wire::IpcHandle handle(uint64_t windowBytes) const {
        wire::IpcHandle handle;
        handle.serverId = id_;
        handle.token.fill(0x77);
        handle.sizeBytes = windowBytes;
        return handle;
    }

  private:
    void run() {
        std::array<pollfd, 2> fds = {pollfd{listener_.get(), POLLIN, 0},
                                     pollfd{wake_.get(), POLLIN, 0}};
        if (linuxOs().poll(fds, patienceOfTests).value_or(0) < 1 || fds[0].revents == 0) {
            return;
        }
        ScriptedTalk talk(std::move(linuxOs().accept(listener_.get()).value()), wake_.get());
        listener_.reset();
        script_(talk);
    }

    Script script_;
    uint64_t id_ = 0;
    UniqueFd listener_;
    UniqueFd wake_;
    std::thread thread_;
};

/// A table of as many objects of one piece each.
[[nodiscard]] inline wire::RangeTable tableOf(uint32_t objects,
                                              const DeviceUuid &device = {},
                                              uint64_t pieceBytes = testPieceBytes) {
    wire::RangeTable table;
    for (uint32_t i = 0; i < objects; ++i) {
        table.objects.push_back({.sizeBytes = pieceBytes, .device = device});
        table.pieces.push_back({.object = i, .sizeBytes = pieceBytes});
    }
    table.windowBytes = objects * pieceBytes;
    return table;
}

[[nodiscard]] inline std::vector<UniqueFd> objectFiles(size_t count,
                                                       uint64_t sizeBytes = testPieceBytes) {
    std::vector<UniqueFd> files;
    for (size_t i = 0; i < count; ++i) {
        files.push_back(objectFile(sizeBytes));
    }
    return files;
}

[[nodiscard]] inline wire::Reply okReply(uint32_t first, uint32_t fdCount, size_t tableBytes = 0) {
    return {.status = wire::ReplyStatus::Ok,
            .tableInFile = false,
            .first = first,
            .fdCount = fdCount,
            .tableBytes = tableBytes};
}

/// Answers the Open with a table and its first descriptors.
inline void answerOpen(ScriptedTalk &talk, const wire::RangeTable &table, uint32_t fds) {
    (void)talk.request();
    const auto bytes = wire::encodeTable(table);
    talk.reply(okReply(0, fds, bytes.size()), objectFiles(fds), bytes);
}

} // namespace causeway::ipc
