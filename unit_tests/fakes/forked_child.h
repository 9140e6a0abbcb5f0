#pragma once

#include "shared/base/unique_fd.h"

#include <sys/types.h>

#include <cstdint>
#include <functional>

namespace causeway::fakes {

/// Skipped: as clone(2) makes children, without what pthread_atfork(3) asks for.
enum class ForkHandlers : uint8_t { Run, Skipped };

/// A forked copy of this process that plays a peer. It runs `body` and ends with _exit: no
/// destructors, no leak check. Not under ThreadSanitizer. The destructor kills and reaps it.
class ForkedChild {
  public:
    /// The child's end of the conversation.
    class Side {
      public:
        Side(int ready, int next) : ready_(ready), next_(next) {}

        /// Tells the parent that it may go on.
        void ready() const;
        /// Waits until the parent says next(), or is gone.
        void waitForNext() const;

      private:
        int ready_;
        int next_;
    };

    /// `body` answers the exit code.
    explicit ForkedChild(const std::function<int(const Side &)> &body,
                         ForkHandlers handlers = ForkHandlers::Run);
    ForkedChild(const ForkedChild &) = delete;
    ForkedChild &operator=(const ForkedChild &) = delete;
    ~ForkedChild();

    /// Waits until the child, or a child of its, says ready(). Fails the test if all are gone.
    void waitUntilReady() const;
    void next() const;

    /// All that wait for next(), now or later, go on.
    void letGo() { next_.reset(); }

    void kill() const;
    /// Waits for the end; the exit code, or minus the number of the signal.
    [[nodiscard]] int wait();

  private:
    UniqueFd ready_;
    UniqueFd next_;
    pid_t pid_ = -1; ///< -1 once reaped
};

} // namespace causeway::fakes
