#pragma once

#include "shared/base/unique_fd.h"
#include "shared/os/os.h"
#include "shared/os/public_numbers.h"

namespace causeway {

/// A descriptor whose number applications are told. It stays the driver's, but clients disagree
/// about that, and some close it (ipc.md). So the number is looked at before each use and before it
/// is closed; where it has become another file, or another descriptor of the driver's, that one is
/// left alone. (What an application itself opens of the same file cannot be told apart.) One thread
/// at a time. `os` outlives it.
class PublicFd {
  public:
    PublicFd() = default;
    /// `file`: of `fd`.
    PublicFd(Os &os, UniqueFd fd, const FileInfo &file);

    ~PublicFd() { letGo(); }

    PublicFd(PublicFd &&) = default;
    PublicFd &operator=(PublicFd &&other) noexcept;
    PublicFd(const PublicFd &) = delete;
    PublicFd &operator=(const PublicFd &) = delete;

    /// False for none. A number that is no longer ours is forgotten at once: what is opened next
    /// may have it again.
    [[nodiscard]] bool isStillOurs();

    [[nodiscard]] int get() const { return fd_.get(); }

    [[nodiscard]] const FileInfo &file() const { return file_; }

  private:
    [[nodiscard]] bool isStillItsFile() const;
    int forget();
    void letGo();

    Os *os_ = nullptr;
    UniqueFd fd_;
    FileInfo file_;
    PublicNumbers::Claim claim_ = 0;
};

} // namespace causeway
