#include "unit_tests/black_box/process_state.h"

#include "unit_tests/black_box/ze_calls.h"

#include <dirent.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

namespace causeway::black_box {

namespace {

std::string targetOf(int fd) {
    std::array<char, 256> target = {};
    const auto path = fmt::format("/proc/self/fd/{}", fd);
    const ssize_t length = readlink(path.c_str(), target.data(), target.size());
    return length < 0 ? std::string("?") : std::string(target.data(), static_cast<size_t>(length));
}

template <typename Predicate>
size_t countMappings(Predicate predicate) {
    std::ifstream maps("/proc/self/maps");
    size_t count = 0;
    for (std::string line; std::getline(maps, line);) {
        count += predicate(line) ? 1 : 0;
    }
    return count;
}

} // namespace

std::map<int, std::string> openDescriptors() {
    const std::unique_ptr<DIR, int (*)(DIR *)> folder(opendir("/proc/self/fd"), &closedir);
    if (!folder) {
        throw HarnessError("no descriptor left to count descriptors with");
    }
    std::map<int, std::string> found;
    while (const dirent *entry = readdir(folder.get())) {
        char *end = nullptr;
        const auto number = static_cast<int>(std::strtol(entry->d_name, &end, 10));
        if (*end == '\0' && number != dirfd(folder.get())) {
            found.emplace(number, targetOf(number));
        }
    }
    return found;
}

size_t memoryFileMappings() {
    return countMappings(
        [](const std::string &line) { return line.find("/memfd:") != std::string::npos; });
}

size_t allMappings() {
    return countMappings([](const std::string &) { return true; });
}

size_t threads() {
    const std::unique_ptr<DIR, int (*)(DIR *)> folder(opendir("/proc/self/task"), &closedir);
    size_t count = 0;
    while (const dirent *entry = folder ? readdir(folder.get()) : nullptr) {
        count += entry->d_name[0] != '.' ? 1 : 0;
    }
    return count;
}

size_t namedSockets() {
    std::set<std::string> inodes;
    for (const auto &[fd, target] : openDescriptors()) {
        if (target.starts_with("socket:[")) {
            inodes.insert(target.substr(8, target.size() - 9));
        }
    }
    std::ifstream table("/proc/net/unix"); // Num RefCount Protocol Flags Type St Inode [Path]
    size_t count = 0;
    for (std::string line; std::getline(table, line);) {
        std::istringstream fields(line);
        std::string skipped;
        std::string inode;
        std::string name;
        for (int i = 0; i < 6; ++i) {
            fields >> skipped;
        }
        count += fields >> inode >> name && inodes.contains(inode) ? 1 : 0;
    }
    return count;
}

uint64_t sharedMemoryOfTheSystem() {
    std::ifstream table("/proc/meminfo");
    std::string name;
    uint64_t kibibytes = 0;
    for (std::string line; std::getline(table, line);) {
        std::istringstream fields(line);
        if (fields >> name >> kibibytes && name == "Shmem:") {
            return kibibytes * 1024;
        }
    }
    throw HarnessError("/proc/meminfo tells no Shmem");
}

uint64_t addressSpaceBytes() {
    std::ifstream sizes("/proc/self/statm");
    uint64_t pages = 0;
    sizes >> pages;
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

bool hasNoChildren() {
    return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
}

std::string difference(const std::map<int, std::string> &before,
                       const std::map<int, std::string> &now) {
    std::ostringstream text;
    for (const auto &[fd, target] : now) {
        const auto old = before.find(fd);
        if (old == before.end() || old->second != target) {
            text << "  new:  " << fd << " -> " << target << '\n';
        }
    }
    for (const auto &[fd, target] : before) {
        const auto current = now.find(fd);
        if (current == now.end() || current->second != target) {
            text << "  lost: " << fd << " -> " << target << '\n';
        }
    }
    return text.str();
}

} // namespace causeway::black_box
