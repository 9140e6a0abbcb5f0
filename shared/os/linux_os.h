#pragma once

#include "shared/os/os.h"

#include <sys/stat.h>

namespace causeway {

/// The shipped Os. Stateless; one instance serves the process (`linuxOs()`).
class LinuxOs final : public Os {
  public:
    OsResult<UniqueFd> memfdCreate(const std::string &name, unsigned flags) override;
    OsResult<void> truncate(int fd, uint64_t sizeBytes) override;
    OsResult<void> addSeals(int fd, int seals) override;
    OsResult<int> seals(int fd) override;
    OsResult<FileInfo> fileInfo(int fd) override;
    OsResult<int64_t> fileSystemType(int fd) override;
    OsResult<std::string> fileName(int fd) override;
    OsResult<UniqueFd> duplicate(int fd) override;
    OsResult<UniqueFd> reopen(int fd, int flags) override;
    OsResult<size_t> readAt(int fd, std::span<std::byte> bytes, uint64_t offset) override;
    OsResult<size_t> writeAt(int fd, std::span<const std::byte> bytes, uint64_t offset) override;
    OsResult<void> punchHole(int fd, uint64_t offset, uint64_t sizeBytes) override;
    OsResult<void> lockForReading(int fd, uint64_t offset, uint64_t sizeBytes) override;
    OsResult<bool> isLockedByOthers(int fd, uint64_t offset, uint64_t sizeBytes) override;

    OsResult<UniqueFd> openFolder(const std::string &path) override;
    OsResult<UniqueFd> openFolderAt(int folder, const std::string &name) override;
    OsResult<void> makeFolderAt(int folder, const std::string &name) override;
    OsResult<FileInfo> fileInfoAt(int folder, const std::string &name) override;
    OsResult<std::vector<std::string>> listFolder(int folder, size_t most) override;
    OsResult<void> renameAt(int folder, const std::string &from, const std::string &to) override;
    OsResult<void> removeFileAt(int folder, const std::string &name) override;

    OsResult<uint64_t> reserveAddress(uint64_t hint, uint64_t sizeBytes) override;
    OsResult<void> blankAddress(uint64_t address, uint64_t sizeBytes) override;
    OsResult<void> mapFile(uint64_t address,
                           uint64_t sizeBytes,
                           Protection protection,
                           int fd,
                           uint64_t offset) override;
    OsResult<void> unmap(uint64_t address, uint64_t sizeBytes) override;
    OsResult<void> protect(uint64_t address, uint64_t sizeBytes, Protection protection) override;
    OsResult<uint64_t> mapCount() override;
    OsResult<uint64_t> mapCountLimit() override;

    OsResult<UniqueFd> listenAbstract(const std::string &name, int backlog) override;
    OsResult<UniqueFd> connectAbstract(const std::string &name,
                                       std::chrono::milliseconds timeout) override;
    OsResult<UniqueFd> listenAt(int folder, const std::string &name, int backlog) override;
    OsResult<UniqueFd> connectAt(int folder,
                                 const std::string &name,
                                 std::chrono::milliseconds timeout) override;
    OsResult<UniqueFd> accept(int fd) override;
    OsResult<std::pair<UniqueFd, UniqueFd>> socketPair() override;
    OsResult<void> bindAbstract(int fd, const std::string &name) override;
    OsResult<std::string> abstractName(int fd) override;
    OsResult<PeerCredentials> peerCredentials(int fd) override;
    OsResult<UniqueFd> peerProcess(int fd) override;
    OsResult<void> sendMessage(int fd,
                               std::span<const std::byte> bytes,
                               std::span<const int> fds) override;
    OsResult<ReceivedMessage> receiveMessage(int fd,
                                             std::span<std::byte> bytes,
                                             size_t maxFds) override;

    OsResult<int> poll(std::span<pollfd> fds, std::chrono::milliseconds timeout) override;
    OsResult<UniqueFd> epollCreate() override;
    OsResult<void> epollControl(
        int epoll, int operation, int fd, uint32_t events, uint64_t data) override;
    OsResult<size_t> epollWait(int epoll,
                               std::span<epoll_event> events,
                               std::chrono::milliseconds timeout) override;
    OsResult<UniqueFd> eventCreate() override;
    OsResult<void> eventSignal(int fd) override;
    OsResult<void> futexWait(const std::atomic<uint32_t> &word,
                             uint32_t expected,
                             std::chrono::nanoseconds timeout) override;
    OsResult<void> futexWake(const std::atomic<uint32_t> &word) override;

    pid_t processId() override;
    uid_t userId() override;
    OsResult<UniqueFd> openProcess(pid_t pid) override;
    OsResult<UniqueFd> fetchDescriptor(int process, int fd) override;
    OsResult<void> randomBytes(std::span<std::byte> bytes) override;
    std::chrono::steady_clock::time_point now() override;
    std::chrono::nanoseconds rawTime() override;
    uint64_t descriptorLimit() override;
    uint64_t totalMemory() override;
    uint64_t pageSize() override;
    OsResult<std::array<uint8_t, 16>> bootId() override;
    OsResult<std::thread> startThread(const char *name, std::function<void()> body) override;
};

[[nodiscard]] Os &linuxOs();

/// What the calls of the stat(2) family tell.
[[nodiscard]] FileInfo toFileInfo(const struct stat &status);

} // namespace causeway
