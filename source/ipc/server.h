#pragma once

#include "shared/base/mutex.h"
#include "shared/os/fork.h"
#include "shared/os/os.h"
#include "source/ipc/connection.h"
#include "source/ipc/export_table.h"
#include "source/ipc/ipc_config.h"
#include "source/ipc/rendezvous.h"
#include "source/ipc/socket_folder.h"

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
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
/// Threads: start(), id(), dropFinished() and removeSocketFile() from any; the rest belongs to the
/// server's own thread, which holds `working_` but when it waits. A fork waits for it to wait; the
/// child closes every socket: else one that outlives the exporter would keep peers waiting that it
/// never answers. Failure policy: what goes wrong with a connection ends that connection; when
/// descriptors run out, or every connection is at work, the doors rest and are retried by timer.
/// Nothing ends the thread but the destructor.
class Server final : ForkWatcher {
  public:
    /// `config` outlives this.
    Server(Os &os, const ExportTable &exports, kmd::Backend &backend, const IpcConfig &config);
    ~Server();
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;

    /// What a handle tells of the server.
    struct Identity {
        uint64_t id = 0;       ///< names its socket
        int rendezvousFd = -1; ///< the number of the rendezvous's kept end
    };

    /// Starts the server if it does not run yet.
    /// Errors: OutOfHostMemory (descriptors, thread), and then nothing is left of the start.
    Result<Identity> start();

    /// 0 before the first export.
    [[nodiscard]] uint64_t id() const { return id_.load(std::memory_order_acquire); }

    /// Ends the conversations whose peers have hung up, which its thread would see a moment later:
    /// their exports' memory is free when this returns.
    void dropFinished();

    /// Takes the name of the socket file away, where there is one.
    void removeSocketFile() noexcept;

  private:
    struct Sockets {
        UniqueFd listener;
        UniqueFd folderListener; ///< none without CAUSEWAY_IPC_DIR, or where it cannot be used
        Rendezvous rendezvous;
        UniqueFd epoll;
        UniqueFd wake;
        uint64_t id = 0;

        void close();
    };

    struct Client {
        Connection connection;
        Connection::Clock::time_point admitted;
        Connection::State state = Connection::State::Reading;
    };

    void beforeFork() noexcept override;
    void afterForkInParent() noexcept override;
    void afterForkInChild() noexcept override;

    Result<void> startLocked() REQUIRES(startMutex_);
    Result<Sockets> openSockets();
    Result<void> nameSockets(Sockets &sockets);
    UniqueFd listenInFolder(uint64_t id) REQUIRES(startMutex_);
    Result<void> watch(const Sockets &sockets);
    void run();
    [[nodiscard]] OsResult<size_t> wait(std::span<epoll_event> events);
    void serve(std::span<const epoll_event> events) REQUIRES(working_);
    void waitFailed(Errno error);
    [[nodiscard]] int doorOf(uint64_t key) const REQUIRES(working_);
    void setDoors(uint32_t events) REQUIRES(working_);
    void admitAll(uint64_t door) REQUIRES(working_);
    [[nodiscard]] OsResult<UniqueFd> nextAt(uint64_t door) REQUIRES(working_);
    void admit(UniqueFd socket) REQUIRES(working_);
    bool makeRoom() REQUIRES(working_);
    void onEvent(uint64_t key) REQUIRES(working_);
    void advance(uint64_t key, Client &client) REQUIRES(working_);
    [[nodiscard]] static Connection::State advanceOrEnd(Connection &connection);
    void expire() REQUIRES(working_);
    void close(uint64_t key) REQUIRES(working_);
    [[nodiscard]] bool isFull() REQUIRES(working_);
    [[nodiscard]] std::chrono::milliseconds nextTimeout() REQUIRES(working_);
    [[nodiscard]] size_t connectionLimit();

    Os &os_;
    const ExportTable &exports_;
    kmd::Backend &backend_;
    const IpcConfig &config_;

    Mutex startMutex_;
    std::atomic<uint64_t> id_{0};
    std::atomic<int> rendezvousFd_{-1}; ///< set before id_
    std::atomic<bool> stopping_{false};
    std::thread thread_ GUARDED_BY(startMutex_);
    std::optional<SocketFolder> folder_ GUARDED_BY(startMutex_);

    Mutex working_;
    Sockets sockets_ GUARDED_BY(working_);                    ///< set once, by start()
    std::map<uint64_t, Client> clients_ GUARDED_BY(working_); ///< by key, which grow: oldest first
    uint64_t nextKey_ GUARDED_BY(working_);
    bool doorsRest_ GUARDED_BY(working_) = false;
    bool waitFailureLogged_ = false; ///< the thread's own
    bool atRest_ = false;            ///< of the thread that forks: beforeFork() has both locks
    const ForkWatch watch_{*this};   ///< last: forks find a whole server
};

} // namespace causeway::ipc
