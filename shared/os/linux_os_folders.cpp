#include "shared/os/linux_os.h"
#include "shared/os/retry.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

namespace causeway {
namespace {

constexpr int folderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

} // namespace

OsResult<UniqueFd> LinuxOs::openFolder(const std::string &path) {
    return retryFd([&] { return ::open(path.c_str(), folderFlags); });
}

OsResult<UniqueFd> LinuxOs::openFolderAt(int folder, const std::string &name) {
    return retryFd([&] { return ::openat(folder, name.c_str(), folderFlags | O_NOFOLLOW); });
}

OsResult<void> LinuxOs::makeFolderAt(int folder, const std::string &name) {
    return retryVoid([&] { return ::mkdirat(folder, name.c_str(), S_IRWXU); });
}

OsResult<FileInfo> LinuxOs::fileInfoAt(int folder, const std::string &name) {
    struct stat status = {};
    const auto result =
        retryVoid([&] { return ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW); });
    if (!result) {
        return std::unexpected(result.error());
    }
    return toFileInfo(status);
}

OsResult<std::vector<std::string>> LinuxOs::listFolder(int folder, size_t most) {
    // The stream closes what it reads from, and moves its position: a descriptor of its own.
    auto own = openFolderAt(folder, ".");
    if (!own) {
        return std::unexpected(own.error());
    }
    const std::unique_ptr<DIR, int (*)(DIR *)> stream(::fdopendir(own->get()), &::closedir);
    if (stream == nullptr) {
        return std::unexpected(Errno{errno});
    }
    static_cast<void>(own->release());
    std::vector<std::string> names;
    while (names.size() < most) {
        errno = 0;
        const dirent *entry = ::readdir(stream.get()); // NOLINT(*-mt-unsafe): a stream of our own
        if (entry == nullptr) {
            break;
        }
        const std::string_view name(entry->d_name);
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
    }
    if (errno != 0 && names.size() < most) {
        return std::unexpected(Errno{errno});
    }
    return names;
}

OsResult<void> LinuxOs::renameAt(int folder, const std::string &from, const std::string &to) {
    return retryVoid([&] { return ::renameat(folder, from.c_str(), folder, to.c_str()); });
}

OsResult<void> LinuxOs::removeFileAt(int folder, const std::string &name) {
    return retryVoid([&] { return ::unlinkat(folder, name.c_str(), 0); });
}

} // namespace causeway
