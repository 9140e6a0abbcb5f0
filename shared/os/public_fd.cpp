#include "shared/os/public_fd.h"

#include <cerrno>
#include <utility>

namespace causeway {

PublicFd::PublicFd(Os &os, UniqueFd fd, const FileInfo &file)
    : os_(&os), fd_(std::move(fd)), file_(file) {}

PublicFd &PublicFd::operator=(PublicFd &&other) noexcept {
    if (this != &other) {
        letGo();
        os_ = other.os_;
        fd_ = std::move(other.fd_);
        file_ = other.file_;
    }
    return *this;
}

bool PublicFd::isStillOurs() {
    if (!fd_.valid()) {
        return false;
    }
    const auto now = os_->fileInfo(fd_.get());
    // Of an open descriptor fstat fails for want of kernel memory at most: then it is still open.
    const bool ours =
        now ? now->device == file_.device && now->inode == file_.inode : now.error().value != EBADF;
    if (!ours) {
        static_cast<void>(fd_.release()); // somebody else's by now, or nobody's
    }
    return ours;
}

void PublicFd::letGo() {
    if (isStillOurs()) {
        fd_.reset();
    }
}

} // namespace causeway
