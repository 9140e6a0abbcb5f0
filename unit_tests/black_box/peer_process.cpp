#include "unit_tests/black_box/child.h"
#include "unit_tests/black_box/peer_role.h"
#include "unit_tests/black_box/process_state.h"
#include "unit_tests/black_box/squatter.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace causeway::black_box {

namespace {

/// Neither root nor the overflow user, which stands for any user that has no number here.
constexpr uid_t strangersUid = 12345;

int checked(int fd, const char *what) {
    if (fd < 0) {
        throw HarnessError(fmt::format("{}: {}", what, strerror(errno)));
    }
    return fd;
}

uint64_t countInheritedByOthers() {
    uint64_t count = 0;
    Child lister("lister");
    lister.receive(std::as_writable_bytes(std::span(&count, 1)));
    lister.finish();
    return count;
}

void limitAddressSpace(uint64_t more) {
    rlimit limits = {};
    getrlimit(RLIMIT_AS, &limits);
    limits.rlim_cur = more == UINT64_MAX ? limits.rlim_max : addressSpaceBytes() + more;
    checked(setrlimit(RLIMIT_AS, &limits), "setrlimit");
}

int receiveDescriptor(int socket) {
    char payload = 0;
    iovec data = {&payload, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR(&message) == nullptr) {
        throw HarnessError("no descriptor came over the socket");
    }
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
    return fd;
}

int makePipeEnd() {
    std::array<int, 2> ends = {};
    checked(pipe2(ends.data(), O_CLOEXEC), "pipe");
    close(ends[1]);
    return ends[0];
}

int makeMemfd(bool isSealed) {
    const int fd = checked(memfd_create("unrelated", MFD_CLOEXEC | MFD_ALLOW_SEALING), "memfd");
    checked(ftruncate(fd, chunk), "ftruncate");
    if (isSealed) {
        checked(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), "F_ADD_SEALS");
    }
    return fd;
}

int makeDescriptor(DescriptorKind kind) {
    switch (kind) {
    case DescriptorKind::DevNull:
        return checked(open("/dev/null", O_RDWR | O_CLOEXEC), "open");
    case DescriptorKind::Pipe:
        return makePipeEnd();
    case DescriptorKind::Memfd:
        return makeMemfd(false);
    case DescriptorKind::SealedMemfd:
        return makeMemfd(true);
    }
    throw HarnessError("unknown kind of descriptor");
}

/// Fills the descriptor table and then makes room for `room`; UINT64_MAX empties it again.
void leaveDescriptors(std::vector<int> &held, uint64_t room) {
    if (room == UINT64_MAX) {
        room = held.size();
    } else {
        for (int fd = 0; (fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0;) {
            held.push_back(fd);
        }
    }
    for (uint64_t i = 0; i < room; ++i) {
        close(held.back());
        held.pop_back();
    }
}

/// The peer itself: closes its view, so that the fork's is the last, and waits for the fork.
[[noreturn]] void stepAside(PeerState &state, uint64_t view, pid_t fork, Descriptor announce) {
    zeMemCloseIpcHandle(state.ze(), pointer(view));
    announce.reset();
    close(state.in);
    close(state.out);
    int status = 0;
    waitpid(fork, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

void forkAndServe(PeerState &state, uint64_t view) {
    std::array<int, 2> ends = {};
    checked(pipe2(ends.data(), O_CLOEXEC), "pipe");
    const Descriptor closed(ends[0]);
    Descriptor announce(ends[1]);
    const pid_t pid = fork();
    checked(pid, "fork");
    if (pid != 0) {
        stepAside(state, view, pid, std::move(announce));
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    state.isFork = true;
    announce.reset();
    std::byte nothing{};
    readAll(closed.get(), std::span(&nothing, 1), Deadline());
}

/// The child outlives this process, but not the test.
void forkSleeper(const PeerState &state) {
    const pid_t pid = fork();
    checked(pid, "fork");
    if (pid == 0) {
        close(state.in);
        close(state.out);
        std::byte nothing{};
        readAll(state.socket, std::span(&nothing, 1), std::nullopt);
        _exit(0);
    }
}

void forkAndExit() {
    const pid_t pid = fork();
    checked(pid, "fork");
    if (pid == 0) {
        std::exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
}

void deviceUuids(Reply &reply) {
    char *next = reply.handle.data;
    for (auto *device : driver().devices) {
        ze_device_properties_t properties = {};
        properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
        require(zeDeviceGetProperties(device, &properties), "zeDeviceGetProperties");
        if (next + sizeof(properties.uuid) <= std::end(reply.handle.data)) {
            std::memcpy(next, &properties.uuid, sizeof(properties.uuid));
            next += sizeof(properties.uuid);
        }
    }
    reply.number = static_cast<int32_t>(driver().devices.size());
}

uint64_t deviceMemory() {
    uint32_t count = 1;
    ze_device_memory_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
    require(zeDeviceGetMemoryProperties(firstDevice(), &count, &properties),
            "zeDeviceGetMemoryProperties");
    return properties.totalSize;
}

void capabilities(const Request &request, Reply &reply) {
    ze_driver_ipc_properties_t ipc = {};
    ipc.stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES;
    require(zeDriverGetIpcProperties(driver().handle, &ipc), "zeDriverGetIpcProperties");
    reply.number = static_cast<int32_t>(ipc.flags);
    reply.value = extensionVersion(ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME);
    const auto &devices = driver().devices;
    ze_bool_t access = 0;
    require(zeDeviceCanAccessPeer(devices.at(request.value), devices.at(request.extra), &access),
            "zeDeviceCanAccessPeer");
    reply.extra = access != 0 ? 1 : 0;
}

} // namespace

bool serveProcess(PeerState &state, const Request &request, Reply &reply) {
    switch (request.command) {
    case Command::Descriptors:
        reply.value = openDescriptors().size();
        return true;
    case Command::InheritedByOthers:
        reply.value = countInheritedByOthers();
        return true;
    case Command::MemoryFileMappings:
        reply.value = memoryFileMappings();
        return true;
    case Command::AddressSpace:
        reply.value = addressSpaceBytes();
        return true;
    case Command::LimitAddressSpace:
        limitAddressSpace(request.value);
        return true;
    case Command::ReceiveDescriptor:
        reply.number = receiveDescriptor(state.socket);
        return true;
    case Command::MakeDescriptor:
        reply.number = makeDescriptor(static_cast<DescriptorKind>(request.flags));
        return true;
    case Command::CloseDescriptor:
        reply.number = close(static_cast<int>(request.value));
        return true;
    case Command::LeaveDescriptors:
        leaveDescriptors(state.heldDescriptors, request.value);
        return true;
    case Command::ForkAndServe:
        forkAndServe(state, request.address);
        return true;
    case Command::ForkSleeper:
        forkSleeper(state);
        return true;
    case Command::ForkAndExit:
        forkAndExit();
        return true;
    case Command::Squat:
        squat(request.handle, static_cast<Squatter>(request.flags));
        return true;
    case Command::BecomeNobody:
        checked(setuid(strangersUid), "setuid");
        return true;
    case Command::DeviceUuids:
        deviceUuids(reply);
        return true;
    case Command::DeviceMemory:
        reply.value = deviceMemory();
        return true;
    case Command::Capabilities:
        capabilities(request, reply);
        return true;
    default:
        return false;
    }
}

} // namespace causeway::black_box
