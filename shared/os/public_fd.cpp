#include "shared/os/public_fd.h"

#include <cerrno>
#include <utility>

namespace causeway {

PublicFd::PublicFd(Os &os, UniqueFd fd, const FileInfo &file)
    : os_(&os)
    , fd_(std::move(fd))
    , file_(file)
    , claim_(PublicNumbers::ofProcess().claim(fd_.get())) {}

PublicFd &PublicFd::operator=(PublicFd &&other) noexcept {
    if (this != &other) {
        letGo();
        os_ = other.os_;
        fd_ = std::move(other.fd_);
        file_ = other.file_;
        claim_ = other.claim_;
    }
    return *this;
}

bool PublicFd::isStillOurs() {
    if (!fd_.valid()) {
        return false;
    }
    if (PublicNumbers::ofProcess().holds(fd_.get(), claim_) && isStillItsFile()) {
        return true;
    }
    forget(); // somebody else's by now, or nobody's
    return false;
}

bool PublicFd::isStillItsFile() const {
    const auto now = os_->fileInfo(fd_.get());
    // Of an open descriptor fstat fails for want of kernel memory at most: then it is still open.
    return now ? now->device == file_.device && now->inode == file_.inode
               : now.error().value != EBADF;
}

int PublicFd::forget() {
    PublicNumbers::ofProcess().giveUp(fd_.get(), claim_);
    return fd_.release();
}

void PublicFd::letGo() {
    if (isStillOurs()) {
        const UniqueFd closed(forget());
    }
}

} // namespace causeway
