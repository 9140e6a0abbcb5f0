#!/usr/bin/env bash
# demo.sh [ARGUMENT...]: sets up and builds what is missing, then runs the demonstration in
# examples/range_demo on this checkout's driver, e.g. `scripts/demo.sh --device soft`

set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

# The standard output belongs to the demonstration. build.sh runs setup.sh first.
"$CAUSEWAY_ROOT/scripts/build.sh" "${CAUSEWAY_BUILD##*/}" --target ze_causeway range_demo >&2
exec "$CAUSEWAY_ROOT/scripts/with-causeway.sh" "$CAUSEWAY_BUILD/bin/range_demo" "$@"
