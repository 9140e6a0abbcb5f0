#!/usr/bin/env bash
# build.sh [PRESET [CMAKE-BUILD-ARGUMENT...]]: builds a preset of CMakePresets.json (release) in
# build/PRESET, e.g. `scripts/build.sh asan --target unit_tests`.

set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

main() {
    local preset=${1:-release}
    # Sets up only what is missing, and says so on the standard error.
    "$CAUSEWAY_ROOT/scripts/setup.sh" >/dev/null
    # A fresh machine had no compiler to choose from before.
    . "$CAUSEWAY_ROOT/scripts/env.sh"
    cd "$CAUSEWAY_ROOT"
    configure "$preset"
    "$CMAKE" --build --preset "$preset" "${@:2}"
}

# The options and presets are part of a stamp in the build folder: CMake notices changed CMakeLists
# files by itself, but neither of these.
configure() {
    local preset=$1 build=build/$1 options
    mapfile -t options < <(options_of "$preset")
    [[ $(stamp_of "${options[@]}") != "$(cat "$build/options.stamp" 2>/dev/null)" ]] || return 0
    rm -f "$build/options.stamp"
    "$CMAKE" --fresh --preset "$preset" "${options[@]}"
    stamp_of "${options[@]}" >"$build/options.stamp"
}

options_of() {
    local cxx
    cxx=$(compiler_of "$1")
    printf '%s\n' -G Ninja \
        "-DCMAKE_MAKE_PROGRAM=$NINJA" \
        "-DCMAKE_CXX_COMPILER=$cxx" \
        "-DCMAKE_C_COMPILER=$(c_compiler_of "$cxx")" \
        -DCMAKE_{C,CXX}_COMPILER_LAUNCHER=/usr/bin/ccache \
        "-DCAUSEWAY_LEVEL_ZERO_PREFIX=$CAUSEWAY_LEVEL_ZERO"
}

# The sanitizers and the fuzzer are clang's.
compiler_of() {
    case $1 in
    asan | tsan | fuzz) echo "$CLANGXX" ;;
    *) echo "$CXX" ;;
    esac
}

c_compiler_of() {
    local cc=${1/clang++/clang}
    echo "${cc/g++/gcc}"
}

stamp_of() {
    printf '%s\n' "$@"
    sha256sum CMakePresets.json
    # A prefix made anew can hold another version under the same name.
    cat "$CAUSEWAY_LEVEL_ZERO"/{headers,loader}-version
}

main "$@"
