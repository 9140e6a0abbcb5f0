#include "shared/os/linux_os.h"
#include "shared/os/retry.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <system_error>

namespace causeway {

Error describe(Errno error, std::string_view what, Scarce scarce) {
    const char *text = ::strerrordesc_np(error.value); // unlike strerror, the same for all threads
    return Error{statusFromErrno(error.value, scarce),
                 fmt::format("{}: {}", what, text != nullptr ? text : "unknown error")};
}

Os &linuxOs() {
    // Never destroyed: threads and static destructors of the application may outlive any order.
    static LinuxOs *instance = new LinuxOs;
    return *instance;
}

OsResult<int> LinuxOs::poll(std::span<pollfd> fds, std::chrono::milliseconds timeout) {
    const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(timeout.count()));
    if (ready < 0) {
        return std::unexpected(Errno{errno});
    }
    return ready;
}

OsResult<UniqueFd> LinuxOs::epollCreate() {
    return retryFd([] { return ::epoll_create1(EPOLL_CLOEXEC); });
}

OsResult<void> LinuxOs::epollControl(
    int epoll, int operation, int fd, uint32_t events, uint64_t data) {
    epoll_event event = {};
    event.events = events;
    event.data.u64 = data;
    return retryVoid([&] { return ::epoll_ctl(epoll, operation, fd, &event); });
}

OsResult<size_t> LinuxOs::epollWait(int epoll,
                                    std::span<epoll_event> events,
                                    std::chrono::milliseconds timeout) {
    const int ready = ::epoll_wait(
        epoll, events.data(), static_cast<int>(events.size()), static_cast<int>(timeout.count()));
    if (ready < 0) {
        return std::unexpected(Errno{errno});
    }
    return static_cast<size_t>(ready);
}

OsResult<UniqueFd> LinuxOs::eventCreate() {
    return retryFd([] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); });
}

OsResult<void> LinuxOs::eventSignal(int fd) {
    const uint64_t one = 1;
    return retryVoid([&] { return ::write(fd, &one, sizeof(one)); });
}

OsResult<void> LinuxOs::futexWait(const std::atomic<uint32_t> &word,
                                  uint32_t expected,
                                  std::chrono::nanoseconds timeout) {
    // What the kernel reads is the object's bytes.
    static_assert(sizeof(word) == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);
    constexpr int64_t nsPerSecond = 1'000'000'000;
    const timespec relative = {.tv_sec = timeout.count() / nsPerSecond,
                               .tv_nsec = timeout.count() % nsPerSecond};
    // Not FUTEX_PRIVATE_FLAG: the word may lie in memory that processes share.
    const auto result = ::syscall(
        SYS_futex, &word, FUTEX_WAIT, expected, timeout.count() < 0 ? nullptr : &relative);
    if (result < 0) {
        return std::unexpected(Errno{errno});
    }
    return {};
}

OsResult<void> LinuxOs::futexWake(const std::atomic<uint32_t> &word) {
    return retryVoid([&] { return ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX); });
}

pid_t LinuxOs::processId() {
    return ::getpid();
}

uid_t LinuxOs::userId() {
    return ::geteuid();
}

OsResult<UniqueFd> LinuxOs::openProcess(pid_t pid) {
    // Debian 12's glibc declares pidfd_open, but not for every system we build on.
    return retryFd([&] { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); });
}

OsResult<UniqueFd> LinuxOs::fetchDescriptor(int process, int fd) {
    return retryFd([&] { return static_cast<int>(::syscall(SYS_pidfd_getfd, process, fd, 0)); });
}

OsResult<void> LinuxOs::randomBytes(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const auto length = retry([&] { return ::getrandom(bytes.data(), bytes.size(), 0); });
        if (!length) {
            return std::unexpected(length.error());
        }
        bytes = bytes.subspan(static_cast<size_t>(*length));
    }
    return {};
}

std::chrono::steady_clock::time_point LinuxOs::now() {
    return std::chrono::steady_clock::now();
}

std::chrono::nanoseconds LinuxOs::rawTime() {
    timespec time = {};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &time); // fails for no clock that Linux has
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

uint64_t LinuxOs::descriptorLimit() {
    rlimit limit = {};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

uint64_t LinuxOs::totalMemory() {
    return static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * pageSize();
}

uint64_t LinuxOs::pageSize() {
    return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

OsResult<std::array<uint8_t, 16>> LinuxOs::bootId() {
    auto file =
        retryFd([] { return ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC); });
    if (!file) {
        return std::unexpected(file.error());
    }
    std::array<char, 64> text = {};
    const auto length = retry([&] { return ::read(file->get(), text.data(), text.size() - 1); });
    if (!length) {
        return std::unexpected(length.error());
    }
    std::array<uint8_t, 16> id = {};
    size_t digits = 0;
    for (const char *c = text.data(); *c != '\0' && digits < 32; ++c) {
        const char *found = std::strchr("0123456789abcdef", *c);
        if (found == nullptr) {
            continue; // dashes and the line end
        }
        const auto value = static_cast<uint8_t>(found - "0123456789abcdef");
        id[digits / 2] = static_cast<uint8_t>(id[digits / 2] << 4 | value);
        ++digits;
    }
    if (digits != 32) {
        return std::unexpected(Errno{EIO});
    }
    return id;
}

OsResult<std::thread> LinuxOs::startThread(const char *name, std::function<void()> body) {
    // The mask is inherited: a signal meant for the application must never run on our thread.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    OsResult<std::thread> result = std::unexpected(Errno{EAGAIN});
    try {
        result = std::thread(std::move(body));
        ::pthread_setname_np(result->native_handle(), name);
    } catch (const std::system_error &error) {
        result = std::unexpected(Errno{error.code().value()});
    } catch (const std::bad_alloc &) {
        result = std::unexpected(Errno{ENOMEM});
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return result;
}

} // namespace causeway
