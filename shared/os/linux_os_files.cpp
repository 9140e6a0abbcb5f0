#include "shared/os/linux_os.h"
#include "shared/os/retry.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace causeway {
namespace {

std::string procPath(int fd) {
    return fmt::format("/proc/self/fd/{}", fd);
}

struct flock stretchLock(short type, uint64_t offset, uint64_t sizeBytes) {
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(offset);
    lock.l_len = static_cast<off_t>(sizeBytes);
    return lock; // l_pid stays 0, as open-file-description locks demand
}

// The kernel counts memfds against RLIMIT_FSIZE and does not stop at EFBIG: it sends SIGXFSZ, which
// ends an application that knows nothing of it. So the limit is asked for before it is met.
bool isBeyondFileSizeLimit(uint64_t endByte) {
    rlimit limit = {};
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && endByte > limit.rlim_cur;
}

} // namespace

FileInfo toFileInfo(const struct stat &status) {
    return FileInfo{.device = status.st_dev,
                    .inode = status.st_ino,
                    .sizeBytes = static_cast<uint64_t>(status.st_size),
                    .mode = status.st_mode,
                    .owner = status.st_uid};
}

OsResult<UniqueFd> LinuxOs::memfdCreate(const std::string &name, unsigned flags) {
    return retryFd([&] { return ::memfd_create(name.c_str(), flags | MFD_CLOEXEC); });
}

OsResult<void> LinuxOs::truncate(int fd, uint64_t sizeBytes) {
    if (isBeyondFileSizeLimit(sizeBytes)) {
        return std::unexpected(Errno{EFBIG});
    }
    return retryVoid([&] { return ::ftruncate(fd, static_cast<off_t>(sizeBytes)); });
}

OsResult<void> LinuxOs::addSeals(int fd, int seals) {
    return retryVoid([&] { return ::fcntl(fd, F_ADD_SEALS, seals); });
}

OsResult<int> LinuxOs::seals(int fd) {
    return retry([&] { return ::fcntl(fd, F_GET_SEALS); });
}

OsResult<FileInfo> LinuxOs::fileInfo(int fd) {
    struct stat status = {};
    const auto result = retryVoid([&] { return ::fstat(fd, &status); });
    if (!result) {
        return std::unexpected(result.error());
    }
    return toFileInfo(status);
}

OsResult<int64_t> LinuxOs::fileSystemType(int fd) {
    struct statfs status = {};
    const auto result = retryVoid([&] { return ::fstatfs(fd, &status); });
    if (!result) {
        return std::unexpected(result.error());
    }
    return static_cast<int64_t>(status.f_type);
}

OsResult<std::string> LinuxOs::fileName(int fd) {
    std::string name(512, '\0'); // a memfd's name is at most 249 bytes
    const std::string path = procPath(fd);
    const auto length = retry([&] { return ::readlink(path.c_str(), name.data(), name.size()); });
    if (!length) {
        return std::unexpected(length.error());
    }
    name.resize(static_cast<size_t>(*length));
    return name;
}

OsResult<UniqueFd> LinuxOs::duplicate(int fd) {
    return retryFd([&] { return ::fcntl(fd, F_DUPFD_CLOEXEC, 0); });
}

OsResult<UniqueFd> LinuxOs::reopen(int fd, int flags) {
    const std::string path = procPath(fd);
    return retryFd([&] { return ::open(path.c_str(), flags | O_CLOEXEC); });
}

OsResult<size_t> LinuxOs::readAt(int fd, std::span<std::byte> bytes, uint64_t offset) {
    const auto result =
        retry([&] { return ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (!result) {
        return std::unexpected(result.error());
    }
    return static_cast<size_t>(*result);
}

OsResult<size_t> LinuxOs::writeAt(int fd, std::span<const std::byte> bytes, uint64_t offset) {
    if (isBeyondFileSizeLimit(offset + bytes.size())) {
        return std::unexpected(Errno{EFBIG});
    }
    const auto result =
        retry([&] { return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (!result) {
        return std::unexpected(result.error());
    }
    return static_cast<size_t>(*result);
}

OsResult<void> LinuxOs::punchHole(int fd, uint64_t offset, uint64_t sizeBytes) {
    return retryVoid([&] {
        return ::fallocate(fd,
                           FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                           static_cast<off_t>(offset),
                           static_cast<off_t>(sizeBytes));
    });
}

OsResult<void> LinuxOs::lockForReading(int fd, uint64_t offset, uint64_t sizeBytes) {
    struct flock lock = stretchLock(F_RDLCK, offset, sizeBytes);
    return retryVoid([&] { return ::fcntl(fd, F_OFD_SETLK, &lock); });
}

OsResult<bool> LinuxOs::isLockedByOthers(int fd, uint64_t offset, uint64_t sizeBytes) {
    struct flock lock = stretchLock(F_WRLCK, offset, sizeBytes);
    const auto result = retryVoid([&] { return ::fcntl(fd, F_OFD_GETLK, &lock); });
    if (!result) {
        return std::unexpected(result.error());
    }
    return lock.l_type != F_UNLCK;
}

} // namespace causeway
