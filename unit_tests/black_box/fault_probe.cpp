#include "unit_tests/black_box/fault_probe.h"

#include "unit_tests/black_box/ze_calls.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace causeway::black_box {

namespace {

/// A sanitizer's handler would turn the signal into an exit code.
void faultPlainly() {
    std::signal(SIGSEGV, SIG_DFL);
    std::signal(SIGBUS, SIG_DFL);
    const rlimit noCore = {};
    setrlimit(RLIMIT_CORE, &noCore);
}

template <typename Touch>
int signalOf(Touch touch) {
    const pid_t pid = fork();
    if (pid < 0) {
        throw HarnessError("fork failed");
    }
    if (pid == 0) {
        faultPlainly();
        touch();
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

} // namespace

int signalOfRead(const std::byte *address) {
    return signalOf([address] {
        [[maybe_unused]] const std::byte seen = *static_cast<const volatile std::byte *>(address);
    });
}

int signalOfWrite(std::byte *address) {
    return signalOf([address] { *static_cast<volatile std::byte *>(address) = std::byte{0}; });
}

} // namespace causeway::black_box
