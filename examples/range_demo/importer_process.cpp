#include "examples/range_demo/importer_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

namespace range_demo {

namespace {

void keepOpenInChild(const Descriptor &descriptor) {
    if (fcntl(descriptor.get(), F_SETFD, 0) != 0) {
        throw std::system_error(errno, std::generic_category(), "fcntl");
    }
}

pid_t spawnThisProgram(std::vector<std::string> &arguments) {
    std::vector<char *> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string &argument : arguments) {
        argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    pid_t pid = -1;
    const int error = posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv.data(), environ);
    if (error != 0) {
        throw std::system_error(error, std::generic_category(), "posix_spawn");
    }
    return pid;
}

std::string describeEnd(int status) {
    if (WIFSIGNALED(status)) {
        return fmt::format("was killed by signal {}", WTERMSIG(status));
    }
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

} // namespace

ImporterProcess::ImporterProcess(std::vector<std::string> arguments)
    : ImporterProcess(std::move(arguments), makePipe(), makePipe()) {}

ImporterProcess::ImporterProcess(std::vector<std::string> arguments,
                                 Pipe toImporter,
                                 Pipe fromImporter)
    : channel_(std::move(fromImporter.in), std::move(toImporter.out)) {
    keepOpenInChild(toImporter.in);
    keepOpenInChild(fromImporter.out);
    arguments.insert(arguments.end(),
                     {"--pipes",
                      fmt::format("{}", toImporter.in.get()),
                      fmt::format("{}", fromImporter.out.get())});
    pid_ = spawnThisProgram(arguments);
    // The child's ends close here as the pipes go out of scope, so that its end is an end of file.
}

ImporterProcess::~ImporterProcess() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        reap();
    }
}

void ImporterProcess::finish() {
    // A descriptor for the process becomes readable when it ends. The C library's own pidfd_open
    // cannot be linked from C++ in version 2.36.
    const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (process.get() < 0) {
        throw std::system_error(errno, std::generic_category(), "pidfd_open");
    }
    if (!waitFor(process.get(), POLLIN)) {
        kill(pid_, SIGKILL);
    }
    reap();
    if (status_ != 0) {
        throw std::runtime_error("the importer " + describeEnd(status_));
    }
}

void ImporterProcess::reap() {
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

} // namespace range_demo
