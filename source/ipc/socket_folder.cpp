#include "source/ipc/socket_folder.h"

#include "shared/base/log.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <string_view>

namespace causeway::ipc {
namespace {

constexpr size_t idDigits = 16;
constexpr std::string_view unfinished =
    ".new"; ///< ends the name of a socket that may not listen yet

// Each is a connect on the way to a process's first export.
constexpr size_t mostLookedAt = 256;

std::string fileName(uint64_t serverId) {
    return fmt::format("{:016x}", serverId);
}

/// Whether one of us may have made a file of this name.
bool isOurName(std::string_view name) {
    if (name.ends_with(unfinished)) {
        name.remove_suffix(unfinished.size());
    }
    return name.size() == idDigits &&
           name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<void> requireClosed(Os &os, int folder, std::string_view path) {
    const auto info = os.fileInfo(folder);
    if (!info) {
        return failWith(info.error(), fmt::format("fstat of {}", path));
    }
    constexpr mode_t others = S_IRWXG | S_IRWXO;
    if (info->owner != os.userId() || (info->mode & others) != 0) {
        return fail(Status::InvalidArgument,
                    "{} belongs to user {} with mode {:o}; it must be ours alone",
                    path,
                    info->owner,
                    info->mode & ~static_cast<uint32_t>(S_IFMT));
    }
    return {};
}

} // namespace

Result<SocketFolder> SocketFolder::find(Os &os, const std::string &root) {
    auto top = os.openFolder(root);
    if (!top) {
        return failWith(top.error(), fmt::format("opening {}", root));
    }
    const std::string name = fmt::format("{}", os.userId());
    const std::string path = fmt::format("{}/{}", root, name);
    auto folder = os.openFolderAt(top->get(), name);
    if (!folder) {
        return failWith(folder.error(), fmt::format("opening {}", path));
    }
    if (auto closed = requireClosed(os, folder->get(), path); !closed) {
        return forward(closed);
    }
    return SocketFolder(os, std::move(*folder));
}

Result<SocketFolder> SocketFolder::make(Os &os, const std::string &root) {
    auto top = os.openFolder(root);
    if (!top) {
        return failWith(top.error(), fmt::format("opening {}", root));
    }
    const std::string name = fmt::format("{}", os.userId());
    if (const auto made = os.makeFolderAt(top->get(), name);
        !made && made.error().value != EEXIST) {
        return failWith(made.error(), fmt::format("making {}/{}", root, name));
    }
    return find(os, root); // whoever made it, it is judged
}

Result<UniqueFd> SocketFolder::listen(uint64_t serverId, int backlog) {
    const std::string name = fileName(serverId);
    const std::string early = name + std::string(unfinished);
    Errno error;
    // Another process that tidies up takes the early name for dead until the socket listens.
    for (int attempt = 0; attempt < 3; ++attempt) {
        auto socket = os_->listenAt(folder_.get(), early, backlog);
        const auto named = socket ? os_->renameAt(folder_.get(), early, name)
                                  : OsResult<void>(std::unexpected(socket.error()));
        if (named) {
            return std::move(*socket);
        }
        static_cast<void>(os_->removeFileAt(folder_.get(), early)); // bound, if no more
        error = named.error();
        if (error.value != ENOENT) {
            break;
        }
    }
    return failWith(error, "listening in CAUSEWAY_IPC_DIR");
}

OsResult<UniqueFd> SocketFolder::connect(uint64_t serverId, std::chrono::milliseconds timeout) {
    return os_->connectAt(folder_.get(), fileName(serverId), timeout);
}

void SocketFolder::remove(uint64_t serverId) noexcept {
    try {
        static_cast<void>(os_->removeFileAt(folder_.get(), fileName(serverId)));
    } catch (const std::bad_alloc &) { // NOLINT(bugprone-empty-catch)
        // The next process that exports finds it dead.
    }
}

bool SocketFolder::isDead(const std::string &name) {
    const auto info = os_->fileInfoAt(folder_.get(), name);
    if (!info || !S_ISSOCK(info->mode) || info->owner != os_->userId()) {
        return false;
    }
    // One that lives and has a full queue lets the time pass; it does not refuse.
    const auto answer = os_->connectAt(folder_.get(), name, std::chrono::milliseconds(1));
    return !answer && answer.error().value == ECONNREFUSED;
}

void SocketFolder::removeDead() noexcept {
    try {
        const auto names = os_->listFolder(folder_.get(), mostLookedAt);
        if (!names) {
            return;
        }
        for (const std::string &name : *names) {
            if (isOurName(name) && isDead(name)) {
                static_cast<void>(os_->removeFileAt(folder_.get(), name));
            }
        }
    } catch (const std::bad_alloc &) { // NOLINT(bugprone-empty-catch)
        // The next process that exports goes on.
    }
}

} // namespace causeway::ipc
