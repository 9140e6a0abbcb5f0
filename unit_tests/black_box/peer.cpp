#include "unit_tests/black_box/peer.h"

#include "unit_tests/black_box/ze_calls.h"

#include <fmt/core.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ostream>
#include <utility>

namespace causeway::black_box {

Peer::Peer(const ChildOptions &options) : child_("peer", options) {
    demand({.command = Command::Hello});
}

void Peer::send(const Request &request) {
    child_.send(std::as_bytes(std::span(&request, 1)));
}

Reply Peer::receive(Deadline deadline) {
    Reply reply;
    child_.receive(std::as_writable_bytes(std::span(&reply, 1)), deadline);
    return reply;
}

Reply Peer::ask(const Request &request) {
    send(request);
    return receive();
}

Reply Peer::demand(const Request &request) {
    const auto reply = ask(request);
    if (reply.result != ZE_RESULT_SUCCESS) {
        throw HarnessError(fmt::format("peer, command {}: {} [{}]",
                                       static_cast<unsigned>(request.command),
                                       resultName(reply.result),
                                       reply.text.data()));
    }
    return reply;
}

uint64_t Peer::open(const ze_ipc_mem_handle_t &handle) {
    return demand({.command = Command::Open, .handle = handle}).address;
}

Reply Peer::tryOpen(const ze_ipc_mem_handle_t &handle, ze_ipc_memory_flags_t flags, size_t device) {
    return ask({.command = Command::Open, .flags = flags, .value = device, .handle = handle});
}

void Peer::startOpen(const ze_ipc_mem_handle_t &handle) {
    send({.command = Command::Open, .handle = handle});
}

Reply Peer::openInThreads(const ze_ipc_mem_handle_t &handle, unsigned threads, unsigned rounds) {
    return ask(
        {.command = Command::OpenInThreads, .value = threads, .extra = rounds, .handle = handle});
}

ze_result_t Peer::close(uint64_t address) {
    return ask({.command = Command::Close, .address = address}).result;
}

Reply Peer::addressRange(uint64_t address) {
    return ask({.command = Command::AddressRange, .address = address});
}

Reply Peer::allocProperties(uint64_t address) {
    return ask({.command = Command::AllocProperties, .address = address});
}

Reply Peer::access(uint64_t address, uint64_t size) {
    return ask({.command = Command::GetAccess, .address = address, .size = size});
}

ze_result_t Peer::setAccess(uint64_t address, uint64_t size, ze_memory_access_attribute_t access) {
    return ask({.command = Command::SetAccess,
                .flags = static_cast<uint32_t>(access),
                .address = address,
                .size = size})
        .result;
}

uint64_t Peer::word(uint64_t address) {
    return demand({.command = Command::ReadWord, .address = address}).value;
}

void Peer::setWord(uint64_t address, uint64_t word) {
    demand({.command = Command::WriteWord, .address = address, .value = word});
}

uint64_t Peer::checksum(uint64_t address, uint64_t size) {
    return demand({.command = Command::ChecksumOf, .address = address, .size = size}).value;
}

uint64_t Peer::goodEnds(uint64_t address, size_t objectSize, uint64_t count, uint64_t firstObject) {
    return demand({.command = Command::VerifyEnds,
                   .address = address,
                   .size = objectSize,
                   .value = count,
                   .extra = firstObject})
        .value;
}

int Peer::signalOfRead(uint64_t address) {
    return demand({.command = Command::SignalOfRead, .address = address}).number;
}

int Peer::signalOfWrite(uint64_t address) {
    return demand({.command = Command::SignalOfWrite, .address = address}).number;
}

uint64_t Peer::buildRange(uint64_t count, size_t objectSize, uint64_t firstObject) {
    return demand({.command = Command::BuildRange,
                   .size = objectSize,
                   .value = count,
                   .extra = firstObject})
        .address;
}

void Peer::fillRange(uint64_t firstObject) {
    demand({.command = Command::FillRange, .extra = firstObject});
}

void Peer::destroyRange() {
    demand({.command = Command::DestroyRange});
}

ze_ipc_mem_handle_t Peer::exportRange(uint64_t address, uint64_t size) {
    return demand({.command = Command::Export, .address = address, .size = size}).handle;
}

ze_ipc_mem_handle_t Peer::exportObject(uint64_t address) {
    return demand({.command = Command::ExportObject, .address = address}).handle;
}

ze_result_t Peer::put(const ze_ipc_mem_handle_t &handle) {
    return ask({.command = Command::Put, .handle = handle}).result;
}

ze_ipc_mem_handle_t Peer::handleFromDescriptor(int fd) {
    return demand({.command = Command::HandleFromDescriptor, .value = static_cast<uint64_t>(fd)})
        .handle;
}

std::ostream &operator<<(std::ostream &stream, const Holdings &holdings) {
    return stream << fmt::format("{} descriptors, {} mappings, {} threads, {} named sockets",
                                 holdings.descriptors,
                                 holdings.memoryFileMappings,
                                 holdings.threads,
                                 holdings.namedSockets);
}

Holdings Peer::holdings() {
    const Reply reply = demand({.command = Command::Holdings});
    return {.descriptors = reply.value,
            .memoryFileMappings = reply.extra,
            .threads = static_cast<uint64_t>(reply.number),
            .namedSockets = reply.size};
}

Holdings Peer::holdingsAtRest() {
    constexpr uint64_t ofTheServer = 2; // its listener, and the rendezvous
    // A connection that it has not accepted yet shows only later: it rests where it goes on to.
    constexpr int looks = 20;
    Holdings now;
    Holdings last;
    int same = 0;
    const bool rests = eventually([&] {
        last = std::exchange(now, holdings());
        same = now == last && now.namedSockets == ofTheServer ? same + 1 : 0;
        return same == looks;
    });
    if (!rests) {
        throw HarnessError("the exporter still serves somebody");
    }
    return now;
}

uint64_t Peer::descriptors() {
    return demand({.command = Command::Descriptors}).value;
}

uint64_t Peer::memoryFileMappings() {
    return demand({.command = Command::MemoryFileMappings}).value;
}

uint64_t Peer::addressSpace() {
    return demand({.command = Command::AddressSpace}).value;
}

int Peer::receiveDescriptor() {
    return demand({.command = Command::ReceiveDescriptor}).number;
}

int Peer::makeDescriptor(DescriptorKind kind) {
    return demand({.command = Command::MakeDescriptor, .flags = static_cast<uint32_t>(kind)})
        .number;
}

void Peer::closeDescriptor(int fd) {
    demand({.command = Command::CloseDescriptor, .value = static_cast<uint64_t>(fd)});
}

DescriptorChannel::DescriptorChannel() {
    std::array<int, 2> ends = {};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw HarnessError(fmt::format("socketpair: {}", strerror(errno)));
    }
    here.reset(ends[0]);
    there.reset(ends[1]);
}

void DescriptorChannel::send(int fd) const {
    char payload = 'd';
    iovec data = {&payload, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    if (sendmsg(here.get(), &message, MSG_NOSIGNAL) != 1) {
        throw HarnessError(fmt::format("descriptor {} cannot be sent: {}", fd, strerror(errno)));
    }
}

} // namespace causeway::black_box
