#include "unit_tests/black_box/confinement.h"
#include "unit_tests/black_box/peer_role.h"
#include "unit_tests/black_box/process_state.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

/// What makes a peer's life hard: signals, limits, and clients that it is itself.
namespace causeway::black_box {

namespace {

void check(bool done, const char *what) {
    if (!done) {
        throw HarnessError(fmt::format("{}: {}", what, strerror(errno)));
    }
}

void onAlarm(int /*signal*/) {}

/// A signal to the process each so many microseconds, without SA_RESTART: system calls of its
/// threads are interrupted again and again. 0 ends it.
void stormOfSignals(uint64_t microseconds) {
    struct sigaction action = {};
    action.sa_handler = onAlarm;
    check(sigaction(SIGALRM, &action, nullptr) == 0, "sigaction");
    const timeval interval = {.tv_sec = 0, .tv_usec = static_cast<suseconds_t>(microseconds)};
    const itimerval timer = {.it_interval = interval, .it_value = interval};
    check(setitimer(ITIMER_REAL, &timer, nullptr) == 0, "setitimer");
}

/// Pages of alternating protection, each a mapping of its own, until the kernel gives no more; then
/// `room` are given back. UINT64_MAX ends it.
void fillMappings(std::span<std::byte> &filled, uint64_t room) {
    if (room == UINT64_MAX) {
        munmap(filled.data(), filled.size());
        filled = {};
        return;
    }
    constexpr size_t most = size_t{1} << 20;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void *const start =
        mmap(nullptr, most * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(start != MAP_FAILED, "mmap");
    filled = {static_cast<std::byte *>(start), most * page};
    size_t used = 1;
    while (used < most && mprotect(filled.data() + used * page, page, PROT_READ) == 0) {
        used += 2; // a page of the other kind on each side
    }
    for (uint64_t i = 0; i < room; i += 2) {
        used -= 2;
        check(mprotect(filled.data() + used * page, page, PROT_NONE) == 0, "mprotect");
    }
}

/// With `most` 0 this user, who must not be root, starts no thread more; UINT64_MAX ends it.
void limitThreads(uint64_t most) {
    rlimit limits = {};
    getrlimit(RLIMIT_NPROC, &limits);
    limits.rlim_cur = most == UINT64_MAX ? limits.rlim_max : most;
    check(setrlimit(RLIMIT_NPROC, &limits) == 0, "setrlimit");
}

/// So many clients that ask for as many descriptors as fit in one answer, and never take it.
void talkAndNeverRead(PeerState &state, const Request &request) {
    for (uint64_t i = 0; i < request.value; ++i) {
        state.talks.emplace_back(request.handle);
        state.talks.back().send(openRequest(request.handle, 253));
    }
}

void tellHoldings(Reply &reply) {
    reply.size = namedSockets(); // first: connections may end meanwhile
    reply.value = openDescriptors().size();
    reply.extra = memoryFileMappings();
    reply.number = static_cast<int32_t>(threads());
}

} // namespace

bool serveDuress(PeerState &state, const Request &request, Reply &reply) {
    switch (request.command) {
    case Command::Holdings:
        tellHoldings(reply);
        return true;
    case Command::StormOfSignals:
        stormOfSignals(request.value);
        return true;
    case Command::FillMappings:
        fillMappings(state.filledMappings, request.value);
        return true;
    case Command::LimitThreads:
        limitThreads(request.value);
        return true;
    case Command::DenyMemoryFiles:
        confine("deny:memfd_create=EPERM");
        return true;
    case Command::TalkAndNeverRead:
        talkAndNeverRead(state, request);
        return true;
    case Command::StopTalking:
        state.talks.clear();
        return true;
    default:
        return false;
    }
}

} // namespace causeway::black_box
