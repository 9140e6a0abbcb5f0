#include "shared/base/address.h"
#include "shared/os/linux_os.h"
#include "shared/os/retry.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace causeway {
namespace {

int protectionBits(Protection protection) {
    switch (protection) {
    case Protection::None:
        return PROT_NONE;
    case Protection::Read:
        return PROT_READ;
    case Protection::ReadWrite:
        break;
    }
    return PROT_READ | PROT_WRITE;
}

OsResult<uint64_t> mapped(void *result) {
    if (result == MAP_FAILED) {
        return std::unexpected(Errno{errno});
    }
    return toAddress(result);
}

constexpr int reservationFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

} // namespace

OsResult<uint64_t> LinuxOs::reserveAddress(uint64_t hint, uint64_t sizeBytes) {
    return mapped(::mmap(toPointer(hint), sizeBytes, PROT_NONE, reservationFlags, -1, 0));
}

OsResult<void> LinuxOs::blankAddress(uint64_t address, uint64_t sizeBytes) {
    const auto result = mapped(
        ::mmap(toPointer(address), sizeBytes, PROT_NONE, reservationFlags | MAP_FIXED, -1, 0));
    if (!result) {
        return std::unexpected(result.error());
    }
    return {};
}

OsResult<void> LinuxOs::mapFile(
    uint64_t address, uint64_t sizeBytes, Protection protection, int fd, uint64_t offset) {
    const auto result = mapped(::mmap(toPointer(address),
                                      sizeBytes,
                                      protectionBits(protection),
                                      MAP_SHARED | MAP_FIXED,
                                      fd,
                                      static_cast<off_t>(offset)));
    if (!result) {
        return std::unexpected(result.error());
    }
    return {};
}

OsResult<void> LinuxOs::unmap(uint64_t address, uint64_t sizeBytes) {
    return retryVoid([&] { return ::munmap(toPointer(address), sizeBytes); });
}

OsResult<void> LinuxOs::protect(uint64_t address, uint64_t sizeBytes, Protection protection) {
    return retryVoid(
        [&] { return ::mprotect(toPointer(address), sizeBytes, protectionBits(protection)); });
}

OsResult<uint64_t> LinuxOs::mapCount() {
    auto file = retryFd([] { return ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC); });
    if (!file) {
        return std::unexpected(file.error());
    }
    std::array<char, 16384> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init): read into
    uint64_t lines = 0;
    for (;;) {
        const auto length =
            retry([&] { return ::read(file->get(), buffer.data(), buffer.size()); });
        if (!length) {
            return std::unexpected(length.error());
        }
        if (*length == 0) {
            return lines;
        }
        for (const char c : std::string_view(buffer.data(), static_cast<size_t>(*length))) {
            lines += c == '\n' ? 1 : 0;
        }
    }
}

OsResult<uint64_t> LinuxOs::mapCountLimit() {
    auto file = retryFd([] { return ::open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC); });
    if (!file) {
        return std::unexpected(file.error());
    }
    std::array<char, 32> buffer = {};
    const auto length =
        retry([&] { return ::read(file->get(), buffer.data(), buffer.size() - 1); });
    if (!length) {
        return std::unexpected(length.error());
    }
    return std::strtoull(buffer.data(), nullptr, 10);
}

} // namespace causeway
