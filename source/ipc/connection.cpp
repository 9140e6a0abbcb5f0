#include "source/ipc/connection.h"

#include "shared/base/log.h"
#include "source/ipc/ipc_config.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace causeway::ipc {
namespace {

/// A sealed memfd: the importer can read it without fearing that we change it meanwhile.
Result<UniqueFd> makeTableFile(Os &os, std::span<const std::byte> table) {
    auto file = os.memfdCreate("causeway-table", MFD_ALLOW_SEALING);
    if (!file) {
        return failWith(file.error(), "memfd_create of a table");
    }
    for (uint64_t done = 0; done < table.size();) {
        const auto written = os.writeAt(file->get(), table.subspan(done), done);
        if (!written || *written == 0) {
            return failWith(written ? Errno{EIO} : written.error(), "writing a table");
        }
        done += *written;
    }
    const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (const auto sealed = os.addSeals(file->get(), seals); !sealed) {
        return failWith(sealed.error(), "sealing a table");
    }
    return std::move(*file);
}

} // namespace

uint32_t descriptorBatch(Os &os) {
    const uint64_t share = os.descriptorLimit() / 8;
    return static_cast<uint32_t>(std::clamp<uint64_t>(share, 1, wire::maxFdsPerMessage));
}

Connection::Connection(Os &os,
                       const ExportTable &exports,
                       UniqueFd socket,
                       std::chrono::milliseconds patience)
    : os_(os)
    , exports_(exports)
    , socket_(std::move(socket))
    , patience_(patience)
    , deadline_(os.now() + patience) {}

void Connection::abandon() noexcept {
    socket_.reset();
    replyFds_.clear();
}

Connection::State Connection::advance() {
    return reply_.empty() ? readRequest() : send();
}

Connection::State Connection::readRequest() {
    std::array<std::byte, wire::requestBytes + 1> buffer = {}; // one more: a longer message shows
    auto message = os_.receiveMessage(socket_.get(), buffer, 0);
    if (!message) {
        return message.error().value == EAGAIN ? State::Reading : State::Done;
    }
    if (message->sizeBytes == 0) {
        return State::Done; // the peer has closed
    }
    const auto request = wire::decodeRequest(std::span(buffer).first(message->sizeBytes));
    if (request) {
        prepare(*request);
    } else {
        log(LogLevel::Debug, "ipc request refused: {}", request.error().message);
        prepareError(request.error().status == Status::UnsupportedVersion
                         ? wire::ReplyStatus::UnsupportedVersion
                         : wire::ReplyStatus::BadRequest);
    }
    return send();
}

Connection::State Connection::send() {
    std::vector<int> fds;
    fds.reserve(replyFds_.size());
    for (const kmd::TravelFd &fd : replyFds_) {
        fds.push_back(fd.get());
    }
    const auto begun = os_.now(); // once sent, the peer may act before this thread goes on
    const auto sent = os_.sendMessage(socket_.get(), reply_, fds);
    if (!sent) {
        switch (sent.error().value) {
        case EAGAIN:
            return State::Writing;
        case ETOOMANYREFS:
        case ENOBUFS:
        case ENOMEM:
            return State::Retrying;
        default:
            return State::Done;
        }
    }
    reply_.clear();
    replyFds_.clear();
    deadline_ = begun + patience_;
    return closeAfterReply_ ? State::Done : State::Reading;
}

void Connection::prepare(const wire::Request &request) {
    if (request.type == wire::RequestType::Open) {
        prepareOpen(request);
    } else {
        prepareFetch(request);
    }
}

void Connection::prepareError(wire::ReplyStatus status) {
    reply_ = wire::encodeReply({.status = status}, {});
    replyFds_.clear();
    closeAfterReply_ = true;
}

void Connection::prepareOpen(const wire::Request &request) {
    if (export_ != nullptr) {
        prepareError(wire::ReplyStatus::BadRequest); // one conversation, one import
        return;
    }
    export_ = exports_.find(request.token);
    if (export_ == nullptr) {
        prepareError(wire::ReplyStatus::UnknownToken);
        return;
    }
    end_ = os_.now() + conversationBudget(patience_, export_->objects.size());
    const std::span<const std::byte> table = export_->table;
    const bool inFile = table.size() > wire::maxInlineTableBytes;
    std::vector<kmd::TravelFd> fds;
    uint32_t most = wire::maxFdsPerMessage;
    if (inFile) {
        if (const auto taken = takeTableFile(); !taken) {
            log(LogLevel::Warn, "table of an export: {}", taken.error().message);
            prepareError(wire::ReplyStatus::Exhausted);
            return;
        }
        fds.push_back(kmd::TravelFd::borrow(tableFile_->get()));
        --most;
    }
    auto objects = makeDescriptors(0, std::min(request.count, most));
    // None now is no error here: the importer asks again, when more may be free.
    const auto count = static_cast<uint32_t>(objects.size());
    std::ranges::move(objects, std::back_inserter(fds));
    reply_ = wire::encodeReply({.status = wire::ReplyStatus::Ok,
                                .tableInFile = inFile,
                                .first = 0,
                                .fdCount = count,
                                .tableBytes = table.size()},
                               inFile ? std::span<const std::byte>() : table);
    replyFds_ = std::move(fds);
}

void Connection::prepareFetch(const wire::Request &request) {
    if (export_ == nullptr || request.first >= export_->objects.size()) {
        prepareError(wire::ReplyStatus::BadRequest);
        return;
    }
    auto fds = makeDescriptors(request.first, request.count);
    if (fds.empty()) {
        prepareError(wire::ReplyStatus::Exhausted);
        return;
    }
    reply_ = wire::encodeReply({.status = wire::ReplyStatus::Ok,
                                .first = request.first,
                                .fdCount = static_cast<uint32_t>(fds.size())},
                               {});
    replyFds_ = std::move(fds);
}

Result<void> Connection::takeTableFile() {
    tableFile_ = export_->tableFile.lock();
    if (tableFile_ == nullptr) {
        auto file = makeTableFile(os_, export_->table);
        if (!file) {
            return forward(file);
        }
        tableFile_ = std::make_shared<const UniqueFd>(std::move(*file));
        export_->tableFile = tableFile_;
    }
    return {};
}

std::vector<kmd::TravelFd> Connection::makeDescriptors(uint32_t first, uint32_t count) {
    const uint64_t left = export_->objects.size() - first;
    const uint64_t most = std::min<uint64_t>({count, left, descriptorBatch(os_)});
    std::vector<kmd::TravelFd> fds;
    fds.reserve(most);
    while (fds.size() < most) {
        const ExportedObject &object = export_->objects[first + fds.size()];
        auto fd = object.backing->exportDescriptor(object.extents);
        if (!fd) {
            log(LogLevel::Info, "descriptor of an exported object: {}", fd.error().message);
            // The application needs descriptors too: give half of what we took back.
            const auto keep = static_cast<ptrdiff_t>((fds.size() + 1) / 2);
            fds.erase(fds.begin() + keep, fds.end());
            break;
        }
        fds.push_back(std::move(*fd));
    }
    return fds;
}

} // namespace causeway::ipc
