// make_corpus FOLDER: writes the seeds of each fuzz target to FOLDER/<target>/, one file each.

#include "unit_tests/fuzz/talk_seeds.h"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

namespace causeway::fuzz {
namespace {

bool write(const std::filesystem::path &path, const std::vector<std::byte> &bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
        std::fprintf(stderr, "make_corpus: cannot write %s\n", path.c_str());
    }
    return file.good();
}

bool writeAll(const std::filesystem::path &root) {
    for (const Corpus &corpus : wholeCorpora()) {
        const auto folder = root / corpus.name;
        std::filesystem::create_directories(folder);
        for (const Seed &seed : corpus.seeds) {
            if (!write(folder / seed.name, seed.bytes)) {
                return false;
            }
        }
    }
    return true;
}

} // namespace
} // namespace causeway::fuzz

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fputs("usage: make_corpus FOLDER\n", stderr);
        return 2;
    }
    try {
        return causeway::fuzz::writeAll(argv[1]) ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "make_corpus: %s\n", error.what());
        return 1;
    }
}
