#pragma once

#include "shared/os/os.h"

#include <utility>

namespace causeway::fakes {

/// Passes every call on. Tests derive from it to change one or two answers.
class ForwardingOs : public Os {
  public:
    /// `os` outlives this.
    explicit ForwardingOs(Os &os) : os_(os) {}

    OsResult<UniqueFd> memfdCreate(const std::string &name, unsigned flags) override {
        return os_.memfdCreate(name, flags);
    }

    OsResult<void> truncate(int fd, uint64_t sizeBytes) override {
        return os_.truncate(fd, sizeBytes);
    }

    OsResult<void> addSeals(int fd, int seals) override { return os_.addSeals(fd, seals); }

    OsResult<int> seals(int fd) override { return os_.seals(fd); }

    OsResult<FileInfo> fileInfo(int fd) override { return os_.fileInfo(fd); }

    OsResult<int64_t> fileSystemType(int fd) override { return os_.fileSystemType(fd); }

    OsResult<std::string> fileName(int fd) override { return os_.fileName(fd); }

    OsResult<UniqueFd> duplicate(int fd) override { return os_.duplicate(fd); }

    OsResult<UniqueFd> reopen(int fd, int flags) override { return os_.reopen(fd, flags); }

    OsResult<size_t> readAt(int fd, std::span<std::byte> bytes, uint64_t offset) override {
        return os_.readAt(fd, bytes, offset);
    }

    OsResult<size_t> writeAt(int fd, std::span<const std::byte> bytes, uint64_t offset) override {
        return os_.writeAt(fd, bytes, offset);
    }

    OsResult<void> punchHole(int fd, uint64_t offset, uint64_t sizeBytes) override {
        return os_.punchHole(fd, offset, sizeBytes);
    }

    OsResult<void> lockForReading(int fd, uint64_t offset, uint64_t sizeBytes) override {
        return os_.lockForReading(fd, offset, sizeBytes);
    }

    OsResult<bool> isLockedByOthers(int fd, uint64_t offset, uint64_t sizeBytes) override {
        return os_.isLockedByOthers(fd, offset, sizeBytes);
    }

    OsResult<uint64_t> reserveAddress(uint64_t hint, uint64_t sizeBytes) override {
        return os_.reserveAddress(hint, sizeBytes);
    }

    OsResult<void> blankAddress(uint64_t address, uint64_t sizeBytes) override {
        return os_.blankAddress(address, sizeBytes);
    }

    OsResult<void> mapFile(uint64_t address,
                           uint64_t sizeBytes,
                           Protection protection,
                           int fd,
                           uint64_t offset) override {
        return os_.mapFile(address, sizeBytes, protection, fd, offset);
    }

    OsResult<void> unmap(uint64_t address, uint64_t sizeBytes) override {
        return os_.unmap(address, sizeBytes);
    }

    OsResult<void> protect(uint64_t address, uint64_t sizeBytes, Protection protection) override {
        return os_.protect(address, sizeBytes, protection);
    }

    OsResult<uint64_t> mapCount() override { return os_.mapCount(); }

    OsResult<uint64_t> mapCountLimit() override { return os_.mapCountLimit(); }

    OsResult<UniqueFd> listenAbstract(const std::string &name, int backlog) override {
        return os_.listenAbstract(name, backlog);
    }

    OsResult<UniqueFd> connectAbstract(const std::string &name,
                                       std::chrono::milliseconds timeout) override {
        return os_.connectAbstract(name, timeout);
    }

    OsResult<UniqueFd> accept(int fd) override { return os_.accept(fd); }

    OsResult<PeerCredentials> peerCredentials(int fd) override { return os_.peerCredentials(fd); }

    OsResult<void> sendMessage(int fd,
                               std::span<const std::byte> bytes,
                               std::span<const int> fds) override {
        return os_.sendMessage(fd, bytes, fds);
    }

    OsResult<ReceivedMessage> receiveMessage(int fd,
                                             std::span<std::byte> bytes,
                                             size_t maxFds) override {
        return os_.receiveMessage(fd, bytes, maxFds);
    }

    OsResult<int> poll(std::span<pollfd> fds, std::chrono::milliseconds timeout) override {
        return os_.poll(fds, timeout);
    }

    OsResult<UniqueFd> epollCreate() override { return os_.epollCreate(); }

    OsResult<void> epollControl(
        int epoll, int operation, int fd, uint32_t events, uint64_t data) override {
        return os_.epollControl(epoll, operation, fd, events, data);
    }

    OsResult<size_t> epollWait(int epoll,
                               std::span<epoll_event> events,
                               std::chrono::milliseconds timeout) override {
        return os_.epollWait(epoll, events, timeout);
    }

    OsResult<UniqueFd> eventCreate() override { return os_.eventCreate(); }

    OsResult<void> eventSignal(int fd) override { return os_.eventSignal(fd); }

    OsResult<void> futexWait(const std::atomic<uint32_t> &word,
                             uint32_t expected,
                             std::chrono::nanoseconds timeout) override {
        return os_.futexWait(word, expected, timeout);
    }

    OsResult<void> futexWake(const std::atomic<uint32_t> &word) override {
        return os_.futexWake(word);
    }

    OsResult<UniqueFd> openFolder(const std::string &path) override { return os_.openFolder(path); }

    OsResult<UniqueFd> openFolderAt(int folder, const std::string &name) override {
        return os_.openFolderAt(folder, name);
    }

    OsResult<void> makeFolderAt(int folder, const std::string &name) override {
        return os_.makeFolderAt(folder, name);
    }

    OsResult<FileInfo> fileInfoAt(int folder, const std::string &name) override {
        return os_.fileInfoAt(folder, name);
    }

    OsResult<std::vector<std::string>> listFolder(int folder, size_t most) override {
        return os_.listFolder(folder, most);
    }

    OsResult<void> renameAt(int folder, const std::string &from, const std::string &to) override {
        return os_.renameAt(folder, from, to);
    }

    OsResult<void> removeFileAt(int folder, const std::string &name) override {
        return os_.removeFileAt(folder, name);
    }

    OsResult<UniqueFd> listenAt(int folder, const std::string &name, int backlog) override {
        return os_.listenAt(folder, name, backlog);
    }

    OsResult<UniqueFd> connectAt(int folder,
                                 const std::string &name,
                                 std::chrono::milliseconds timeout) override {
        return os_.connectAt(folder, name, timeout);
    }

    OsResult<std::pair<UniqueFd, UniqueFd>> socketPair() override { return os_.socketPair(); }

    OsResult<void> bindAbstract(int fd, const std::string &name) override {
        return os_.bindAbstract(fd, name);
    }

    OsResult<std::string> abstractName(int fd) override { return os_.abstractName(fd); }

    OsResult<UniqueFd> peerProcess(int fd) override { return os_.peerProcess(fd); }

    OsResult<UniqueFd> fetchDescriptor(int process, int fd) override {
        return os_.fetchDescriptor(process, fd);
    }

    pid_t processId() override { return os_.processId(); }

    uid_t userId() override { return os_.userId(); }

    OsResult<UniqueFd> openProcess(pid_t pid) override { return os_.openProcess(pid); }

    OsResult<void> randomBytes(std::span<std::byte> bytes) override {
        return os_.randomBytes(bytes);
    }

    std::chrono::steady_clock::time_point now() override { return os_.now(); }

    std::chrono::nanoseconds rawTime() override { return os_.rawTime(); }

    uint64_t descriptorLimit() override { return os_.descriptorLimit(); }

    uint64_t totalMemory() override { return os_.totalMemory(); }

    uint64_t pageSize() override { return os_.pageSize(); }

    OsResult<std::array<uint8_t, 16>> bootId() override { return os_.bootId(); }

    OsResult<std::thread> startThread(const char *name, std::function<void()> body) override {
        return os_.startThread(name, std::move(body));
    }

  protected:
    Os &os_;
};

} // namespace causeway::fakes
