#pragma once

#include "shared/base/mutex.h"
#include "unit_tests/fakes/forwarding_os.h"

#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace causeway::fakes {

/// The calls of Os that can fail.
enum class OsCall : uint8_t {
    MemfdCreate,
    Truncate,
    AddSeals,
    Seals,
    FileInfo,
    FileSystemType,
    FileName,
    Duplicate,
    Reopen,
    ReadAt,
    WriteAt,
    PunchHole,
    LockForReading,
    IsLockedByOthers,
    ReserveAddress,
    BlankAddress,
    MapFile,
    Unmap,
    Protect,
    MapCount,
    MapCountLimit,
    ListenAbstract,
    ConnectAbstract,
    Accept,
    PeerCredentials,
    SendMessage,
    ReceiveMessage,
    Poll,
    EpollCreate,
    EpollControl,
    EpollWait,
    EventCreate,
    EventSignal,
    FutexWait,
    FutexWake,
    OpenFolder,
    OpenFolderAt,
    MakeFolderAt,
    FileInfoAt,
    ListFolder,
    RenameAt,
    RemoveFileAt,
    ListenAt,
    ConnectAt,
    SocketPair,
    BindAbstract,
    AbstractName,
    PeerProcess,
    FetchDescriptor,
    OpenProcess,
    RandomBytes,
    BootId,
    StartThread,
};

inline constexpr size_t osCallCount = static_cast<size_t>(OsCall::StartThread) + 1;

/// The method's name, e.g. "memfdCreate".
[[nodiscard]] std::string_view toString(OsCall call);

/// An Os that fails on demand: a call told to fail has no effect and answers the given errno; all
/// others reach the Os behind it. Counts every call that can fail. Thread-safe.
///
/// The usual sweep: run once to learn calls(), then once for each k with failAt(k, ...), and check
/// that nothing is left each time.
class FaultyOs final : public ForwardingOs {
  public:
    using ForwardingOs::ForwardingOs;

    /// The k-th call from now fails, once (1: the next). Replaces an earlier failAt.
    void failAt(uint64_t k, int error);
    /// The k-th call of this kind from now fails, once.
    void failKindAt(OsCall kind, uint64_t k, int error);
    /// Every call of this kind fails.
    void failKind(OsCall kind, int error);
    /// Every n-th call from now fails.
    void failEvery(uint64_t n, int error);
    /// Nothing fails any more; counts stay.
    void heal();

    /// Calls that can fail, so far; those told to fail included.
    [[nodiscard]] uint64_t calls() const;
    [[nodiscard]] uint64_t calls(OsCall kind) const;
    /// How many were made to fail, and which was the last.
    [[nodiscard]] uint64_t faults() const;
    [[nodiscard]] std::optional<OsCall> lastFault() const;

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
    OsResult<UniqueFd> accept(int fd) override;
    OsResult<PeerCredentials> peerCredentials(int fd) override;
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
    OsResult<UniqueFd> openFolder(const std::string &path) override;
    OsResult<UniqueFd> openFolderAt(int folder, const std::string &name) override;
    OsResult<void> makeFolderAt(int folder, const std::string &name) override;
    OsResult<FileInfo> fileInfoAt(int folder, const std::string &name) override;
    OsResult<std::vector<std::string>> listFolder(int folder, size_t most) override;
    OsResult<void> renameAt(int folder, const std::string &from, const std::string &to) override;
    OsResult<void> removeFileAt(int folder, const std::string &name) override;
    OsResult<UniqueFd> listenAt(int folder, const std::string &name, int backlog) override;
    OsResult<UniqueFd> connectAt(int folder,
                                 const std::string &name,
                                 std::chrono::milliseconds timeout) override;
    OsResult<std::pair<UniqueFd, UniqueFd>> socketPair() override;
    OsResult<void> bindAbstract(int fd, const std::string &name) override;
    OsResult<std::string> abstractName(int fd) override;
    OsResult<UniqueFd> peerProcess(int fd) override;
    OsResult<UniqueFd> fetchDescriptor(int process, int fd) override;
    OsResult<UniqueFd> openProcess(pid_t pid) override;
    OsResult<void> randomBytes(std::span<std::byte> bytes) override;
    OsResult<std::array<uint8_t, 16>> bootId() override;
    OsResult<std::thread> startThread(const char *name, std::function<void()> body) override;

  private:
    struct Plan {
        uint64_t call = 0;  ///< number of the call that fails, 0: none
        uint64_t every = 0; ///< from then on, again after so many; 0: once
        int error = 0;
    };

    [[nodiscard]] std::optional<Errno> fault(OsCall kind);
    [[nodiscard]] static bool hits(Plan &plan, uint64_t call);

    template <typename Call>
    auto attempt(OsCall kind, Call call) -> decltype(call());

    mutable Mutex mutex_;
    uint64_t calls_ GUARDED_BY(mutex_) = 0;
    std::array<uint64_t, osCallCount> callsOfKind_ GUARDED_BY(mutex_) = {};
    Plan plan_ GUARDED_BY(mutex_);
    std::array<Plan, osCallCount> plansOfKind_ GUARDED_BY(mutex_);
    uint64_t faults_ GUARDED_BY(mutex_) = 0;
    std::optional<OsCall> lastFault_ GUARDED_BY(mutex_);
};

} // namespace causeway::fakes
