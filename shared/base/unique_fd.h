#pragma once

#include <utility>

namespace causeway {

/// Owns one file descriptor from the system call that made it on. 0 is a valid number, -1 is none.
/// Passing ownership is std::move, borrowing is `int`. close is never retried: on Linux the number
/// is gone even after EINTR, and a second close could hit somebody else's file.
class UniqueFd {
  public:
    UniqueFd() = default;

    explicit UniqueFd(int fd) : fd_(fd) {}

    UniqueFd(UniqueFd &&other) noexcept : fd_(other.release()) {}

    UniqueFd &operator=(UniqueFd &&other) noexcept {
        if (this != &other) {
            reset();
            fd_ = other.release();
        }
        return *this;
    }

    UniqueFd(const UniqueFd &) = delete;
    UniqueFd &operator=(const UniqueFd &) = delete;

    ~UniqueFd() { reset(); }

    [[nodiscard]] int get() const { return fd_; }

    [[nodiscard]] bool valid() const { return fd_ >= 0; }

    [[nodiscard]] int release() { return std::exchange(fd_, -1); }

    void reset();

  private:
    int fd_ = -1;
};

} // namespace causeway
