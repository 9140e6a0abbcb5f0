#include "unit_tests/black_box/confinement.h"
#include "unit_tests/black_box/protocol.h"
#include "unit_tests/black_box/ze_calls.h"

#include <gtest/gtest.h>

#include <linux/capability.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace causeway::black_box;

std::optional<std::string_view> option(int argc, char **argv, std::string_view name) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument(argv[i]);
        if (argument.starts_with(name)) {
            return argument.substr(name.size());
        }
    }
    return std::nullopt;
}

int numberOption(int argc, char **argv, std::string_view name) {
    const auto text = option(argc, argv, name);
    return text ? static_cast<int>(std::strtol(std::string(*text).c_str(), nullptr, 10)) : -1;
}

/// Descriptors that this process was born with go no further, neither a test's surroundings nor a
/// child's pipes. The three standard ones do.
void keepFromChildren() {
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
}

void limitDescriptors(int limit) {
    rlimit limits = {};
    if (limit > 0 && getrlimit(RLIMIT_NOFILE, &limits) == 0) {
        limits.rlim_cur = static_cast<rlim_t>(limit);
        setrlimit(RLIMIT_NOFILE, &limits);
    }
}

void dropCapabilities() {
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none = {};
    if (syscall(SYS_capset, &header, none.data()) != 0) {
        std::perror("capset");
        std::exit(2);
    }
}

int runChild(std::string_view role, int argc, char **argv) {
    // If the test dies, so does its child, even one that waits for the driver.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limitDescriptors(numberOption(argc, argv, "--descriptors="));
    if (numberOption(argc, argv, "--unprivileged=") == 1) {
        dropCapabilities();
    }
    if (const auto list = option(argc, argv, "--confine=")) {
        confine(*list);
    }
    const int in = numberOption(argc, argv, "--in=");
    const int out = numberOption(argc, argv, "--out=");
    if (role == "peer") {
        return runPeer(in, out, numberOption(argc, argv, "--socket="));
    }
    if (role == "lister") {
        return runLister(in, out);
    }
    if (role == "program") {
        return runWholeProgram(out);
    }
    if (role == "exit") {
        return runExitProgram(in, out);
    }
    std::fprintf(stderr, "unknown role\n");
    return 2;
}

} // namespace

int main(int argc, char **argv) {
    keepFromChildren();
    if (const auto role = option(argc, argv, "--child=")) {
        try {
            return runChild(*role, argc, argv);
        } catch (const HarnessError &error) {
            std::fprintf(stderr, "%s\n", error.what());
            return 2;
        }
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
