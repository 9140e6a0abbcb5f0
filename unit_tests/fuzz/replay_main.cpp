// <target>_replay TARGET: one fuzz target over its seeds, each whole, cut short and with every bit
// flipped: what a fuzzer does first, as an ordinary test in every build.

#include "unit_tests/fuzz/fuzz_check.h"
#include "unit_tests/fuzz/talk_seeds.h"

#include <cstdio>
#include <exception>
#include <string_view>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace causeway::fuzz {
namespace {

/// Longer inputs are cut at, and flipped in, every n-th place.
constexpr size_t mostPlaces = 400;

size_t runs = 0;

/// From a copy of its own, so that a sanitizer sees any read beyond it.
void run(std::vector<std::byte> bytes) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
    ++runs;
}

void replay(const Seed &seed) {
    run(seed.bytes);
    require(lastWasAccepted == seed.accepted, "a seed is what it is made for");
    const size_t step = seed.bytes.size() / mostPlaces + 1;
    for (size_t at = 0; at < seed.bytes.size(); at += step) {
        run({seed.bytes.begin(), seed.bytes.begin() + static_cast<std::ptrdiff_t>(at)});
        for (int bit = 0; bit < 8; ++bit) {
            auto flipped = seed.bytes;
            flipped[at] ^= std::byte{1} << bit;
            run(std::move(flipped));
        }
    }
}

bool replayCorpus(std::string_view target) {
    for (const Corpus &corpus : wholeCorpora()) {
        if (corpus.name != target) {
            continue;
        }
        for (const Seed &seed : corpus.seeds) {
            std::printf("%s\n", seed.name.c_str());
            std::fflush(stdout); // an input that fails ends the process
            // A damaged field is a variant already, and some values of it are right.
            seed.name.starts_with(damagedField) ? run(seed.bytes) : replay(seed);
        }
    }
    std::printf("%zu inputs\n", runs);
    return runs > 0;
}

} // namespace
} // namespace causeway::fuzz

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fputs("usage: <target>_replay TARGET\n", stderr);
        return 2;
    }
    try {
        return causeway::fuzz::replayCorpus(argv[1]) ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "replay: %s\n", error.what());
        return 1;
    }
}
