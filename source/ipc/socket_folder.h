#pragma once

#include "shared/os/os.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace causeway::ipc {

/// Socket files for processes that do not share a network namespace: below CAUSEWAY_IPC_DIR, which
/// may be writable for everybody, each user has a folder of his own, `<uid>`, with mode 0700, and
/// in it each server a socket that is named after its id. The folder is judged once by its
/// descriptor, through which all else is done, so that nobody can put another in its place.
///
/// A socket gets its name only when it listens. So a named one that refuses a connection is dead
/// for good, and nobody's who lives is ever removed. One thread at a time.
class SocketFolder {
  public:
    /// The user's folder below `root`. Errors: InvalidArgument (there is none, or it is not a
    /// folder of ours that is closed to others), OutOfHostMemory.
    static Result<SocketFolder> find(Os &os, const std::string &root);

    /// The same; makes it where it is missing. Errors: also what mkdir says.
    static Result<SocketFolder> make(Os &os, const std::string &root);

    /// Listens under that id. Errors: what bind and rename say.
    Result<UniqueFd> listen(uint64_t serverId, int backlog);

    /// Connects to that server. An errno, for the caller to judge.
    OsResult<UniqueFd> connect(uint64_t serverId, std::chrono::milliseconds timeout);

    /// Takes the name of a server of this process away.
    void remove(uint64_t serverId) noexcept;

    /// Removes the sockets of servers that are gone, some hundred at most. What is no socket of
    /// ours stays.
    void removeDead() noexcept;

  private:
    SocketFolder(Os &os, UniqueFd folder) : os_(&os), folder_(std::move(folder)) {}

    [[nodiscard]] bool isDead(const std::string &name);

    Os *os_;
    UniqueFd folder_;
};

} // namespace causeway::ipc
