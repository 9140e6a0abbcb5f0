// A server's connection against whatever a client can send. A client gets the files of the export
// whose token it has shown, and nothing else.

#include "source/ipc/connection.h"
#include "unit_tests/fuzz/fuzz_check.h"
#include "unit_tests/fuzz/peer_files.h"
#include "unit_tests/fuzz/served_exports.h"

#include <algorithm>
#include <optional>
#include <set>

namespace causeway::fuzz {
namespace {

struct Served {
    Served() {
        for (const auto &shared : {&few, &many}) {
            static_cast<void>(exports.add(shared->reference));
        }
    }

    ipc::TestExport few{servedFew, 0, tokenOfFew};
    ipc::TestExport many{servedMany, longTablePieces, tokenOfMany};
    ipc::ExportTable exports;
};

uint64_t inodeOf(int fd) {
    return linuxOs().fileInfo(fd).value().inode;
}

std::set<uint64_t> inodesOf(const ipc::TestExport &shared) {
    std::set<uint64_t> inodes;
    for (const auto &backing : shared.backings) {
        inodes.insert(inodeOf(backing->exportDescriptor({}).value().get()));
    }
    return inodes;
}

/// What a client may have after all that it has said so far.
class Rights {
  public:
    explicit Rights(const Served &served) : served_(served) {}

    void onMessage(std::span<const std::byte> bytes) {
        const auto request = wire::decodeRequest(bytes);
        if (shown_ != nullptr || !request || request->type != wire::RequestType::Open) {
            return;
        }
        for (const auto *shared : {&served_.few, &served_.many}) {
            shown_ = request->token == shared->token ? shared : shown_;
        }
    }

    void judge(const wire::DecodedReply &reply, std::span<const UniqueFd> fds) const {
        const size_t tables = reply.header.tableInFile ? 1 : 0;
        require(fds.size() == reply.header.fdCount + tables, "descriptors are as promised");
        if (shown_ == nullptr) {
            require(reply.header.status != wire::ReplyStatus::Ok, "no token, no answer");
            require(fds.empty(), "no token, no descriptor");
            return;
        }
        const auto permitted = inodesOf(*shown_);
        for (const UniqueFd &fd : fds.subspan(tables)) {
            require(permitted.contains(inodeOf(fd.get())), "a descriptor is of the token's export");
        }
        require(reply.header.tableBytes == 0 ||
                    reply.header.tableBytes == shown_->reference->table.size(),
                "a table is the token's export's");
    }

  private:
    const Served &served_;
    const ipc::TestExport *shown_ = nullptr;
};

void drain(int socket, const Rights &rights) {
    std::vector<std::byte> buffer(wire::maxReplyBytes);
    for (;;) {
        auto message = linuxOs().receiveMessage(socket, buffer, wire::maxFdsPerMessage);
        if (!message || message->sizeBytes == 0) {
            return;
        }
        const auto reply = wire::decodeReply(std::span(buffer).first(message->sizeBytes));
        require(reply.has_value(), "a server's replies are well-formed");
        rights.judge(*reply, message->fds);
    }
}

void talkTo(const Served &served, const std::vector<Message> &talk) {
    using State = ipc::Connection::State;
    auto [here, there] = linuxOs().socketPair().value();
    ipc::Connection connection(
        linuxOs(), served.exports, std::move(here), std::chrono::milliseconds(10000));
    Rights rights(served);
    State state = State::Reading;
    lastWasAccepted = false;
    for (const Message &message : talk) {
        if (state == State::Done) {
            return;
        }
        sendTalk(there.get(), {message});
        rights.onMessage(message.bytes);
        state = connection.advance();
        drain(there.get(), rights);
        lastWasAccepted = lastWasAccepted || connection.authorised();
        if (state == State::Writing) { // there is room now
            state = connection.advance();
            drain(there.get(), rights);
        }
    }
}

} // namespace
} // namespace causeway::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    using namespace causeway::fuzz;
    static const Served served;
    static_cast<void>(fileOf(FdKind::Object)); // made by now
    const int free = lowestFreeDescriptor();
    talkTo(served, parseTalk(bytesOf(data, size)));
    require(lowestFreeDescriptor() == free, "no descriptor is left open");
    return 0;
}
