// Shares ranges of many physical memory objects between two processes, each with one 64-byte
// handle. exporter.cpp and importer.cpp hold what to look at; the README says how to run it.

#include "examples/range_demo/channel.h"
#include "examples/range_demo/exporter.h"
#include "examples/range_demo/importer.h"
#include "examples/range_demo/pattern.h"
#include "examples/range_demo/report.h"
#include "examples/range_demo/ze_calls.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <system_error>

namespace range_demo {

namespace {

struct Options {
    uint32_t objectCount = 4096;
    std::string device; ///< empty: as the environment says
    Role role = Role::Exporter;
    std::array<int, 2> pipes = {-1, -1}; ///< the importer's, to read from and to write to
};

/// Far fewer than there are objects: an object costs no file.
constexpr rlim_t fileLimit = 64;

void addOptions(CLI::App &app, Options &options) {
    app.add_option("--objects", options.objectCount, "Objects in part 2")
        ->check(CLI::Range(uint32_t{1}, maximumObject))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--device", options.device, "Sets CAUSEWAY_DEVICES, e.g. soft")
        ->type_name("NAME");
    // How the program starts itself a second time; in no help text.
    auto *pipes = app.add_option("--pipes", options.pipes)->group("");
    const std::map<std::string, Role> roles = {{"importer", Role::Importer}};
    app.add_option("--role", options.role)
        ->transform(CLI::CheckedTransformer(roles))
        ->needs(pipes)
        ->group("");
}

/// Before the driver is loaded, so that it never sees another limit. The importer inherits it.
void limitOpenFiles() {
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = fileLimit;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        throw std::system_error(errno, std::generic_category(), "setrlimit(RLIMIT_NOFILE)");
    }
}

void run(const Options &options) {
    // A closed pipe is an error of write(), not the end of the program.
    std::signal(SIGPIPE, SIG_IGN);
    limitOpenFiles();
    if (!options.device.empty()) {
        setenv("CAUSEWAY_DEVICES", options.device.c_str(), 1);
    }
    if (options.role == Role::Exporter) {
        const Verdict sum = runExporter(options.objectCount);
        if (!cleanUpFailed()) {
            printLine(fmt::format(
                "\ndemo: verified {} bytes in {} objects", sum.verifiedBytes, sum.verifiedObjects));
        }
        return;
    }
    Channel channel(Descriptor(options.pipes[0]), Descriptor(options.pipes[1]));
    runImporter(channel, options.objectCount);
}

int parseAndRun(int argc, char **argv) {
    Options options;
    CLI::App app("Shares a range of many memory objects between two processes with 64 bytes.");
    addOptions(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        run(options);
    } catch (const std::exception &error) {
        fmt::print(stderr, "{}: {}\n", nameOf(options.role), error.what());
        return 1;
    }
    return cleanUpFailed() ? 1 : 0;
}

} // namespace

} // namespace range_demo

int main(int argc, char **argv) {
    try {
        return range_demo::parseAndRun(argc, argv);
    } catch (...) {
        // Nothing could be said: there is no memory left, or no standard error.
        return 1;
    }
}
