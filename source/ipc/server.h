#pragma once

#include "shared/base/mutex.h"
#include "shared/os/os.h"
#include "source/ipc/connection.h"
#include "source/ipc/export_table.h"

#include <atomic>
#include <chrono>
#include <map>
#include <span>
#include <string>
#include <thread>

namespace causeway::ipc {

/// The abstract socket name of the server with this id.
[[nodiscard]] std::string serverName(uint64_t serverId);

/// Whether the process at the other end is one of ours: the same user, and not the overflow uid
/// that stands for every user whom this user namespace does not know.
[[nodiscard]] bool isTrustedPeer(Os &os, const PeerCredentials &peer);

/// Serves this process's exports to other processes: one thread, started by the first export. A
/// peer that is silent, slow or hostile is dropped at its deadline and delays nobody.
///
/// Threads: start() and id() from any; everything else belongs to the server's own thread.
/// Failure policy: what goes wrong with a connection ends that connection; when descriptors run
/// out, or every connection is at work, the listener rests and is retried by timer. Nothing ends
/// the thread but the destructor.
class Server {
  public:
    Server(Os &os,
           const ExportTable &exports,
           kmd::Backend &backend,
           std::chrono::milliseconds patience);
    ~Server();
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;

    /// Starts the server if it does not run yet and returns its id, which names its socket.
    /// Errors: OutOfHostMemory (descriptors, thread), and then nothing is left of the start;
    /// UnsupportedFeature in a forked child of a process that had started it.
    Result<uint64_t> start();

    /// 0 before the first export, and in a forked child, whose copy of this serves nobody.
    [[nodiscard]] uint64_t id() const;

  private:
    struct Sockets {
        UniqueFd listener;
        UniqueFd epoll;
        UniqueFd wake;
        uint64_t id = 0;
    };

    struct Client {
        Connection connection;
        Connection::Clock::time_point admitted;
        Connection::State state = Connection::State::Reading;
    };

    Result<Sockets> openSockets();
    void run();
    void serve(std::span<epoll_event> events);
    void waitFailed(Errno error);
    void armListener();
    void restListener();
    void acceptAll();
    void admit(UniqueFd socket);
    bool makeRoom();
    void onEvent(uint64_t key);
    void advance(uint64_t key, Client &client);
    [[nodiscard]] static Connection::State advanceOrEnd(Connection &connection);
    void expire();
    void close(uint64_t key);
    [[nodiscard]] bool isFull();
    [[nodiscard]] std::chrono::milliseconds nextTimeout();
    [[nodiscard]] size_t connectionLimit();

    Os &os_;
    const ExportTable &exports_;
    kmd::Backend &backend_;
    const std::chrono::milliseconds patience_;

    Mutex startMutex_;
    std::atomic<uint64_t> id_{0};
    std::atomic<pid_t> process_{0}; ///< that start() was called in; set before id_
    std::atomic<bool> stopping_{false};
    std::thread thread_ GUARDED_BY(startMutex_);

    // Set by start() before the thread exists, then the thread's alone.
    Sockets sockets_;
    std::map<uint64_t, Client> clients_; ///< by key; keys grow, so the first is the oldest
    uint64_t nextKey_ = 0;
    bool listenerRests_ = false;
    bool waitFailureLogged_ = false;
};

} // namespace causeway::ipc
