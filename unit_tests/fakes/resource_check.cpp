#include "unit_tests/fakes/resource_check.h"

#include "unit_tests/fakes/sanitizers.h"

#include <dirent.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>

namespace causeway::fakes {
namespace {

/// A line of /proc/self/maps.
struct MapLine {
    uint64_t begin = 0;
    uint64_t end = 0;
    std::string access;
    std::string path;
    std::string text;
};

struct CloseDirectory {
    void operator()(DIR *directory) const { ::closedir(directory); }
};

using Directory = std::unique_ptr<DIR, CloseDirectory>;

/// The entries that are numbers, without the descriptor that reads them.
std::vector<int> numbersIn(const char *path) {
    std::vector<int> numbers;
    const Directory directory(::opendir(path));
    if (directory == nullptr) {
        ADD_FAILURE() << "cannot read " << path;
        return numbers;
    }
    const int own = ::dirfd(directory.get());
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the directory stream is this function's alone
    while (const dirent *entry = ::readdir(directory.get())) {
        char *end = nullptr;
        const auto number = static_cast<int>(std::strtol(entry->d_name, &end, 10));
        if (*end == '\0' && number != own) {
            numbers.push_back(number);
        }
    }
    return numbers;
}

std::string linkOf(int fd) {
    std::string target(512, '\0');
    const auto length =
        ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), target.data(), target.size());
    target.resize(length < 0 ? 0 : static_cast<size_t>(length));
    return target;
}

std::vector<MapLine> readMaps() {
    std::vector<MapLine> lines;
    std::ifstream file("/proc/self/maps");
    for (std::string text; std::getline(file, text);) {
        MapLine line;
        line.text = text;
        std::istringstream fields(text);
        std::string skipped;
        char dash = 0;
        fields >> std::hex >> line.begin >> dash >> line.end >> line.access;
        fields >> skipped >> skipped >> skipped; // offset, device, inode
        fields >> line.path;
        lines.push_back(std::move(line));
    }
    return lines;
}

/// The unused rest of a malloc arena: it follows the used part, which begins where arenas do.
bool isArenaRest(const MapLine &line, const MapLine &previous) {
    constexpr uint64_t arenaBytes = uint64_t{64} << 20;
    return previous.end == line.begin && previous.access == "rw-p" && previous.path.empty() &&
           previous.begin % arenaBytes == 0 && line.end == previous.begin + arenaBytes;
}

uint64_t reservedBytesOf(const std::vector<MapLine> &lines) {
    // Stack guards are smaller.
    constexpr uint64_t smallest = uint64_t{64} << 10;
    uint64_t total = 0;
    for (size_t i = 1; i < lines.size(); ++i) {
        const MapLine &line = lines[i];
        const uint64_t sizeBytes = line.end - line.begin;
        if (line.access == "---p" && line.path.empty() && sizeBytes >= smallest &&
            !isArenaRest(line, lines[i - 1])) {
            total += sizeBytes;
        }
    }
    return total;
}

/// Lines of `present` that are not in `other`, each with a heading.
void addMissing(std::string &text,
                std::string_view heading,
                const std::vector<std::string> &present,
                const std::vector<std::string> &other) {
    std::vector<std::string> only;
    std::ranges::set_difference(present, other, std::back_inserter(only));
    for (const std::string &line : only) {
        text += fmt::format("{}: {}\n", heading, line);
    }
}

std::vector<std::string> descriptorLines(const ResourceSnapshot &snapshot) {
    std::vector<std::string> lines;
    lines.reserve(snapshot.descriptors.size());
    for (const auto &[fd, link] : snapshot.descriptors) {
        lines.push_back(fmt::format("{} -> {}", fd, link));
    }
    std::ranges::sort(lines);
    return lines;
}

} // namespace

ResourceSnapshot ResourceSnapshot::take() {
    ResourceSnapshot snapshot;
    for (const int fd : numbersIn("/proc/self/fd")) {
        snapshot.descriptors[fd] = linkOf(fd);
    }
    snapshot.threads = numbersIn("/proc/self/task").size();
    const auto lines = readMaps();
    for (const MapLine &line : lines) {
        if (line.path.starts_with("/memfd:causeway")) {
            snapshot.mappings.push_back(line.text);
        }
    }
    std::ranges::sort(snapshot.mappings);
    snapshot.reservedBytes = reservedBytesOf(lines);
    return snapshot;
}

std::string difference(const ResourceSnapshot &before, const ResourceSnapshot &after) {
    std::string text;
    addMissing(text, "left open", descriptorLines(after), descriptorLines(before));
    addMissing(text, "closed or replaced", descriptorLines(before), descriptorLines(after));
    addMissing(text, "left mapped", after.mappings, before.mappings);
    addMissing(text, "unmapped", before.mappings, after.mappings);
    if (after.reservedBytes > before.reservedBytes) {
        text += fmt::format("left reserved: {} bytes of address space\n",
                            after.reservedBytes - before.reservedBytes);
    }
    if (after.threads > before.threads) {
        text += fmt::format("left running: {} threads\n", after.threads - before.threads);
    }
    return text;
}

ResourceCheckedTest::ResourceCheckedTest() {
    if (underThreadSanitizer) {
        std::thread([] {}).join(); // its own thread starts with the first of a program
    }
    before_ = ResourceSnapshot::take();
}

ResourceCheckedTest::~ResourceCheckedTest() {
    EXPECT_EQ(leftovers(), "") << "the test left something behind";
}

std::string ResourceCheckedTest::leftovers() const {
    // A thread is in /proc/self/task for a moment after it was joined.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    for (;;) {
        std::string text = difference(before_, ResourceSnapshot::take());
        if (text.empty() || std::chrono::steady_clock::now() > deadline) {
            return text;
        }
        std::this_thread::yield();
    }
}

} // namespace causeway::fakes
