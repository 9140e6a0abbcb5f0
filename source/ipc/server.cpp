#include "source/ipc/server.h"

#include "shared/base/log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace causeway::ipc {
namespace {

constexpr uint64_t listenerKey = 0;
constexpr uint64_t wakeKey = 1;
constexpr uint64_t firstClientKey = 2;

constexpr int backlog = 128;
constexpr size_t mostConnections = 256;
constexpr uid_t overflowUid = 65534;

// A retry costs a system call; 1 ms keeps an importer's wait short and this thread idle.
constexpr std::chrono::milliseconds retryInterval{1};
constexpr std::chrono::milliseconds listenerRest{10};

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

Server::Server(Os &os,
               const ExportTable &exports,
               kmd::Backend &backend,
               std::chrono::milliseconds patience)
    : os_(os)
    , exports_(exports)
    , backend_(backend)
    , patience_(patience)
    , nextKey_(firstClientKey) {}

Server::~Server() {
    const MutexLock lock(startMutex_);
    if (!thread_.joinable()) {
        return;
    }
    stopping_ = true;
    if (const auto woken = os_.eventSignal(sockets_.wake.get()); !woken) {
        log(LogLevel::Debug, "waking the ipc server: errno {}", woken.error().value);
    }
    thread_.join();
}

Result<Server::Sockets> Server::openSockets() {
    Sockets sockets;
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
    auto epoll = os_.epollCreate();
    if (!epoll) {
        return failWith(epoll.error(), "epoll_create1 of the ipc server");
    }
    auto wake = os_.eventCreate();
    if (!wake) {
        return failWith(wake.error(), "eventfd of the ipc server");
    }
    auto added =
        os_.epollControl(epoll->get(), EPOLL_CTL_ADD, sockets.listener.get(), EPOLLIN, listenerKey);
    if (added) {
        added = os_.epollControl(epoll->get(), EPOLL_CTL_ADD, wake->get(), EPOLLIN, wakeKey);
    }
    if (!added) {
        return failWith(added.error(), "epoll_ctl of the ipc server");
    }
    sockets.epoll = std::move(*epoll);
    sockets.wake = std::move(*wake);
    return sockets;
}

uint64_t Server::id() const {
    const uint64_t id = id_.load(std::memory_order_acquire);
    return id != 0 && process_.load(std::memory_order_relaxed) == os_.processId() ? id : 0;
}

Result<uint64_t> Server::start() {
    if (const uint64_t running = id(); running != 0) {
        return running;
    }
    const MutexLock lock(startMutex_);
    if (const uint64_t running = id(); running != 0) {
        return running;
    }
    if (id_.load(std::memory_order_relaxed) != 0) {
        return fail(Status::UnsupportedFeature,
                    "this process was forked from one that shares memory, and cannot share any");
    }
    auto sockets = openSockets();
    if (!sockets) {
        return forward(sockets);
    }
    sockets_ = std::move(*sockets);
    auto thread = os_.startThread("causeway-ipc", [this] { run(); });
    if (!thread) {
        sockets_ = {};
        return failWith(thread.error(), "starting the ipc server's thread");
    }
    thread_ = std::move(*thread);
    process_.store(os_.processId(), std::memory_order_relaxed);
    id_.store(sockets_.id, std::memory_order_release);
    return sockets_.id;
}

size_t Server::connectionLimit() {
    return std::clamp<size_t>(os_.descriptorLimit() / 4, 1, mostConnections);
}

std::chrono::milliseconds Server::nextTimeout() {
    using std::chrono::milliseconds;
    auto next = listenerRests_ ? listenerRest : milliseconds(-1);
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
            serve(events);
        } catch (...) { // NOLINT(bugprone-empty-catch)
            // Out of memory, as a rule. What was being accepted is closed by now. Memory may be
            // back at the next event; the application, in whose process this thread is a guest,
            // goes on.
        }
    }
}

void Server::serve(std::span<epoll_event> events) {
    const auto ready = os_.epollWait(sockets_.epoll.get(), events, nextTimeout());
    if (!ready && ready.error().value != EINTR) {
        waitFailed(ready.error());
    }
    if (listenerRests_) {
        armListener();
    }
    for (const epoll_event &event : events.first(ready ? *ready : 0)) {
        if (event.data.u64 == listenerKey) {
            acceptAll();
        } else if (event.data.u64 >= firstClientKey) {
            onEvent(event.data.u64);
        }
    }
    expire();
}

/// No such failure is known that lasts; should one, this thread must not spin.
void Server::waitFailed(Errno error) {
    if (!std::exchange(waitFailureLogged_, true)) {
        log(LogLevel::Error, "{}", describe(error, "epoll_wait of the ipc server").message);
    }
    static_cast<void>(os_.poll({}, listenerRest));
}

/// Ends the listener's rest once there may be a descriptor to accept with again.
void Server::armListener() {
    const auto armed = os_.epollControl(
        sockets_.epoll.get(), EPOLL_CTL_MOD, sockets_.listener.get(), EPOLLIN, listenerKey);
    listenerRests_ = !armed;
}

/// Leaves peers in the queue, which keeps a level-triggered listener ready.
void Server::restListener() {
    const auto disarmed = os_.epollControl(
        sockets_.epoll.get(), EPOLL_CTL_MOD, sockets_.listener.get(), 0, listenerKey);
    listenerRests_ = disarmed.has_value();
}

void Server::acceptAll() {
    // Bounded: a flood of connects must not keep the conversations waiting.
    for (int i = 0; i < backlog; ++i) {
        if (isFull() && !makeRoom()) {
            restListener(); // all are at work: a newcomer waits rather than being turned away
            return;
        }
        auto socket = os_.accept(sockets_.listener.get());
        if (socket) {
            admit(std::move(*socket));
            continue;
        }
        if (socket.error().value != EAGAIN && socket.error().value != ECONNABORTED) {
            restListener(); // EMFILE and its like
        }
        return;
    }
}

void Server::admit(UniqueFd socket) {
    const auto peer = os_.peerCredentials(socket.get());
    if (!peer || !isTrustedPeer(os_, *peer)) {
        return; // closed, and counted for nothing
    }
    const uint64_t key = nextKey_++;
    const int fd = socket.get();
    const auto [client, isNew] = clients_.emplace(
        key,
        Client{.connection = Connection(os_, exports_, std::move(socket), patience_),
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
