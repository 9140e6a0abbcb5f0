#pragma once

#include "shared/os/linux_os.h"
#include "shared/wire/messages.h"
#include "source/ipc/ipc_config.h"
#include "source/ipc/server.h"
#include "unit_tests/source/memory/result_checks.h"

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace causeway::ipc {

/// How long a test waits for what must come; never waited for in full unless the test fails.
inline constexpr std::chrono::milliseconds patienceOfTests{10000};

[[nodiscard]] inline IpcConfig withTimeout(std::chrono::milliseconds timeout) {
    return {.timeout = timeout, .folder = {}};
}

/// Waits for what another thread will have done soon.
[[nodiscard]] inline bool eventually(const std::function<bool()> &holds) {
    const auto deadline = std::chrono::steady_clock::now() + patienceOfTests;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::yield();
    }
    return true;
}

/// Whether a descriptor is readable, or hung up, within the time.
[[nodiscard]] inline bool readableWithin(int fd, std::chrono::milliseconds time) {
    std::array<pollfd, 1> fds = {pollfd{fd, POLLIN, 0}};
    return linuxOs().poll(fds, time).value_or(0) == 1;
}

/// A reply as it arrived.
struct TestReply {
    wire::Reply header;
    std::vector<std::byte> table;
    std::vector<UniqueFd> fds;
};

/// A peer of a server that speaks the protocol by hand.
class TestClient {
  public:
    explicit TestClient(uint64_t serverId)
        : socket_(
              std::move(linuxOs().connectAbstract(serverName(serverId), patienceOfTests).value())) {
    }

    void send(std::span<const std::byte> bytes) {
        EXPECT_TRUE(linuxOs().sendMessage(socket_.get(), bytes, {}));
    }

    void open(const wire::Token &token, uint32_t count = wire::maxFdsPerMessage) {
        send(wire::encodeRequest(
            {.type = wire::RequestType::Open, .token = token, .first = 0, .count = count}));
    }

    void fetch(uint32_t first, uint32_t count) {
        send(wire::encodeRequest(
            {.type = wire::RequestType::Fetch, .token = {}, .first = first, .count = count}));
    }

    /// Nothing at the end of the conversation.
    [[nodiscard]] std::optional<TestReply> receive() {
        if (!readableWithin(socket_.get(), patienceOfTests)) {
            ADD_FAILURE() << "no answer";
            return std::nullopt;
        }
        std::vector<std::byte> buffer(wire::maxReplyBytes);
        auto message = linuxOs().receiveMessage(socket_.get(), buffer, wire::maxFdsPerMessage);
        if (!message || message->sizeBytes == 0) {
            return std::nullopt;
        }
        const auto reply = must(wire::decodeReply(std::span(buffer).first(message->sizeBytes)));
        return TestReply{.header = reply.header,
                         .table = {reply.inlineTable.begin(), reply.inlineTable.end()},
                         .fds = std::move(message->fds)};
    }

    /// Opens and expects as many descriptors in the answer.
    void expectOpens(const wire::Token &token, size_t fds) {
        open(token);
        const auto reply = receive();
        ASSERT_TRUE(reply) << "the conversation was ended";
        EXPECT_EQ(reply->header.status, wire::ReplyStatus::Ok);
        EXPECT_EQ(reply->fds.size(), fds);
    }

    void expectFetches(uint32_t first, uint32_t fds) {
        fetch(first, fds);
        const auto reply = receive();
        ASSERT_TRUE(reply) << "the conversation was ended";
        EXPECT_EQ(reply->fds.size(), fds);
    }

    [[nodiscard]] int fd() const { return socket_.get(); }

  private:
    UniqueFd socket_;
};

} // namespace causeway::ipc
