#pragma once

#include "unit_tests/black_box/child.h"
#include "unit_tests/black_box/protocol.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace causeway::black_box {

/// What a process has that could leak.
struct Holdings {
    uint64_t descriptors = 0;
    uint64_t memoryFileMappings = 0;
    uint64_t threads = 0;
    uint64_t namedSockets = 0;

    bool operator==(const Holdings &) const = default;
};

std::ostream &operator<<(std::ostream &stream, const Holdings &holdings);

/// Another process with the driver, which does what the test says, one command at a time. Its
/// addresses are numbers here. Calls that cannot fail in a sound test throw HarnessError if they
/// do; where the result is the point, it is in the reply.
class Peer {
  public:
    explicit Peer(const ChildOptions &options = {});

    // Importing
    uint64_t open(const ze_ipc_mem_handle_t &handle);
    Reply tryOpen(const ze_ipc_mem_handle_t &handle,
                  ze_ipc_memory_flags_t flags = 0,
                  size_t device = 0);
    /// For two peers at work at once: send now, wait with finishOpen().
    void startOpen(const ze_ipc_mem_handle_t &handle);

    Reply finishOpen(Deadline deadline = Deadline()) { return receive(deadline); }

    Reply openInThreads(const ze_ipc_mem_handle_t &handle, unsigned threads, unsigned rounds);
    ze_result_t close(uint64_t address);
    Reply addressRange(uint64_t address);
    Reply allocProperties(uint64_t address);
    Reply access(uint64_t address, uint64_t size);
    ze_result_t setAccess(uint64_t address, uint64_t size, ze_memory_access_attribute_t access);

    // Memory
    uint64_t word(uint64_t address);
    void setWord(uint64_t address, uint64_t word);
    uint64_t checksum(uint64_t address, uint64_t size);
    /// How many of `count` objects, side by side, have the right first and last word.
    uint64_t goodEnds(uint64_t address, size_t objectSize, uint64_t count, uint64_t firstObject);
    int signalOfRead(uint64_t address);
    int signalOfWrite(uint64_t address);

    // Exporting
    uint64_t buildRange(uint64_t count, size_t objectSize, uint64_t firstObject);
    void fillRange(uint64_t firstObject);
    void destroyRange();
    ze_ipc_mem_handle_t exportRange(uint64_t address, uint64_t size);
    ze_ipc_mem_handle_t exportObject(uint64_t address);
    ze_result_t put(const ze_ipc_mem_handle_t &handle);
    ze_ipc_mem_handle_t handleFromDescriptor(int fd);

    // The process
    Holdings holdings();
    /// Of an exporter, once it serves nobody any more: what it does in its own time.
    Holdings holdingsAtRest();
    uint64_t descriptors();
    uint64_t memoryFileMappings();
    uint64_t addressSpace();
    int receiveDescriptor();
    int makeDescriptor(DescriptorKind kind);
    void closeDescriptor(int fd);

    /// Any command. Throws only when the peer is gone or late.
    Reply ask(const Request &request);
    /// As ask(), and throws unless the result is SUCCESS.
    Reply demand(const Request &request);

    Child &process() { return child_; }

    void kill() { child_.kill(); }

  private:
    void send(const Request &request);
    Reply receive(Deadline deadline = Deadline());

    Child child_;
};

/// Both ends of a socket over which a test moves descriptors, as clients do with SCM_RIGHTS.
struct DescriptorChannel {
    DescriptorChannel();
    void send(int fd) const;

    Descriptor here;
    Descriptor there; ///< for ChildOptions::socket
};

} // namespace causeway::black_box
