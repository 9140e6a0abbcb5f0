#!/usr/bin/env bash
# with-causeway.sh PROGRAM [ARGUMENT...]: runs a Level Zero program on this checkout's driver, or a
# compiler that finds the Level Zero headers and loader: with-causeway.sh g++ app.cpp -lze_loader

set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

if (($# == 0)); then
    echo "usage: with-causeway.sh PROGRAM [ARGUMENT...]" >&2
    exit 2
fi

driver=$(realpath -m "$CAUSEWAY_BUILD/lib/libze_causeway.so.1")

# A build folder is named after its preset. The standard output belongs to the program.
if [[ ! -e $driver || ! -e $CAUSEWAY_LEVEL_ZERO/lib/libze_loader.so.1 ]]; then
    "$CAUSEWAY_ROOT/scripts/build.sh" "${CAUSEWAY_BUILD##*/}" >&2
fi

# in_front NAME DIR[:DIR]: an empty element would mean the current directory.
in_front() {
    export "$1=$2${!1:+:${!1}}"
}

export ZE_ENABLE_ALT_DRIVERS=$driver
in_front LD_LIBRARY_PATH "$CAUSEWAY_LEVEL_ZERO/lib"
in_front LIBRARY_PATH "$CAUSEWAY_LEVEL_ZERO/lib"
in_front CPATH "$CAUSEWAY_LEVEL_ZERO/include:$CAUSEWAY_ROOT/include"
in_front PKG_CONFIG_PATH "$CAUSEWAY_LEVEL_ZERO/lib/pkgconfig"

exec "$@"
