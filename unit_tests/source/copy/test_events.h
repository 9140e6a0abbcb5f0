#pragma once

#include "source/copy/event_state.h"
#include "unit_tests/fakes/forwarding_os.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <semaphore>

namespace causeway::copy {

inline constexpr uint64_t forEver = UINT64_MAX;

/// A page of zeroed events in memory that forked children share.
class TestEvents {
  public:
    TestEvents()
        : page_(::mmap(
              nullptr, sizeBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        EXPECT_NE(page_, MAP_FAILED);
    }

    TestEvents(const TestEvents &) = delete;
    TestEvents &operator=(const TestEvents &) = delete;

    ~TestEvents() { ::munmap(page_, sizeBytes); }

    EventState &operator[](size_t index) {
        return EventState::at(static_cast<std::byte *>(page_) + index * sizeof(EventState));
    }

    /// The state word of an event, as a hostile process would write it: nobody is woken.
    std::atomic<uint32_t> &rawState(size_t index) {
        return *reinterpret_cast<std::atomic<uint32_t> *>(&(*this)[index]);
    }

  private:
    static constexpr size_t sizeBytes = 4096;
    void *page_;
};

/// Tells when somebody goes to sleep on a futex.
class SleepWatchingOs final : public fakes::ForwardingOs {
  public:
    using ForwardingOs::ForwardingOs;

    /// Returns when a thread has been about to sleep since the last call.
    void waitForSleeper() { sleepers_.acquire(); }

    OsResult<void> futexWait(const std::atomic<uint32_t> &word,
                             uint32_t expected,
                             std::chrono::nanoseconds timeout) override {
        sleepers_.release();
        return os_.futexWait(word, expected, timeout);
    }

  private:
    std::counting_semaphore<> sleepers_{0};
};

} // namespace causeway::copy
