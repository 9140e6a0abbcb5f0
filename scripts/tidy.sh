#!/usr/bin/env bash
# clang-tidy over all sources of ours, warnings as errors. Needs a configured build with clang.

set -euo pipefail
scripts=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/env.sh
. "$scripts/env.sh"

cd "$CAUSEWAY_ROOT"
scripts/build.sh asan --target help >/dev/null # configures; the compilation database is what we need
git ls-files -z --cached --others --exclude-standard 'shared/*.cpp' 'source/*.cpp' \
    'level_zero/*.cpp' 'examples/*.cpp' |
    xargs -0 -n 4 -P "$(nproc)" clang-tidy-19 --quiet -p build/asan
