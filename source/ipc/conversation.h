#pragma once

#include "shared/os/os.h"
#include "shared/wire/messages.h"

#include <chrono>
#include <vector>

namespace causeway::ipc {

/// The importer's end of one conversation with an exporter's server. The timeout bounds each wait
/// for an answer anew, so that a long range may take long as long as it makes progress; a budget
/// bounds the whole. Used by one thread; holds no lock.
class Conversation {
  public:
    using Clock = std::chrono::steady_clock;

    /// Over a connected socket whose other end is known to be trusted. `process`: a pidfd of the
    /// exporter, where there is one: its death ends every wait.
    Conversation(Os &os, UniqueFd socket, UniqueFd process, std::chrono::milliseconds timeout)
        : os_(os)
        , socket_(std::move(socket))
        , process_(std::move(process))
        , timeout_(timeout)
        , deadline_(os.now() + timeout) {}

    /// Over a socket that was connected to a name, which anybody may have taken.
    /// Errors: InsufficientPermissions (another user's server), InvalidArgument (it has exited: the
    /// socket is a child's that it forked), OutOfHostMemory.
    static Result<Conversation> over(Os &os, UniqueFd socket, std::chrono::milliseconds timeout);

    /// From now on; without, the timeouts alone hold.
    void setBudget(std::chrono::milliseconds budget) { end_ = os_.now() + budget; }

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
    Result<void> wait(short events);
    Result<ReceivedMessage> receiveMessage();

    Os &os_;
    UniqueFd socket_;
    UniqueFd process_;
    std::chrono::milliseconds timeout_;
    Clock::time_point deadline_;
    Clock::time_point end_ = Clock::time_point::max();
    std::vector<std::byte> buffer_;
};

/// Errors: InsufficientPermissions where the socket's other end was made by another user.
[[nodiscard]] Result<void> requireTrustedServer(Os &os, int fd);

} // namespace causeway::ipc
