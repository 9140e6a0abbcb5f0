#pragma once

#include "unit_tests/black_box/deadline.h"
#include "unit_tests/black_box/descriptor.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace causeway::black_box {

struct ChildOptions {
    std::vector<std::string> environment = {}; ///< "NAME=value", on top of this process's
    unsigned descriptorLimit = 0; ///< soft RLIMIT_NOFILE before the driver is loaded; 0: as here
    bool isUnprivileged =
        false; ///< without capabilities: root is spared some of the kernel's limits
    std::string confinement = {}; ///< see confinement.h
    int socket = -1;              ///< a socket for the child, for tests of moved descriptors only
};

/// This program run anew (fork and exec) in a role, with two pipes and nothing else in common.
///
/// Owns the process and ends no other: the destructor closes the pipes, at which every role ends,
/// waits, kills what does not end in time, and reaps. A child that ends by itself with anything but
/// exit code 0 is a test failure. One thread at a time.
class Child {
  public:
    explicit Child(const std::string &role, const ChildOptions &options = {});
    ~Child();
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;
    Child(Child &&) = delete;
    Child &operator=(Child &&) = delete;

    /// All of `bytes`, or HarnessError: the child is gone or the deadline is over.
    void send(std::span<const std::byte> bytes);
    void receive(std::span<std::byte> bytes, Deadline deadline = Deadline());

    /// All that the child writes until it ends, or HarnessError: the deadline is over.
    std::string readToEnd(Deadline deadline = Deadline());

    /// False where nothing has arrived when time is up.
    bool isReadable(std::chrono::milliseconds wait);

    /// Stops all threads; returns once the last of them has stopped.
    void stop();
    void resume();

    /// SIGKILL, and wait for the end.
    void kill();

    /// The child reads the end of its pipe, and may still write.
    void closeInput() { toChild_.reset(); }

    /// Closes the pipes and waits for the end, which must be exit code 0.
    void finish();

    [[nodiscard]] pid_t pid() const { return pid_; }

  private:
    void signal(int number) const;
    bool reap(Deadline deadline);

    pid_t pid_ = -1;
    Descriptor toChild_;
    Descriptor fromChild_;
    std::optional<int> status_; ///< as of waitpid, once reaped
};

/// Writes all bytes and turns a gone reader into false, without SIGPIPE: the signal keeps its
/// default action in tests, since a driver must not raise it.
bool writeAll(int fd, std::span<const std::byte> bytes);

enum class ReadStatus : uint8_t { Complete, EndOfFile, TimedOut };

/// Reads exactly `bytes`; waits for ever where no deadline is given.
ReadStatus readAll(int fd, std::span<std::byte> bytes, std::optional<Deadline> deadline);

} // namespace causeway::black_box
