#include "unit_tests/fakes/faulty_os.h"

namespace causeway::fakes {
namespace {

constexpr std::array<std::string_view, osCallCount> names = {
    "memfdCreate",     "truncate",
    "addSeals",        "seals",
    "fileInfo",        "fileSystemType",
    "fileName",        "duplicate",
    "reopen",          "readAt",
    "writeAt",         "punchHole",
    "lockForReading",  "isLockedByOthers",
    "reserveAddress",  "blankAddress",
    "mapFile",         "unmap",
    "protect",         "mapCount",
    "mapCountLimit",   "listenAbstract",
    "connectAbstract", "accept",
    "peerCredentials", "sendMessage",
    "receiveMessage",  "poll",
    "epollCreate",     "epollControl",
    "epollWait",       "eventCreate",
    "eventSignal",     "futexWait",
    "futexWake",       "openFolder",
    "openFolderAt",    "makeFolderAt",
    "fileInfoAt",      "listFolder",
    "renameAt",        "removeFileAt",
    "listenAt",        "connectAt",
    "socketPair",      "bindAbstract",
    "abstractName",    "peerProcess",
    "fetchDescriptor", "openProcess",
    "randomBytes",     "bootId",
    "startThread",
};

size_t indexOf(OsCall call) {
    return static_cast<size_t>(call);
}

} // namespace

std::string_view toString(OsCall call) {
    return names[indexOf(call)];
}

void FaultyOs::failAt(uint64_t k, int error) {
    const MutexLock lock(mutex_);
    plan_ = {.call = calls_ + k, .every = 0, .error = error};
}

void FaultyOs::failKindAt(OsCall kind, uint64_t k, int error) {
    const MutexLock lock(mutex_);
    const size_t index = indexOf(kind);
    plansOfKind_[index] = {.call = callsOfKind_[index] + k, .every = 0, .error = error};
}

void FaultyOs::failKind(OsCall kind, int error) {
    const MutexLock lock(mutex_);
    const size_t index = indexOf(kind);
    plansOfKind_[index] = {.call = callsOfKind_[index] + 1, .every = 1, .error = error};
}

void FaultyOs::failEvery(uint64_t n, int error) {
    const MutexLock lock(mutex_);
    plan_ = {.call = calls_ + n, .every = n, .error = error};
}

void FaultyOs::heal() {
    const MutexLock lock(mutex_);
    plan_ = {};
    plansOfKind_ = {};
}

uint64_t FaultyOs::calls() const {
    const MutexLock lock(mutex_);
    return calls_;
}

uint64_t FaultyOs::calls(OsCall kind) const {
    const MutexLock lock(mutex_);
    return callsOfKind_[indexOf(kind)];
}

uint64_t FaultyOs::faults() const {
    const MutexLock lock(mutex_);
    return faults_;
}

std::optional<OsCall> FaultyOs::lastFault() const {
    const MutexLock lock(mutex_);
    return lastFault_;
}

bool FaultyOs::hits(Plan &plan, uint64_t call) {
    if (plan.call != call) {
        return false;
    }
    plan.call = plan.every > 0 ? call + plan.every : 0;
    return true;
}

std::optional<Errno> FaultyOs::fault(OsCall kind) {
    const MutexLock lock(mutex_);
    Plan &ofKind = plansOfKind_[indexOf(kind)];
    ++calls_;
    ++callsOfKind_[indexOf(kind)];
    // Both are asked: a plan whose call has come is used up.
    const bool hit = hits(plan_, calls_);
    const bool hitKind = hits(ofKind, callsOfKind_[indexOf(kind)]);
    if (!hit && !hitKind) {
        return std::nullopt;
    }
    ++faults_;
    lastFault_ = kind;
    return Errno{hit ? plan_.error : ofKind.error};
}

template <typename Call>
auto FaultyOs::attempt(OsCall kind, Call call) -> decltype(call()) {
    if (const auto error = fault(kind)) {
        return std::unexpected(*error);
    }
    return call();
}

OsResult<UniqueFd> FaultyOs::memfdCreate(const std::string &name, unsigned flags) {
    return attempt(OsCall::MemfdCreate, [&] { return os_.memfdCreate(name, flags); });
}

OsResult<void> FaultyOs::truncate(int fd, uint64_t sizeBytes) {
    return attempt(OsCall::Truncate, [&] { return os_.truncate(fd, sizeBytes); });
}

OsResult<void> FaultyOs::addSeals(int fd, int seals) {
    return attempt(OsCall::AddSeals, [&] { return os_.addSeals(fd, seals); });
}

OsResult<int> FaultyOs::seals(int fd) {
    return attempt(OsCall::Seals, [&] { return os_.seals(fd); });
}

OsResult<FileInfo> FaultyOs::fileInfo(int fd) {
    return attempt(OsCall::FileInfo, [&] { return os_.fileInfo(fd); });
}

OsResult<int64_t> FaultyOs::fileSystemType(int fd) {
    return attempt(OsCall::FileSystemType, [&] { return os_.fileSystemType(fd); });
}

OsResult<std::string> FaultyOs::fileName(int fd) {
    return attempt(OsCall::FileName, [&] { return os_.fileName(fd); });
}

OsResult<UniqueFd> FaultyOs::duplicate(int fd) {
    return attempt(OsCall::Duplicate, [&] { return os_.duplicate(fd); });
}

OsResult<UniqueFd> FaultyOs::reopen(int fd, int flags) {
    return attempt(OsCall::Reopen, [&] { return os_.reopen(fd, flags); });
}

OsResult<size_t> FaultyOs::readAt(int fd, std::span<std::byte> bytes, uint64_t offset) {
    return attempt(OsCall::ReadAt, [&] { return os_.readAt(fd, bytes, offset); });
}

OsResult<size_t> FaultyOs::writeAt(int fd, std::span<const std::byte> bytes, uint64_t offset) {
    return attempt(OsCall::WriteAt, [&] { return os_.writeAt(fd, bytes, offset); });
}

OsResult<void> FaultyOs::punchHole(int fd, uint64_t offset, uint64_t sizeBytes) {
    return attempt(OsCall::PunchHole, [&] { return os_.punchHole(fd, offset, sizeBytes); });
}

OsResult<void> FaultyOs::lockForReading(int fd, uint64_t offset, uint64_t sizeBytes) {
    return attempt(OsCall::LockForReading,
                   [&] { return os_.lockForReading(fd, offset, sizeBytes); });
}

OsResult<bool> FaultyOs::isLockedByOthers(int fd, uint64_t offset, uint64_t sizeBytes) {
    return attempt(OsCall::IsLockedByOthers,
                   [&] { return os_.isLockedByOthers(fd, offset, sizeBytes); });
}

OsResult<uint64_t> FaultyOs::reserveAddress(uint64_t hint, uint64_t sizeBytes) {
    return attempt(OsCall::ReserveAddress, [&] { return os_.reserveAddress(hint, sizeBytes); });
}

OsResult<void> FaultyOs::blankAddress(uint64_t address, uint64_t sizeBytes) {
    return attempt(OsCall::BlankAddress, [&] { return os_.blankAddress(address, sizeBytes); });
}

OsResult<void> FaultyOs::mapFile(
    uint64_t address, uint64_t sizeBytes, Protection protection, int fd, uint64_t offset) {
    return attempt(OsCall::MapFile,
                   [&] { return os_.mapFile(address, sizeBytes, protection, fd, offset); });
}

OsResult<void> FaultyOs::unmap(uint64_t address, uint64_t sizeBytes) {
    return attempt(OsCall::Unmap, [&] { return os_.unmap(address, sizeBytes); });
}

OsResult<void> FaultyOs::protect(uint64_t address, uint64_t sizeBytes, Protection protection) {
    return attempt(OsCall::Protect, [&] { return os_.protect(address, sizeBytes, protection); });
}

OsResult<uint64_t> FaultyOs::mapCount() {
    return attempt(OsCall::MapCount, [&] { return os_.mapCount(); });
}

OsResult<uint64_t> FaultyOs::mapCountLimit() {
    return attempt(OsCall::MapCountLimit, [&] { return os_.mapCountLimit(); });
}

OsResult<UniqueFd> FaultyOs::listenAbstract(const std::string &name, int backlog) {
    return attempt(OsCall::ListenAbstract, [&] { return os_.listenAbstract(name, backlog); });
}

OsResult<UniqueFd> FaultyOs::connectAbstract(const std::string &name,
                                             std::chrono::milliseconds timeout) {
    return attempt(OsCall::ConnectAbstract, [&] { return os_.connectAbstract(name, timeout); });
}

OsResult<UniqueFd> FaultyOs::accept(int fd) {
    return attempt(OsCall::Accept, [&] { return os_.accept(fd); });
}

OsResult<PeerCredentials> FaultyOs::peerCredentials(int fd) {
    return attempt(OsCall::PeerCredentials, [&] { return os_.peerCredentials(fd); });
}

OsResult<void> FaultyOs::sendMessage(int fd,
                                     std::span<const std::byte> bytes,
                                     std::span<const int> fds) {
    return attempt(OsCall::SendMessage, [&] { return os_.sendMessage(fd, bytes, fds); });
}

OsResult<ReceivedMessage> FaultyOs::receiveMessage(int fd,
                                                   std::span<std::byte> bytes,
                                                   size_t maxFds) {
    return attempt(OsCall::ReceiveMessage, [&] { return os_.receiveMessage(fd, bytes, maxFds); });
}

OsResult<int> FaultyOs::poll(std::span<pollfd> fds, std::chrono::milliseconds timeout) {
    return attempt(OsCall::Poll, [&] { return os_.poll(fds, timeout); });
}

OsResult<UniqueFd> FaultyOs::epollCreate() {
    return attempt(OsCall::EpollCreate, [&] { return os_.epollCreate(); });
}

OsResult<void> FaultyOs::epollControl(
    int epoll, int operation, int fd, uint32_t events, uint64_t data) {
    return attempt(OsCall::EpollControl,
                   [&] { return os_.epollControl(epoll, operation, fd, events, data); });
}

OsResult<size_t> FaultyOs::epollWait(int epoll,
                                     std::span<epoll_event> events,
                                     std::chrono::milliseconds timeout) {
    return attempt(OsCall::EpollWait, [&] { return os_.epollWait(epoll, events, timeout); });
}

OsResult<UniqueFd> FaultyOs::eventCreate() {
    return attempt(OsCall::EventCreate, [&] { return os_.eventCreate(); });
}

OsResult<void> FaultyOs::eventSignal(int fd) {
    return attempt(OsCall::EventSignal, [&] { return os_.eventSignal(fd); });
}

OsResult<void> FaultyOs::futexWait(const std::atomic<uint32_t> &word,
                                   uint32_t expected,
                                   std::chrono::nanoseconds timeout) {
    return attempt(OsCall::FutexWait, [&] { return os_.futexWait(word, expected, timeout); });
}

OsResult<void> FaultyOs::futexWake(const std::atomic<uint32_t> &word) {
    return attempt(OsCall::FutexWake, [&] { return os_.futexWake(word); });
}

OsResult<UniqueFd> FaultyOs::openFolder(const std::string &path) {
    return attempt(OsCall::OpenFolder, [&] { return os_.openFolder(path); });
}

OsResult<UniqueFd> FaultyOs::openFolderAt(int folder, const std::string &name) {
    return attempt(OsCall::OpenFolderAt, [&] { return os_.openFolderAt(folder, name); });
}

OsResult<void> FaultyOs::makeFolderAt(int folder, const std::string &name) {
    return attempt(OsCall::MakeFolderAt, [&] { return os_.makeFolderAt(folder, name); });
}

OsResult<FileInfo> FaultyOs::fileInfoAt(int folder, const std::string &name) {
    return attempt(OsCall::FileInfoAt, [&] { return os_.fileInfoAt(folder, name); });
}

OsResult<std::vector<std::string>> FaultyOs::listFolder(int folder, size_t most) {
    return attempt(OsCall::ListFolder, [&] { return os_.listFolder(folder, most); });
}

OsResult<void> FaultyOs::renameAt(int folder, const std::string &from, const std::string &to) {
    return attempt(OsCall::RenameAt, [&] { return os_.renameAt(folder, from, to); });
}

OsResult<void> FaultyOs::removeFileAt(int folder, const std::string &name) {
    return attempt(OsCall::RemoveFileAt, [&] { return os_.removeFileAt(folder, name); });
}

OsResult<UniqueFd> FaultyOs::listenAt(int folder, const std::string &name, int backlog) {
    return attempt(OsCall::ListenAt, [&] { return os_.listenAt(folder, name, backlog); });
}

OsResult<UniqueFd> FaultyOs::connectAt(int folder,
                                       const std::string &name,
                                       std::chrono::milliseconds timeout) {
    return attempt(OsCall::ConnectAt, [&] { return os_.connectAt(folder, name, timeout); });
}

OsResult<std::pair<UniqueFd, UniqueFd>> FaultyOs::socketPair() {
    return attempt(OsCall::SocketPair, [&] { return os_.socketPair(); });
}

OsResult<void> FaultyOs::bindAbstract(int fd, const std::string &name) {
    return attempt(OsCall::BindAbstract, [&] { return os_.bindAbstract(fd, name); });
}

OsResult<std::string> FaultyOs::abstractName(int fd) {
    return attempt(OsCall::AbstractName, [&] { return os_.abstractName(fd); });
}

OsResult<UniqueFd> FaultyOs::peerProcess(int fd) {
    return attempt(OsCall::PeerProcess, [&] { return os_.peerProcess(fd); });
}

OsResult<UniqueFd> FaultyOs::fetchDescriptor(int process, int fd) {
    return attempt(OsCall::FetchDescriptor, [&] { return os_.fetchDescriptor(process, fd); });
}

OsResult<UniqueFd> FaultyOs::openProcess(pid_t pid) {
    return attempt(OsCall::OpenProcess, [&] { return os_.openProcess(pid); });
}

OsResult<void> FaultyOs::randomBytes(std::span<std::byte> bytes) {
    return attempt(OsCall::RandomBytes, [&] { return os_.randomBytes(bytes); });
}

OsResult<std::array<uint8_t, 16>> FaultyOs::bootId() {
    return attempt(OsCall::BootId, [&] { return os_.bootId(); });
}

OsResult<std::thread> FaultyOs::startThread(const char *name, std::function<void()> body) {
    return attempt(OsCall::StartThread, [&] { return os_.startThread(name, std::move(body)); });
}

} // namespace causeway::fakes
