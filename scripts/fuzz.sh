#!/usr/bin/env bash
# Runs every fuzz target for a while, from generated seeds.
#   scripts/fuzz.sh [SECONDS a target, default 10]

set -euo pipefail
scripts=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/env.sh
. "$scripts/env.sh"

seconds=${1:-10}
build=$CAUSEWAY_ROOT/build/fuzz

"$scripts/build.sh" fuzz --target fuzz_targets
"$build/bin/make_corpus" "$build/corpus"
for target in "$build"/bin/*_fuzz; do
    name=$(basename "$target" _fuzz)
    echo "fuzzing $name for $seconds s"
    mkdir -p "$build/corpus/$name"
    "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
        -artifact_prefix="$build/" "$build/corpus/$name"
done
