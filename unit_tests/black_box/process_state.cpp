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
