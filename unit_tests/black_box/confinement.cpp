#include "unit_tests/black_box/confinement.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

namespace causeway::black_box {

namespace {

/// Neither root nor the overflow user, which stands for any user that has no number here.
constexpr uid_t strangersUid = 12345;

constexpr std::array deniable = {std::pair{"pidfd_open", SYS_pidfd_open},
                                 std::pair{"pidfd_getfd", SYS_pidfd_getfd},
                                 std::pair{"memfd_create", SYS_memfd_create},
                                 std::pair{"clone", SYS_clone}};

constexpr std::array errors = {std::pair{"EPERM", EPERM},
                               std::pair{"ENOSYS", ENOSYS},
                               std::pair{"EAGAIN", EAGAIN},
                               std::pair{"ENFILE", ENFILE}};

[[noreturn]] void fail(std::string_view what) {
    std::fprintf(
        stderr, "cannot confine this process: %.*s\n", static_cast<int>(what.size()), what.data());
    std::exit(2);
}

void check(bool done, std::string_view what) {
    if (!done) {
        std::perror("confinement");
        fail(what);
    }
}

template <typename Table>
long valueOf(const Table &table, std::string_view name) {
    for (const auto &[known, value] : table) {
        if (name == known) {
            return static_cast<long>(value);
        }
    }
    fail(name);
}

std::vector<std::string_view> splitList(std::string_view list) {
    std::vector<std::string_view> parts;
    while (!list.empty()) {
        const size_t comma = list.find(',');
        parts.push_back(list.substr(0, comma));
        list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    }
    return parts;
}

/// The first of the family goes on as process 1; the one that was here before waits for it.
void enterPidNamespace() {
    check(unshare(CLONE_NEWPID) == 0, "unshare(CLONE_NEWPID)");
    const pid_t first = fork();
    check(first >= 0, "fork");
    if (first > 0) {
        int status = 0;
        waitpid(first, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void deny(long call, long error) {
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
    const auto number = static_cast<uint32_t>(call);
    const uint32_t answer = SECCOMP_RET_ERRNO | (static_cast<uint32_t>(error) & SECCOMP_RET_DATA);
    std::array<sock_filter, 4> filter = {{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog program = {.len = filter.size(), .filter = filter.data()};
    check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0, "PR_SET_SECCOMP");
}

/// "clone" stands for clone3(2) too, which glibc asks first.
void denyText(std::string_view text) {
    const size_t equals = text.find('=');
    const long call = valueOf(deniable, text.substr(0, equals));
    const long error = valueOf(errors, text.substr(equals + 1));
    deny(call, error);
    if (call == SYS_clone) {
        deny(SYS_clone3, error);
    }
}

} // namespace

const char *whyNotConfine() {
    return geteuid() == 0 ? nullptr : "needs root";
}

const char *whyNotBeAnotherUser() {
    if (const char *reason = whyNotConfine()) {
        return reason;
    }
    const char *driver = getenv("ZE_ENABLE_ALT_DRIVERS"); // NOLINT(concurrency-mt-unsafe)
    const pid_t child = fork();
    if (child == 0) {
        const bool isOther = setresgid(strangersUid, strangersUid, strangersUid) == 0 &&
                             setresuid(strangersUid, strangersUid, strangersUid) == 0;
        _exit(isOther && driver != nullptr && access(driver, R_OK) == 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status == 0 ? nullptr : "another user cannot read the driver where it lies";
}

void confine(std::string_view list) {
    constexpr std::string_view denial = "deny:";
    bool network = false;
    bool pids = false;
    bool user = false;
    std::vector<std::string_view> denials;
    for (const std::string_view part : splitList(list)) {
        if (part.starts_with(denial)) {
            denials.push_back(part.substr(denial.size()));
        } else {
            network |= part == "network";
            pids |= part == "pids";
            user |= part == "user";
        }
    }
    if (network) {
        check(unshare(CLONE_NEWNET) == 0, "unshare(CLONE_NEWNET)");
    }
    if (pids) {
        enterPidNamespace();
    }
    if (user) {
        check(setresgid(strangersUid, strangersUid, strangersUid) == 0 &&
                  setresuid(strangersUid, strangersUid, strangersUid) == 0,
              "setresuid");
        prctl(PR_SET_PDEATHSIG, SIGKILL); // a change of user clears it
    }
    for (const std::string_view part : denials) {
        denyText(part);
    }
}

} // namespace causeway::black_box
