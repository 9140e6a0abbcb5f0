#pragma once

#include <level_zero/ze_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

/// What a test and its peer say to each other over two pipes: one fixed-size request, one
/// fixed-size reply. Both ends are the same program, so the structs travel as they are.
namespace causeway::black_box {

enum class Command : uint8_t {
    Hello, ///< answered once the driver is up and a context is made
    // Importing
    Open,            ///< handle, flags, value: index of the device -> address
    OpenInThreads,   ///< handle, value: threads, extra: rounds of each -> value: failures
    Close,           ///< address
    AddressRange,    ///< address -> address, size
    AllocProperties, ///< address -> number: type, value: id, extra: index of the device, or how
                     ///< many there are for none
    GetAccess,       ///< address, size -> number: access, size: of the stretch
    SetAccess,       ///< address, size, flags: access
    // Memory
    ReadWord,     ///< address -> value
    WriteWord,    ///< address, value
    ChecksumOf,   ///< address, size -> value
    Copy,         ///< address: target, extra: source, size, value: index of the device that copies
    VerifyEnds,   ///< address, size: of an object, value: count, extra: first object -> value: good
    SignalOfRead, ///< address -> number: signal that a forked process got from it, or 0
    SignalOfWrite, ///< likewise
    // What must be refused on imported memory
    MemFree,        ///< address
    VirtualMemFree, ///< address, size
    Map,            ///< address, size
    Unmap,          ///< address, size
    // Exporting
    BuildRange,   ///< size: of an object, value: count, extra: first object, flags: devices whose
                  ///< memory is used in turns, as bits, 0: the first -> address
    FillRange,    ///< extra: first object: rewrites the ends of all objects
    DestroyRange, ///< unmaps and destroys all
    Export,       ///< address, size -> handle
    ExportObject, ///< address -> handle, without the range descriptor
    Put,          ///< handle
    QueryDescriptor,      ///< address -> number: of the allocation properties' query
    HandleFromDescriptor, ///< number in value -> handle
    ImportObject,         ///< value: number, size, flags: Placement -> address of its mapping
    ImportAllocation,     ///< value: number, size, flags: Kind -> address
    ReplaceContext,       ///< destroys the context and makes a new one
    CountObjects, ///< size: of an object, value: most, flags: 1 exportable -> value: created before
                  ///< a failure (result)
    FreshIsZero,  ///< size: of an object, value: count -> value: objects with another word than 0
    // Events
    OpenPool,        ///< handle -> address: of the pool's handle
    ClosePool,       ///< address
    CreateEvent,     ///< address: of the pool, value: index -> address: of the event's handle
    DestroyEvent,    ///< address
    SignalEvent,     ///< address
    ResetEvent,      ///< address
    WaitForEvent,    ///< address, value: timeout
    QueryTimestamps, ///< address -> value: start, extra: end
    AppendCopy, ///< address: event to wait for, value: event to signal, size: address of a word,
                ///< extra: address of its copy; on the peer's immediate list
    // The process
    Descriptors,        ///< -> value: how many are open
    InheritedByOthers,  ///< -> value: descriptors that a process started by this one has
    MemoryFileMappings, ///< -> value
    AddressSpace,       ///< -> value: bytes
    LimitAddressSpace,  ///< value: bytes from now on more than now; UINT64_MAX: no limit
    ReceiveDescriptor,  ///< from the socket -> number
    MakeDescriptor,     ///< flags: DescriptorKind -> number
    CloseDescriptor,    ///< number in value
    LeaveDescriptors,   ///< value: opens descriptors until only so many can be opened; closes them
                        ///< with UINT64_MAX
    ForkAndServe,       ///< a fork goes on serving; this process closes the view at address
    ForkSleeper,        ///< a forked child sleeps until the socket's other end is closed
    ForkAndExit,        ///< a forked child ends as programs end, with exit handlers
    Squat,              ///< handle, flags: Squatter: serves the name of that handle's server from
                        ///< now on, while the exporter is in another network namespace
    BecomeNobody,       ///< another user from now on
    DeviceUuids,        ///< -> number: devices, handle: the uuids one after the other
    DeviceMemory,       ///< -> value: bytes of the first device
    Capabilities, ///< value, extra: indices of devices -> value: version of the range extension,
                  ///< number: IPC flags, extra: 1 where the first device can access the second
    // Duress
    Holdings,        ///< -> value: descriptors, extra: mappings of memory files, number: threads,
                     ///< size: named sockets
    StormOfSignals,  ///< value: microseconds between two signals; 0: no more
    FillMappings,    ///< value: maps pages until only so many mappings are left; UINT64_MAX ends it
    LimitThreads,    ///< value: 0: no new threads; UINT64_MAX ends it
    DenyMemoryFiles, ///< memfd_create(2) fails for this thread from now on
    TalkAndNeverRead, ///< handle, value: so many clients ask for descriptors and never take them
    StopTalking,      ///< these hang up
};

/// Descriptors that have nothing to do with the driver.
enum class DescriptorKind : uint8_t { DevNull, Pipe, Memfd, SealedMemfd };

/// Who has taken the name of an exporter's socket, and what it does with those who connect.
enum class Squatter : uint8_t { Closes, SendsGarbage, StaysSilent, IsAnotherUser };

struct Request {
    Command command = Command::Hello;
    uint32_t flags = 0;
    uint64_t address = 0;
    uint64_t size = 0;
    uint64_t value = 0;
    uint64_t extra = 0;
    ze_ipc_mem_handle_t handle = {};
};

struct Reply {
    ze_result_t result = ZE_RESULT_SUCCESS; ///< of the Level Zero call
    int32_t number = 0;
    uint64_t address = 0;
    uint64_t size = 0;
    uint64_t value = 0;
    uint64_t extra = 0;
    ze_ipc_mem_handle_t handle = {};
    std::array<char, 1024> text = {}; ///< the driver's sentence where the call failed
};

/// When a program that shares memory and has opened some gives it back at its end.
enum class GiveBack : uint8_t {
    Never,                  ///< left to the kernel
    InAnEarlierExitHandler, ///< registered before the driver was loaded: runs after the driver's
                            ///< own
    InALaterExitHandler,
    InAStaticDestructor, ///< of the program
    InAThread,           ///< that goes on while the process exits
    AfterUnloading,      ///< once somebody has unloaded the driver
};

/// What that program is told, and tells at its start.
struct ExitPlan {
    GiveBack giveBack = GiveBack::Never;
    ze_ipc_mem_handle_t handle = {}; ///< to open; of two objects
};

/// What it tells as it gives back: the results of closing, putting, freeing and destroying.
using ExitResults = std::array<ze_result_t, 5>;

/// The role that does so: reads an ExitPlan, answers with a handle of its own, and ends when its
/// pipe is closed.
int runExitProgram(int in, int out);

/// The role that serves these commands until its pipe is closed.
int runPeer(int in, int out, int socket);

/// The role that sends how many descriptors it was born with (uint64_t) and ends. It never loads
/// the driver.
int runLister(int in, int out);

/// The role that runs a program through the driver and cleans up. Whatever it, the loader and its
/// layers print goes to `out`, up to the end of the process.
int runWholeProgram(int out);

} // namespace causeway::black_box
