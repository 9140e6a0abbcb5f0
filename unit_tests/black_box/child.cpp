#include "unit_tests/black_box/child.h"

#include "unit_tests/black_box/ze_calls.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>

namespace causeway::black_box {

namespace {

struct Pipe {
    Descriptor readEnd;
    Descriptor writeEnd;
};

Pipe makePipe() {
    std::array<int, 2> ends = {};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw HarnessError(fmt::format("pipe: {}", strerror(errno)));
    }
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<std::string> mergedEnvironment(const std::vector<std::string> &changes) {
    std::vector<std::string> merged = changes;
    for (char **entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const auto name = text.substr(0, text.find('=') + 1);
        bool isChanged = false;
        for (const auto &change : changes) {
            isChanged = isChanged || change.starts_with(name);
        }
        if (!isChanged) {
            merged.emplace_back(text);
        }
    }
    return merged;
}

std::vector<char *> pointersTo(std::vector<std::string> &texts) {
    std::vector<char *> pointers;
    pointers.reserve(texts.size() + 1);
    for (auto &text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

pid_t spawn(std::vector<std::string> arguments,
            std::vector<std::string> environment,
            std::span<const int> inherited) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int fd : inherited) {
        // Onto itself: clears CLOEXEC in the child alone.
        posix_spawn_file_actions_adddup2(&actions, fd, fd);
    }
    pid_t pid = -1;
    const int error = posix_spawn(&pid,
                                  "/proc/self/exe",
                                  &actions,
                                  nullptr,
                                  pointersTo(arguments).data(),
                                  pointersTo(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        throw HarnessError(fmt::format("posix_spawn: {}", strerror(error)));
    }
    return pid;
}

std::string describeStatus(int status) {
    if (WIFSIGNALED(status)) {
        return fmt::format("ended by signal {}", WTERMSIG(status));
    }
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

/// Holds SIGPIPE back in this thread and swallows the one that was raised meanwhile.
class SigpipeGuard {
  public:
    SigpipeGuard() {
        sigemptyset(&pipeSignal_);
        sigaddset(&pipeSignal_, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipeSignal_, &before_);
    }

    ~SigpipeGuard() {
        const timespec now = {};
        sigtimedwait(&pipeSignal_, nullptr, &now);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

    SigpipeGuard(const SigpipeGuard &) = delete;
    SigpipeGuard &operator=(const SigpipeGuard &) = delete;
    SigpipeGuard(SigpipeGuard &&) = delete;
    SigpipeGuard &operator=(SigpipeGuard &&) = delete;

  private:
    sigset_t pipeSignal_ = {};
    sigset_t before_ = {};
};

bool waitReadable(int fd, std::chrono::milliseconds wait) {
    pollfd entry = {fd, POLLIN, 0};
    return poll(&entry, 1, static_cast<int>(wait.count())) > 0;
}

} // namespace

bool writeAll(int fd, std::span<const std::byte> bytes) {
    const SigpipeGuard guard;
    while (!bytes.empty()) {
        const ssize_t written = write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) {
            return false;
        }
        bytes = bytes.subspan(static_cast<size_t>(std::max<ssize_t>(written, 0)));
    }
    return true;
}

ReadStatus readAll(int fd, std::span<std::byte> bytes, std::optional<Deadline> deadline) {
    while (!bytes.empty()) {
        if (deadline && !waitReadable(fd, deadline->remaining())) {
            if (deadline->isOver()) {
                return ReadStatus::TimedOut;
            }
            continue;
        }
        const ssize_t got = read(fd, bytes.data(), bytes.size());
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return ReadStatus::EndOfFile;
        }
        bytes = bytes.subspan(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    }
    return ReadStatus::Complete;
}

Child::Child(const std::string &role, const ChildOptions &options) {
    Pipe commands = makePipe();
    Pipe replies = makePipe();
    std::vector<std::string> arguments = {
        "black_box_tests",
        fmt::format("--child={}", role),
        fmt::format("--in={}", commands.readEnd.get()),
        fmt::format("--out={}", replies.writeEnd.get()),
        fmt::format("--descriptors={}", options.descriptorLimit),
        fmt::format("--unprivileged={}", options.isUnprivileged ? 1 : 0),
        fmt::format("--confine={}", options.confinement),
        fmt::format("--socket={}", options.socket),
    };
    std::vector<int> inherited = {commands.readEnd.get(), replies.writeEnd.get()};
    if (options.socket >= 0) {
        inherited.push_back(options.socket);
    }
    pid_ = spawn(std::move(arguments), mergedEnvironment(options.environment), inherited);
    toChild_ = std::move(commands.writeEnd);
    fromChild_ = std::move(replies.readEnd);
}

Child::~Child() {
    try {
        finish();
    } catch (const HarnessError &error) {
        ADD_FAILURE() << error.what();
    }
    if (!status_) {
        kill();
    }
}

void Child::send(std::span<const std::byte> bytes) {
    if (!writeAll(toChild_.get(), bytes)) {
        throw HarnessError("the child takes no commands any more");
    }
}

void Child::receive(std::span<std::byte> bytes, Deadline deadline) {
    switch (readAll(fromChild_.get(), bytes, deadline)) {
    case ReadStatus::Complete:
        return;
    case ReadStatus::TimedOut:
        throw HarnessError("the child did not answer in time");
    case ReadStatus::EndOfFile:
        reap(Deadline());
        throw HarnessError(
            fmt::format("no answer: the child {}",
                        status_ ? describeStatus(*status_) : "closed its pipe but did not end"));
    }
}

std::string Child::readToEnd(Deadline deadline) {
    std::string text;
    for (;;) {
        char byte = 0;
        switch (readAll(fromChild_.get(), std::as_writable_bytes(std::span(&byte, 1)), deadline)) {
        case ReadStatus::Complete:
            text += byte;
            break;
        case ReadStatus::TimedOut:
            throw HarnessError("the child did not end in time");
        case ReadStatus::EndOfFile:
            return text;
        }
    }
}

bool Child::isReadable(std::chrono::milliseconds wait) {
    return waitReadable(fromChild_.get(), wait);
}

void Child::signal(int number) const {
    if (status_) {
        throw HarnessError("the child has ended");
    }
    ::kill(pid_, number);
}

void Child::stop() {
    signal(SIGSTOP);
    const auto hasStopped = [this] {
        siginfo_t info = {};
        return waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) == 0 &&
               info.si_pid == pid_;
    };
    if (!eventually(hasStopped)) {
        throw HarnessError("the child did not stop");
    }
}

void Child::resume() {
    signal(SIGCONT);
}

void Child::kill() {
    if (!status_) {
        ::kill(pid_, SIGKILL);
        reap(Deadline());
    }
    toChild_.reset();
    fromChild_.reset();
}

void Child::finish() {
    toChild_.reset();
    if (status_) {
        return;
    }
    if (!reap(Deadline())) {
        throw HarnessError("the child did not end in time");
    }
    fromChild_.reset();
    if (const int status = status_.value_or(0); status != 0) {
        throw HarnessError(fmt::format("the child {}", describeStatus(status)));
    }
}

bool Child::reap(Deadline deadline) {
    if (status_) {
        return true;
    }
    // glibc 2.36 declares pidfd_open for C alone.
    const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (process.get() < 0 || !waitReadable(process.get(), deadline.remaining())) {
        return false;
    }
    int status = 0;
    if (waitpid(pid_, &status, 0) != pid_) {
        return false;
    }
    status_ = status;
    return true;
}

} // namespace causeway::black_box
