#include "source/ipc/conversation.h"

#include "source/ipc/server.h"

#include <algorithm>
#include <array>
#include <cerrno>

namespace causeway::ipc {
namespace {

std::unexpected<Error> exporterGone() {
    return fail(Status::InvalidArgument, "the exporting process has gone");
}

Result<void> judge(wire::ReplyStatus status) {
    switch (status) {
    case wire::ReplyStatus::Ok:
        return {};
    case wire::ReplyStatus::UnknownToken:
        return fail(Status::InvalidArgument, "the exporter no longer shares this handle");
    case wire::ReplyStatus::UnsupportedVersion:
        return fail(Status::UnsupportedVersion, "the exporter speaks another protocol version");
    case wire::ReplyStatus::Exhausted:
        return fail(Status::OutOfHostMemory, "the exporter has no descriptor left to share with");
    case wire::ReplyStatus::BadRequest:
    case wire::ReplyStatus::Failed:
        break;
    }
    return fail(Status::InvalidArgument,
                "the exporter refused the request (status {})",
                static_cast<unsigned>(status));
}

} // namespace

Result<void> requireTrustedServer(Os &os, int fd) {
    const auto peer = os.peerCredentials(fd);
    if (!peer) {
        return failWith(peer.error(), "credentials of the exporter");
    }
    if (!isTrustedPeer(os, *peer)) {
        return fail(Status::InsufficientPermissions,
                    "the socket is served by user {}, this process runs as user {}",
                    peer->uid,
                    os.userId());
    }
    return {};
}

Result<Conversation> Conversation::over(Os &os,
                                        UniqueFd socket,
                                        std::chrono::milliseconds timeout) {
    if (auto trusted = requireTrustedServer(os, socket.get()); !trusted) {
        return forward(trusted);
    }
    auto process = os.peerProcess(socket.get());
    if (!process && process.error().value == ENOPROTOOPT) { // Linux 6.4 and earlier
        const auto peer = os.peerCredentials(socket.get());
        process = os.openProcess(peer ? peer->pid : 0);
    }
    if (!process && process.error().value == ESRCH) {
        return exporterGone(); // a child that it forked keeps the socket, but serves nobody
    }
    // Not everywhere to be had; without it the closing socket still tells of most deaths.
    return Conversation(os, std::move(socket), process ? std::move(*process) : UniqueFd(), timeout);
}

Result<void> Conversation::wait(short events) {
    for (;;) {
        const auto until = std::min(deadline_, end_);
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - os_.now());
        if (left.count() <= 0) {
            return fail(Status::NotAvailable, "the exporter did not answer in time");
        }
        std::array<pollfd, 2> fds = {pollfd{socket_.get(), events, 0},
                                     pollfd{process_.get(), POLLIN, 0}};
        const auto ready = os_.poll(std::span(fds).first(process_.valid() ? 2 : 1), left);
        if (!ready) {
            if (ready.error().value == EINTR) {
                continue;
            }
            return failWith(ready.error(), "waiting for the exporter");
        }
        if (fds[0].revents != 0) {
            return {};
        }
        if (fds[1].revents != 0) {
            return exporterGone();
        }
    }
}

Result<void> Conversation::send(const wire::Request &request) {
    const wire::RequestBytes bytes = wire::encodeRequest(request);
    for (;;) {
        const auto sent = os_.sendMessage(socket_.get(), bytes, {});
        if (sent) {
            return {};
        }
        if (sent.error().value == EPIPE || sent.error().value == ECONNRESET) {
            return exporterGone();
        }
        if (sent.error().value != EAGAIN) {
            return failWith(sent.error(), "sending a request to the exporter");
        }
        if (auto ready = wait(POLLOUT); !ready) {
            return ready;
        }
    }
}

Result<ReceivedMessage> Conversation::receiveMessage() {
    buffer_.resize(wire::maxReplyBytes);
    for (;;) {
        auto message = os_.receiveMessage(socket_.get(), buffer_, wire::maxFdsPerMessage);
        if (message) {
            if (message->sizeBytes == 0) {
                return exporterGone();
            }
            deadline_ = os_.now() + timeout_;
            return std::move(*message);
        }
        if (message.error().value == ECONNRESET) {
            return exporterGone();
        }
        if (message.error().value != EAGAIN) {
            return failWith(message.error(), "receiving from the exporter");
        }
        if (auto ready = wait(POLLIN); !ready) {
            return forward(ready);
        }
    }
}

Result<Conversation::Answer> Conversation::receive() {
    auto message = receiveMessage();
    if (!message) {
        return forward(message);
    }
    if (message->bytesTruncated) {
        return fail(Status::InvalidArgument, "the exporter sent an overlong reply");
    }
    const auto reply = wire::decodeReply(std::span(buffer_).first(message->sizeBytes));
    if (!reply) {
        return fail(reply.error().status, "reply of the exporter: {}", reply.error().message);
    }
    if (auto accepted = judge(reply->header.status); !accepted) {
        return forward(accepted);
    }
    const size_t promised = reply->header.fdCount + (reply->header.tableInFile ? 1U : 0U);
    if (message->fds.size() > promised ||
        (message->fds.size() < promised && !message->fdsTruncated)) {
        return fail(Status::InvalidArgument,
                    "the exporter promised {} descriptors and sent {}",
                    promised,
                    message->fds.size());
    }
    return Answer{.header = reply->header,
                  .inlineTable = {reply->inlineTable.begin(), reply->inlineTable.end()},
                  .fds = std::move(message->fds),
                  .truncated = message->fdsTruncated};
}

} // namespace causeway::ipc
