#pragma once

#include "shared/os/os.h"
#include "shared/wire/messages.h"

#include <chrono>
#include <vector>

namespace causeway::ipc {

/// The importer's end of one conversation with an exporter's server. The timeout bounds the connect
/// and then each wait for an answer anew, so that a long range may take long as long as it makes
/// progress. Used by one thread; holds no lock.
class Conversation {
  public:
    using Clock = std::chrono::steady_clock;

    /// Errors: InvalidArgument (nobody listens under that id, or the exporter died),
    /// InsufficientPermissions (another user's), NotAvailable (deadline), OutOfHostMemory.
    static Result<Conversation> connect(Os &os,
                                        uint64_t serverId,
                                        std::chrono::milliseconds timeout);

    Result<void> send(const wire::Request &request);

    struct Answer {
        wire::Reply header;
        std::vector<std::byte> inlineTable;
        std::vector<UniqueFd> fds; ///< at most what the header promises; fewer where truncated
        bool truncated = false;    ///< this process had no descriptors left for the rest
    };

    /// The next reply, judged: a status other than Ok is an error here.
    Result<Answer> receive();

  private:
    Conversation(Os &os, UniqueFd socket, UniqueFd process, std::chrono::milliseconds timeout)
        : os_(os)
        , socket_(std::move(socket))
        , process_(std::move(process))
        , timeout_(timeout)
        , deadline_(os.now() + timeout) {}

    Result<void> wait(short events);
    Result<ReceivedMessage> receiveMessage();

    Os &os_;
    UniqueFd socket_;
    UniqueFd process_; ///< pidfd of the exporter, where there is one: its death ends every wait
    std::chrono::milliseconds timeout_;
    Clock::time_point deadline_;
    std::vector<std::byte> buffer_;
};

} // namespace causeway::ipc
