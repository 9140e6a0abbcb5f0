#pragma once

#include "source/ipc/connection.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/ipc/test_backing.h"
#include "unit_tests/source/memory/result_checks.h"

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace causeway::ipc {

/// FaultyOs with a clock and a descriptor limit of the test's own.
class ConnectionOs final : public fakes::ForwardingOs {
  public:
    using ForwardingOs::ForwardingOs;

    std::chrono::steady_clock::time_point now() override { return time; }

    uint64_t descriptorLimit() override { return limit; }

    std::chrono::steady_clock::time_point time{std::chrono::seconds(1000)};
    uint64_t limit = 8192;
};

/// A connection whose other end the test holds. Nothing waits: each step is made by hand.
class ConnectionFixture : public fakes::ResourceCheckedTest {
  protected:
    using State = Connection::State;

    struct Received {
        wire::Reply header;
        std::vector<std::byte> table;
        std::vector<UniqueFd> fds;
    };

    void SetUp() override {
        std::array<int, 2> ends = {};
        ASSERT_EQ(
            ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()),
            0);
        peer_ = UniqueFd(ends[0]);
        connection_ = std::make_unique<Connection>(os_, exports_, UniqueFd(ends[1]), patience);
    }

    void add(const TestExport &shared) { (void)exports_.add(shared.reference); }

    void send(std::span<const std::byte> bytes, std::span<const int> fds = {}) {
        ASSERT_TRUE(linuxOs().sendMessage(peer_.get(), bytes, fds));
    }

    State request(const wire::Request &request) {
        send(wire::encodeRequest(request));
        return connection_->advance();
    }

    State open(const wire::Token &token, uint32_t count = wire::maxFdsPerMessage) {
        return request(
            {.type = wire::RequestType::Open, .token = token, .first = 0, .count = count});
    }

    State fetch(uint32_t first, uint32_t count) {
        return request(
            {.type = wire::RequestType::Fetch, .token = {}, .first = first, .count = count});
    }

    [[nodiscard]] Received receive() {
        std::vector<std::byte> buffer(wire::maxReplyBytes);
        auto message =
            linuxOs().receiveMessage(peer_.get(), buffer, wire::maxFdsPerMessage).value();
        const auto reply = must(wire::decodeReply(std::span(buffer).first(message.sizeBytes)));
        return {.header = reply.header,
                .table = {reply.inlineTable.begin(), reply.inlineTable.end()},
                .fds = std::move(message.fds)};
    }

    void expectError(wire::ReplyStatus status) {
        const Received reply = receive();
        EXPECT_EQ(reply.header.status, status);
        EXPECT_TRUE(reply.fds.empty());
    }

    void tick(std::chrono::milliseconds time) { os_.time += time; }

    static constexpr std::chrono::milliseconds patience{1000};

    fakes::FaultyOs faults_{linuxOs()};
    ConnectionOs os_{faults_};
    ExportTable exports_;
    UniqueFd peer_;
    std::unique_ptr<Connection> connection_;
};

} // namespace causeway::ipc
