#include "unit_tests/black_box/peer_role.h"

#include "unit_tests/black_box/child.h"
#include "unit_tests/black_box/process_state.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace causeway::black_box {

namespace {

void setText(Reply &reply, std::string_view text) {
    const size_t length = std::min(text.size(), reply.text.size() - 1);
    std::copy_n(text.begin(), length, reply.text.begin());
}

Reply serve(PeerState &state, const Request &request) {
    Reply reply;
    try {
        const bool isKnown =
            request.command == Command::Hello || serveImporting(state, request, reply) ||
            serveMemory(state, request, reply) || serveExporting(state, request, reply) ||
            serveEvents(state, request, reply) || serveProcess(state, request, reply) ||
            serveDuress(state, request, reply);
        if (!isKnown) {
            throw HarnessError("unknown command");
        }
        if (reply.result != ZE_RESULT_SUCCESS) {
            setText(reply, lastErrorDescription());
        }
    } catch (const HarnessError &error) {
        reply.result = ZE_RESULT_ERROR_UNKNOWN;
        setText(reply, error.what());
    }
    return reply;
}

} // namespace

int runPeer(int in, int out, int socket) {
    PeerState state{.in = in, .out = out, .socket = socket};
    Request request;
    const auto bytes = std::as_writable_bytes(std::span(&request, 1));
    while (readAll(state.in, bytes, std::nullopt) == ReadStatus::Complete) {
        const Reply reply = serve(state, request);
        if (!writeAll(state.out, std::as_bytes(std::span(&reply, 1)))) {
            break;
        }
    }
    if (state.isFork) {
        _exit(0);
    }
    state.range.reset();
    state.context.reset();
    return testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ? 1 : 0;
}

int runLister(int in, int out) {
    uint64_t inherited = 0;
    for (const auto &[fd, target] : openDescriptors()) {
        const bool isOwn = fd <= STDERR_FILENO || fd == in || fd == out;
        inherited += isOwn ? 0 : 1;
    }
    return writeAll(out, std::as_bytes(std::span(&inherited, 1))) ? 0 : 1;
}

} // namespace causeway::black_box
