#pragma once

#include <unistd.h>

#include <utility>

namespace causeway::black_box {

/// Owns an open descriptor of the test's own.
class Descriptor {
  public:
    Descriptor() = default;

    explicit Descriptor(int fd) : fd_(fd) {}

    ~Descriptor() { reset(); }

    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;

    Descriptor(Descriptor &&other) noexcept : fd_(other.release()) {}

    Descriptor &operator=(Descriptor &&other) noexcept {
        if (this != &other) {
            reset(other.release());
        }
        return *this;
    }

    [[nodiscard]] int get() const { return fd_; }

    [[nodiscard]] int release() { return std::exchange(fd_, -1); }

    void reset(int fd = -1) {
        if (fd_ >= 0) {
            ::close(fd_);
        }
        fd_ = fd;
    }

  private:
    int fd_ = -1;
};

} // namespace causeway::black_box
