#pragma once

#include "shared/os/linux_os.h"
#include "unit_tests/fuzz/fuzz_check.h"
#include "unit_tests/fuzz/talk.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <span>
#include <vector>

namespace causeway::fuzz {

inline UniqueFd memoryFile(uint64_t sizeBytes, unsigned flags, int seals) {
    UniqueFd file(::memfd_create("causeway-fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
    if (file.valid()) {
        require(::ftruncate(file.get(), static_cast<off_t>(sizeBytes)) == 0, "ftruncate");
        require(seals == 0 || ::fcntl(file.get(), F_ADD_SEALS, seals) == 0, "F_ADD_SEALS");
    }
    return file;
}

inline UniqueFd tableFile(std::span<const std::byte> bytes) {
    UniqueFd file = memoryFile(0, 0, 0);
    const auto written = ::write(file.get(), bytes.data(), bytes.size());
    require(written == static_cast<ssize_t>(bytes.size()), "writing a table");
    require(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) == 0,
            "F_ADD_SEALS");
    return file;
}

inline UniqueFd pipeEnd() {
    std::array<int, 2> ends = {};
    require(::pipe2(ends.data(), O_CLOEXEC) == 0, "pipe2");
    ::close(ends[1]);
    return UniqueFd(ends[0]);
}

/// One file of each kind that needs no bytes, made once.
inline int fileOf(FdKind kind) {
    constexpr int sealed = F_SEAL_SHRINK | F_SEAL_GROW;
    static const std::array<UniqueFd, static_cast<size_t>(FdKind::TableFile)> files = {
        memoryFile(objectBytes, 0, sealed),
        memoryFile(objectBytes, 0, 0),
        memoryFile(4096, 0, sealed),
        pipeEnd(),
        UniqueFd(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
        UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC)),
        memoryFile(uint64_t{2} << 20, MFD_HUGETLB, sealed),
    };
    const int fd = files[static_cast<size_t>(kind)].get();
    return fd >= 0 ? fd : files[static_cast<size_t>(FdKind::Unsealed)].get(); // no huge pages here
}

/// Sends a talk all at once, as far as the socket takes it.
inline void sendTalk(int socket, const std::vector<Message> &talk) {
    constexpr size_t mostFds = 253; // SCM_MAX_FD
    for (size_t i = 0; i < talk.size(); ++i) {
        const Message &message = talk[i];
        std::vector<UniqueFd> tables;
        std::vector<int> fds;
        for (size_t k = 0; k < std::min<size_t>(message.fdCount, mostFds); ++k) {
            if (message.kindOf(k) != FdKind::TableFile) {
                fds.push_back(fileOf(message.kindOf(k)));
                continue;
            }
            if (tables.empty()) {
                const bool isThere = i + 1 < talk.size();
                tables.push_back(
                    tableFile(isThere ? std::span(talk[++i].bytes) : std::span<std::byte>()));
            }
            fds.push_back(tables.front().get());
        }
        static_cast<void>(linuxOs().sendMessage(socket, message.bytes, fds));
    }
}

/// The next number that the kernel would give: the same as before, unless one is left open.
inline int lowestFreeDescriptor() {
    const UniqueFd probe(::dup(STDERR_FILENO));
    return probe.get();
}

} // namespace causeway::fuzz
