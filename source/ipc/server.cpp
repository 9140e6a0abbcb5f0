#include "source/ipc/server.h"

#include "shared/base/log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace causeway::ipc {
namespace {

constexpr uint64_t listenerKey = 0;
constexpr uint64_t folderKey = 1;
constexpr uint64_t rendezvousKey = 2;
constexpr std::array<uint64_t, 3> doorKeys = {listenerKey, folderKey, rendezvousKey};
constexpr uint64_t wakeKey = 3;
constexpr uint64_t firstClientKey = 4;

constexpr int backlog = 128;
constexpr size_t mostConnections = 256;
constexpr uid_t overflowUid = 65534;

// A retry costs a system call; 1 ms keeps an importer's wait short and this thread idle.
constexpr std::chrono::milliseconds retryInterval{1};
constexpr std::chrono::milliseconds restOfDoors{10};

// How often, a millisecond apart, a fork asks whether the thread is at rest: it is soon, unless a
// memory allocator that locked itself for the fork makes it wait for us.
constexpr int mostTriesOfAFork = 1000;

// An importer asks as soon as it has connected; who has not by then can be turned away for another.
constexpr std::chrono::milliseconds graceOfNewcomers{100};

uint32_t eventsFor(Connection::State state) {
    switch (state) {
    case Connection::State::Reading:
        return EPOLLIN;
    case Connection::State::Writing:
        return EPOLLOUT;
    case Connection::State::Retrying:
    case Connection::State::Done:
        break;
    }
    return 0; // hang-ups are reported all the same
}

} // namespace

std::string serverName(uint64_t serverId) {
    return fmt::format("causeway-ipc-{:016x}", serverId);
}

bool isTrustedPeer(Os &os, const PeerCredentials &peer) {
    return peer.uid == os.userId() && peer.uid != overflowUid;
}

Server::Server(Os &os, const ExportTable &exports, kmd::Backend &backend, const IpcConfig &config)
    : os_(os), exports_(exports), backend_(backend), config_(config), nextKey_(firstClientKey) {}

Server::~Server() {
    const MutexLock lock(startMutex_);
    if (!thread_.joinable()) {
        return;
    }
    stopping_ = true;
    {
        const MutexLock atWork(working_);
        if (const auto woken = os_.eventSignal(sockets_.wake.get()); !woken) {
            log(LogLevel::Debug, "waking the ipc server: errno {}", woken.error().value);
        }
    }
    thread_.join();
    if (folder_) {
        folder_->remove(id());
    }
}

void Server::removeSocketFile() noexcept {
    const MutexLock lock(startMutex_);
    if (folder_) {
        folder_->remove(id());
    }
}

void Server::dropFinished() {
    const MutexLock lock(working_);
    for (auto it = clients_.begin(); it != clients_.end();) {
        auto &[key, client] = *it++;
        if (client.state == Connection::State::Reading) {
            advance(key, client);
        }
    }
}

void Server::Sockets::close() {
    *this = Sockets();
}

void Server::beforeFork() noexcept NO_THREAD_SAFETY_ANALYSIS {
    atRest_ = false;
    for (int i = 0; i < mostTriesOfAFork && !atRest_; ++i) {
        if (i > 0) {
            std::this_thread::sleep_for(retryInterval);
        }
        atRest_ = startMutex_.tryLock();
        if (atRest_ && !working_.tryLock()) {
            startMutex_.unlock();
            atRest_ = false;
        }
    }
}

void Server::afterForkInParent() noexcept NO_THREAD_SAFETY_ANALYSIS {
    if (atRest_) {
        working_.unlock();
        startMutex_.unlock();
    }
}

/// Without the rest, the map of the clients may be in no state to be read. What stays open then are
/// conversations, which end at their peers' deadlines.
void Server::afterForkInChild() noexcept NO_THREAD_SAFETY_ANALYSIS {
    sockets_.close();
    if (atRest_) {
        for (auto &[key, client] : clients_) {
            client.connection.abandon();
        }
        working_.unlock();
        startMutex_.unlock();
    }
}

/// The abstract socket, and what else leads here.
Result<void> Server::nameSockets(Sockets &sockets) {
    // A squatter who guessed 64 random bits gains nothing: take others.
    for (int attempt = 0; !sockets.listener.valid(); ++attempt) {
        if (const auto random = os_.randomBytes(std::as_writable_bytes(std::span(&sockets.id, 1)));
            !random) {
            return failWith(random.error(), "getrandom for a server id");
        }
        auto listener = os_.listenAbstract(serverName(sockets.id), backlog);
        if (listener && sockets.id != 0) {
            sockets.listener = std::move(*listener);
        } else if (!listener && (listener.error().value != EADDRINUSE || attempt == 4)) {
            return failWith(listener.error(), "listening for importers");
        }
    }
    auto rendezvous = makeRendezvous(os_, sockets.id);
    if (!rendezvous) {
        return forward(rendezvous);
    }
    sockets.rendezvous = std::move(*rendezvous);
    return {};
}

/// The folder is one way of several: without it, the others are there.
UniqueFd Server::listenInFolder(uint64_t id) {
    auto folder = SocketFolder::make(os_, config_.folder);
    if (folder) {
        folder->removeDead();
    }
    auto socket = folder ? folder->listen(id, backlog) : Result<UniqueFd>(forward(folder));
    if (!socket) {
        log(LogLevel::Warn, "CAUSEWAY_IPC_DIR is not used: {}", socket.error().message);
        return {};
    }
    folder_ = std::move(*folder);
    return std::move(*socket);
}

Result<void> Server::watch(const Sockets &sockets) {
    const auto add = [&](int fd, uint64_t key) -> OsResult<void> {
        return os_.epollControl(sockets.epoll.get(), EPOLL_CTL_ADD, fd, EPOLLIN, key);
    };
    auto added = add(sockets.listener.get(), listenerKey);
    if (added) {
        added = add(sockets.rendezvous.served.get(), rendezvousKey);
    }
    if (added) {
        added = add(sockets.wake.get(), wakeKey);
    }
    if (added && sockets.folderListener.valid()) {
        added = add(sockets.folderListener.get(), folderKey);
    }
    if (!added) {
        return failWith(added.error(), "epoll_ctl of the ipc server");
    }
    return {};
}

Result<Server::Sockets> Server::openSockets() {
    Sockets sockets;
    if (auto named = nameSockets(sockets); !named) {
        return forward(named);
    }
    auto epoll = os_.epollCreate();
    if (!epoll) {
        return failWith(epoll.error(), "epoll_create1 of the ipc server");
    }
    auto wake = os_.eventCreate();
    if (!wake) {
        return failWith(wake.error(), "eventfd of the ipc server");
    }
    sockets.epoll = std::move(*epoll);
    sockets.wake = std::move(*wake);
    return sockets;
}

Result<Server::Identity> Server::start() {
    if (id() == 0) {
        const MutexLock lock(startMutex_);
        if (auto started = startLocked(); !started) {
            return forward(started);
        }
    }
    return Identity{.id = id(), .rendezvousFd = rendezvousFd_.load(std::memory_order_relaxed)};
}

Result<void> Server::startLocked() {
    if (id() != 0) {
        return {}; // another thread was faster
    }
    auto sockets = openSockets();
    if (!sockets) {
        return forward(sockets);
    }
    if (!config_.folder.empty()) {
        sockets->folderListener = listenInFolder(sockets->id);
    }
    const uint64_t id = sockets->id;
    auto begun = watch(*sockets);
    if (begun) {
        const MutexLock atWork(working_);
        rendezvousFd_.store(sockets->rendezvous.kept.get(), std::memory_order_relaxed);
        sockets_ = std::move(*sockets);
        auto thread = os_.startThread("causeway-ipc", [this] { run(); });
        if (thread) {
            thread_ = std::move(*thread);
            id_.store(id, std::memory_order_release);
            return {};
        }
        sockets_.close();
        begun = failWith(thread.error(), "starting the ipc server's thread");
    }
    if (folder_) {
        folder_->remove(id);
        folder_.reset();
    }
    return begun;
}

size_t Server::connectionLimit() {
    return std::clamp<size_t>(os_.descriptorLimit() / 4, 1, mostConnections);
}

std::chrono::milliseconds Server::nextTimeout() {
    using std::chrono::milliseconds;
    auto next = doorsRest_ ? restOfDoors : milliseconds(-1);
    const auto now = os_.now();
    for (const auto &[key, client] : clients_) {
        auto left = std::chrono::ceil<milliseconds>(client.connection.deadline() - now);
        left = std::max(left, milliseconds(0));
        if (client.state == Connection::State::Retrying) {
            left = std::min(left, retryInterval);
        }
        next = next < milliseconds(0) ? left : std::min(next, left);
    }
    return next;
}

void Server::run() {
    std::array<epoll_event, 64> events = {};
    while (!stopping_) {
        try {
            const auto ready = wait(events);
            if (!ready && ready.error().value != EINTR) {
                waitFailed(ready.error());
            }
            const MutexLock lock(working_);
            serve(std::span(events).first(ready ? *ready : 0));
        } catch (...) { // NOLINT(bugprone-empty-catch)
            // Out of memory, as a rule. What was being accepted is closed by now. Memory may be
            // back at the next event; the application, in whose process this thread is a guest,
            // goes on.
        }
    }
}

OsResult<size_t> Server::wait(std::span<epoll_event> events) {
    int epoll = -1;
    auto timeout = restOfDoors;
    {
        const MutexLock lock(working_);
        epoll = sockets_.epoll.get();
        timeout = nextTimeout();
    }
    return os_.epollWait(epoll, events, timeout);
}

void Server::serve(std::span<const epoll_event> events) {
    if (doorsRest_) {
        setDoors(EPOLLIN); // there may be a descriptor to admit a newcomer with again
    }
    for (const epoll_event &event : events) {
        const uint64_t key = event.data.u64;
        if (key >= firstClientKey) {
            onEvent(key);
        } else if (key != wakeKey) {
            admitAll(key);
        }
    }
    expire();
}

/// No such failure is known that lasts; should one, this thread must not spin.
void Server::waitFailed(Errno error) {
    if (!std::exchange(waitFailureLogged_, true)) {
        log(LogLevel::Error, "{}", describe(error, "epoll_wait of the ipc server").message);
    }
    static_cast<void>(os_.poll({}, restOfDoors));
}

int Server::doorOf(uint64_t key) const {
    switch (key) {
    case listenerKey:
        return sockets_.listener.get();
    case folderKey:
        return sockets_.folderListener.get();
    default:
        return sockets_.rendezvous.served.get();
    }
}

/// EPOLLIN opens the doors. 0 leaves newcomers outside, who keep a level-triggered door ready.
void Server::setDoors(uint32_t events) {
    bool done = true;
    for (const uint64_t key : doorKeys) {
        const int door = doorOf(key);
        if (door >= 0) {
            done = os_.epollControl(sockets_.epoll.get(), EPOLL_CTL_MOD, door, events, key)
                       .has_value() &&
                   done;
        }
    }
    // What could not be opened is tried again; what could not be closed comes back by itself.
    doorsRest_ = events == 0 || !done;
}

void Server::admitAll(uint64_t door) {
    // Bounded: a flood of connects must not keep the conversations waiting.
    for (int i = 0; i < backlog; ++i) {
        if (isFull() && !makeRoom()) {
            setDoors(0); // all are at work: a newcomer waits rather than being turned away
            return;
        }
        auto socket = nextAt(door);
        if (socket) {
            admit(std::move(*socket));
            continue;
        }
        if (socket.error().value == EPIPE) {
            // Somebody with a duplicate of the other end has shut it down. The other doors stay.
            static_cast<void>(
                os_.epollControl(sockets_.epoll.get(), EPOLL_CTL_DEL, doorOf(door), 0, door));
            sockets_.rendezvous.served.reset();
        } else if (socket.error().value != EAGAIN && socket.error().value != ECONNABORTED) {
            setDoors(0); // EMFILE and its like
        }
        return;
    }
}

OsResult<UniqueFd> Server::nextAt(uint64_t door) {
    return door == rendezvousKey ? takeNewcomer(os_, sockets_.rendezvous.served.get())
                                 : os_.accept(doorOf(door));
}

void Server::admit(UniqueFd socket) {
    // At the rendezvous anything can be left; what is no socket has no credentials.
    const auto peer = os_.peerCredentials(socket.get());
    if (!peer || !isTrustedPeer(os_, *peer)) {
        return; // closed, and counted for nothing
    }
    const uint64_t key = nextKey_++;
    const int fd = socket.get();
    const auto [client, isNew] = clients_.emplace(
        key,
        Client{.connection = Connection(os_, exports_, std::move(socket), config_.timeout),
               .admitted = os_.now()});
    if (!os_.epollControl(sockets_.epoll.get(), EPOLL_CTL_ADD, fd, EPOLLIN, key)) {
        clients_.erase(client);
    }
}

bool Server::isFull() {
    return clients_.size() >= connectionLimit();
}

/// Turns away the oldest peer that has shown no valid token in its time. False if there is none.
bool Server::makeRoom() {
    const auto latest = os_.now() - graceOfNewcomers;
    for (auto it = clients_.begin(); it != clients_.end() && it->second.admitted <= latest;) {
        const uint64_t key = it->first;
        Client &client = (it++)->second;
        if (client.connection.authorised()) {
            continue;
        }
        // Not its fault if it is this thread that was late: its request may be there.
        if (client.state == Connection::State::Reading) {
            advance(key, client);
        }
        const auto still = clients_.find(key);
        if (still == clients_.end()) {
            return true;
        }
        if (!still->second.connection.authorised()) {
            close(key);
            return true;
        }
    }
    return false;
}

void Server::onEvent(uint64_t key) {
    const auto it = clients_.find(key);
    if (it == clients_.end()) {
        return; // closed earlier in this round
    }
    if (it->second.state == Connection::State::Retrying) {
        // Nothing is asked for then, so this is a hang-up, which would be reported without end.
        close(key);
        return;
    }
    advance(key, it->second);
}

Connection::State Server::advanceOrEnd(Connection &connection) {
    try {
        return connection.advance();
    } catch (...) {
        return Connection::State::Done;
    }
}

void Server::advance(uint64_t key, Client &client) {
    const Connection::State before = client.state;
    client.state = advanceOrEnd(client.connection);
    if (client.state == Connection::State::Done) {
        close(key);
        return;
    }
    if (client.state == before) {
        return;
    }
    const auto changed = os_.epollControl(
        sockets_.epoll.get(), EPOLL_CTL_MOD, client.connection.fd(), eventsFor(client.state), key);
    if (!changed) {
        close(key);
    }
}

void Server::expire() {
    const auto now = os_.now();
    for (auto it = clients_.begin(); it != clients_.end();) {
        auto &[key, client] = *it++;
        if (client.connection.deadline() <= now) {
            close(key);
        } else if (client.state == Connection::State::Retrying) {
            advance(key, client);
        }
    }
}

void Server::close(uint64_t key) {
    const auto it = clients_.find(key);
    const bool held = it->second.connection.authorised();
    // A forked child may hold the socket: closing ours would not take it out of the epoll, and its
    // hang-up would be reported under this key for as long as the child lives.
    static_cast<void>(
        os_.epollControl(sockets_.epoll.get(), EPOLL_CTL_DEL, it->second.connection.fd(), 0, key));
    clients_.erase(it);
    if (held) {
        // A peer that is gone may have been the last to map a slot of a bank.
        backend_.reclaim();
    }
}

} // namespace causeway::ipc
