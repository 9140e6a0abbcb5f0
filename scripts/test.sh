#!/usr/bin/env bash
# Sets up, builds and passes all tests that this machine can run.
#   scripts/test.sh          checks of the sources, unit, contract and black-box tests
#   scripts/test.sh --full   besides: long tests, clang-tidy, sanitizers, longer fuzzing, and the
#                            whole of this again in a fresh Debian 13 and Debian 12 (needs root)

set -euo pipefail
scripts=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/env.sh
. "$scripts/env.sh"
# shellcheck source=scripts/stages.sh
. "$scripts/stages.sh"

main() {
    local full=0
    case ${1-} in
    --full) full=1 ;;
    "") ;;
    *)
        echo "usage: scripts/test.sh [--full]" >&2
        exit 2
        ;;
    esac

    cd "$CAUSEWAY_ROOT"
    stage "set-up" scripts/setup.sh
    stage "check sources" scripts/check.sh
    stage "build" scripts/build.sh release
    if ((full)); then
        stage "long tests" "$CTEST" --preset long
        stage "clang-tidy" scripts/tidy.sh
        sanitizer_stages
        stage "fuzz, 60 s a target" scripts/fuzz.sh 60
        # Where this already runs inside such a root, the outer run does the other one.
        stage "Debian 13, fresh" in_debian trixie
        stage "Debian 12, fresh" in_debian bookworm
    fi
    # Last, so that the output ends with the test runner's own lines.
    stage "test" "$CTEST" --preset release
}

in_debian() {
    local status=0
    scripts/in-debian.sh --fresh "$1" scripts/test.sh || status=$?
    if ((status == 77)); then
        echo "skipped: needs root"
        return 0
    fi
    return "$status"
}

main "$@"
