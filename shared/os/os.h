#pragma once

#include "shared/base/result.h"
#include "shared/base/unique_fd.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace causeway {

/// A raw errno value, not yet judged: only the caller knows what the failure means.
struct Errno {
    int value = 0;
};

template <typename T>
class [[nodiscard]] OsResult : public std::expected<T, Errno> {
  public:
    using std::expected<T, Errno>::expected;
};

/// Turns an Errno into an Error: "<what>: <strerror>".
[[nodiscard]] Error describe(Errno error, std::string_view what, Scarce scarce = Scarce::Host);

/// `return failWith(result.error(), "memfd_create of an object file");`
[[nodiscard]] inline std::unexpected<Error> failWith(Errno error,
                                                     std::string_view what,
                                                     Scarce scarce = Scarce::Host) {
    return std::unexpected(describe(error, what, scarce));
}

/// What identifies a file, and what a kind check needs of it.
struct FileInfo {
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t sizeBytes = 0;
    uint32_t mode = 0;
    uid_t owner = 0;
};

/// Who is at the other end of a Unix socket (SO_PEERCRED).
struct PeerCredentials {
    pid_t pid = 0;
    uid_t uid = 0;
};

/// One received SOCK_SEQPACKET message. sizeBytes 0 with no descriptors is end of file.
struct ReceivedMessage {
    size_t sizeBytes = 0;
    std::vector<UniqueFd> fds;   ///< all CLOEXEC, in the order sent
    bool bytesTruncated = false; ///< MSG_TRUNC: the message was longer than the buffer
    bool fdsTruncated = false; ///< MSG_CTRUNC: some descriptors did not arrive; `fds` are the first
};

enum class Protection : uint8_t { None, Read, ReadWrite };

/// The only door to the kernel: each call is one system call (or the few that belong together), and
/// every result is an errno, so that a test can fail any of them (`unit_tests/fakes/faulty_os.h`).
/// Releasing is not here: UniqueFd closes for itself.
///
/// Threads: all calls from any thread. Interrupted calls are retried, except the waiting ones
/// (poll, epollWait, futexWait), which return EINTR so that the caller keeps its own deadline.
/// Descriptors returned are CLOEXEC.
class Os {
  public:
    virtual ~Os() = default;

    // Files ------------------------------------------------------------------------------------
    /// `flags` as for memfd_create(2); MFD_CLOEXEC is added.
    virtual OsResult<UniqueFd> memfdCreate(const std::string &name, unsigned flags) = 0;
    virtual OsResult<void> truncate(int fd, uint64_t sizeBytes) = 0;
    virtual OsResult<void> addSeals(int fd, int seals) = 0;
    virtual OsResult<int> seals(int fd) = 0;
    virtual OsResult<FileInfo> fileInfo(int fd) = 0;
    /// f_type of statfs(2), e.g. TMPFS_MAGIC.
    virtual OsResult<int64_t> fileSystemType(int fd) = 0;
    /// Where /proc/self/fd/<fd> points, e.g. "/memfd:name (deleted)".
    virtual OsResult<std::string> fileName(int fd) = 0;
    virtual OsResult<UniqueFd> duplicate(int fd) = 0;
    /// A new open file description of the same file, through /proc/self/fd. `flags` as for open(2).
    virtual OsResult<UniqueFd> reopen(int fd, int flags) = 0;
    virtual OsResult<size_t> readAt(int fd, std::span<std::byte> bytes, uint64_t offset) = 0;
    virtual OsResult<size_t> writeAt(int fd, std::span<const std::byte> bytes, uint64_t offset) = 0;
    /// Gives the pages back and leaves zeros.
    virtual OsResult<void> punchHole(int fd, uint64_t offset, uint64_t sizeBytes) = 0;
    /// F_OFD_SETLK, a read lock that lives as long as fd's open file description: in any process,
    /// in a message in flight, behind a mapping.
    virtual OsResult<void> lockForReading(int fd, uint64_t offset, uint64_t sizeBytes) = 0;
    /// F_OFD_GETLK: whether another open file description holds a lock in that stretch.
    virtual OsResult<bool> isLockedByOthers(int fd, uint64_t offset, uint64_t sizeBytes) = 0;

    // Folders: everything below an open one, so that no path is resolved twice ------------------
    virtual OsResult<UniqueFd> openFolder(const std::string &path) = 0;
    /// Never through a symbolic link.
    virtual OsResult<UniqueFd> openFolderAt(int folder, const std::string &name) = 0;
    /// With mode 0700.
    virtual OsResult<void> makeFolderAt(int folder, const std::string &name) = 0;
    /// Of a symbolic link itself, not of what it points to.
    virtual OsResult<FileInfo> fileInfoAt(int folder, const std::string &name) = 0;
    /// The first `most` names in no order, without "." and "..".
    virtual OsResult<std::vector<std::string>> listFolder(int folder, size_t most) = 0;
    virtual OsResult<void> renameAt(int folder, const std::string &from, const std::string &to) = 0;
    virtual OsResult<void> removeFileAt(int folder, const std::string &name) = 0;

    // Address space ----------------------------------------------------------------------------
    /// Address space without memory behind it. `hint` 0: anywhere. May be placed elsewhere than
    /// hint.
    virtual OsResult<uint64_t> reserveAddress(uint64_t hint, uint64_t sizeBytes) = 0;
    /// Turns [address, address + sizeBytes) back into address space without memory.
    virtual OsResult<void> blankAddress(uint64_t address, uint64_t sizeBytes) = 0;
    /// Shared mapping of a file over [address, address + sizeBytes), which must be ours.
    virtual OsResult<void> mapFile(
        uint64_t address, uint64_t sizeBytes, Protection protection, int fd, uint64_t offset) = 0;
    virtual OsResult<void> unmap(uint64_t address, uint64_t sizeBytes) = 0;
    virtual OsResult<void> protect(uint64_t address, uint64_t sizeBytes, Protection protection) = 0;
    /// How many mappings this process has now (lines of /proc/self/maps), and the limit
    /// (vm.max_map_count).
    virtual OsResult<uint64_t> mapCount() = 0;
    virtual OsResult<uint64_t> mapCountLimit() = 0;

    // Sockets (SOCK_SEQPACKET over AF_UNIX) ----------------------------------------------------
    /// Non-blocking listener bound to the abstract name.
    virtual OsResult<UniqueFd> listenAbstract(const std::string &name, int backlog) = 0;
    /// Blocks up to `timeout` in connect (SO_SNDTIMEO: a non-blocking connect to a stopped peer is
    /// EAGAIN and cannot be polled), then returns a non-blocking socket. ETIMEDOUT when time is up.
    virtual OsResult<UniqueFd> connectAbstract(const std::string &name,
                                               std::chrono::milliseconds timeout) = 0;
    /// The same with a socket file that is made in a folder, through /proc/self/fd because of the
    /// 108 bytes that an address may have.
    virtual OsResult<UniqueFd> listenAt(int folder, const std::string &name, int backlog) = 0;
    virtual OsResult<UniqueFd> connectAt(int folder,
                                         const std::string &name,
                                         std::chrono::milliseconds timeout) = 0;
    virtual OsResult<UniqueFd> accept(int fd) = 0;
    /// Two connected sockets, non-blocking.
    virtual OsResult<std::pair<UniqueFd, UniqueFd>> socketPair() = 0;
    /// Gives a connected socket an abstract name, by which nobody can connect to it.
    virtual OsResult<void> bindAbstract(int fd, const std::string &name) = 0;
    /// The abstract name that a socket is bound to; empty where it is bound otherwise or not.
    virtual OsResult<std::string> abstractName(int fd) = 0;
    virtual OsResult<PeerCredentials> peerCredentials(int fd) = 0;
    /// A pidfd of the process at the other end (SO_PEERPIDFD), which no reuse of numbers fools.
    virtual OsResult<UniqueFd> peerProcess(int fd) = 0;
    /// One message, never SIGPIPE. EAGAIN when the peer's queue is full.
    virtual OsResult<void> sendMessage(int fd,
                                       std::span<const std::byte> bytes,
                                       std::span<const int> fds) = 0;
    virtual OsResult<ReceivedMessage> receiveMessage(int fd,
                                                     std::span<std::byte> bytes,
                                                     size_t maxFds) = 0;

    // Waiting ----------------------------------------------------------------------------------
    /// timeout < 0: forever.
    virtual OsResult<int> poll(std::span<pollfd> fds, std::chrono::milliseconds timeout) = 0;
    virtual OsResult<UniqueFd> epollCreate() = 0;
    /// `operation` as for epoll_ctl(2).
    virtual OsResult<void> epollControl(
        int epoll, int operation, int fd, uint32_t events, uint64_t data) = 0;
    virtual OsResult<size_t> epollWait(int epoll,
                                       std::span<epoll_event> events,
                                       std::chrono::milliseconds timeout) = 0;
    /// A non-blocking eventfd to wake a poll with.
    virtual OsResult<UniqueFd> eventCreate() = 0;
    virtual OsResult<void> eventSignal(int fd) = 0;
    /// Sleeps while `word` holds `expected`, until a futexWake of any process that maps the word's
    /// page, `timeout` at most; < 0: forever. Success is a wake, which may be meant for another.
    /// EAGAIN where the word holds another value, ETIMEDOUT when time is up.
    virtual OsResult<void> futexWait(const std::atomic<uint32_t> &word,
                                     uint32_t expected,
                                     std::chrono::nanoseconds timeout) = 0;
    /// Wakes all who sleep on the word, in any process.
    virtual OsResult<void> futexWake(const std::atomic<uint32_t> &word) = 0;

    // Process and machine ----------------------------------------------------------------------
    virtual pid_t processId() = 0;
    virtual uid_t userId() = 0;
    virtual OsResult<UniqueFd> openProcess(pid_t pid) = 0; ///< pidfd_open(2)
    /// pidfd_getfd(2): a duplicate of another process's descriptor, whatever that number is there.
    virtual OsResult<UniqueFd> fetchDescriptor(int process, int fd) = 0;
    virtual OsResult<void> randomBytes(std::span<std::byte> bytes) = 0;
    virtual std::chrono::steady_clock::time_point now() = 0;
    /// CLOCK_MONOTONIC_RAW: for measuring, unlike now() never slewed; one clock for all processes.
    virtual std::chrono::nanoseconds rawTime() = 0;
    /// Soft RLIMIT_NOFILE.
    virtual uint64_t descriptorLimit() = 0;
    /// Bytes of RAM in the machine.
    virtual uint64_t totalMemory() = 0;
    virtual uint64_t pageSize() = 0;
    /// 16 random bytes that change with each boot (/proc/sys/kernel/random/boot_id).
    virtual OsResult<std::array<uint8_t, 16>> bootId() = 0;
    /// A thread that takes no signals; `name` is at most 15 characters.
    virtual OsResult<std::thread> startThread(const char *name, std::function<void()> body) = 0;
};

/// A duplicate of a descriptor that an application named: the number itself can become another file
/// at any time. Errors: InvalidArgument (none), OutOfHostMemory.
[[nodiscard]] inline Result<UniqueFd> duplicateForeign(Os &os, int fd) {
    auto copy = os.duplicate(fd);
    if (!copy) {
        return failWith(copy.error(), fmt::format("duplicating descriptor {}", fd));
    }
    return std::move(*copy);
}

} // namespace causeway
