# shellcheck shell=bash
# shellcheck disable=SC2154 # `scripts` is set by whoever sources this
# Sourced by test.sh and .ci/run: runs named stages and tells how long each took.

# stage NAME COMMAND...
stage() {
    local name=$1 start=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    "$@"
    printf '== %s: %d s\n' "$name" "$((SECONDS - start))"
}

sanitizer_stages() {
    stage "build with ASan and UBSan" "$scripts/build.sh" asan
    stage "test with ASan and UBSan" "$CTEST" --preset asan
    stage "build with TSan" "$scripts/build.sh" tsan --target unit_tests contract_tests fuzz_replays
    stage "test with TSan" "$CTEST" --preset tsan
}
