#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace range_demo {

/// Owns a file descriptor; -1 is none.
class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}

    ~Descriptor() { reset(); }

    Descriptor(Descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

    Descriptor &operator=(Descriptor &&other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }

    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;

    [[nodiscard]] int get() const { return fd_; }

    void reset();

  private:
    int fd_ = -1;
};

/// Waits for `events` of poll(). False after 60 seconds, the longest that anything here waits.
bool waitFor(int fd, short events);

/// The other end of a channel is closed: its process has ended.
class PeerGone : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Two pipes to the other process. It carries plain structs as they are in memory: both ends are
/// the same program. Every call ends: with PeerGone, or with an error at the deadline.
class Channel {
  public:
    Channel(Descriptor in, Descriptor out) : in_(std::move(in)), out_(std::move(out)) {}

    template <typename Message>
        requires std::is_trivially_copyable_v<Message>
    void send(const Message &message) {
        write(std::as_bytes(std::span(&message, 1)));
    }

    template <typename Message>
        requires std::is_trivially_copyable_v<Message>
    Message receive() {
        Message message = {};
        read(std::as_writable_bytes(std::span(&message, 1)));
        return message;
    }

  private:
    void write(std::span<const std::byte> bytes);
    void read(std::span<std::byte> bytes);

    Descriptor in_;
    Descriptor out_;
};

/// Closed in programs that this one starts.
struct Pipe {
    Descriptor in;  ///< to read from
    Descriptor out; ///< to write to
};

Pipe makePipe();

} // namespace range_demo
