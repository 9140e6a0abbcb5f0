#!/usr/bin/env bash
# Every field case (1 to 78) is in the name of a black-box test, or "all of it" is in the list of
# what cannot run, in unit_tests/black_box/README.md.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../unit_tests/black_box"

missing=()
for number in $(seq -w 1 78); do
    grep -q "FieldCase${number}_" ./*.cpp ||
        grep -qE "^\| *${number#0} *\| *all of it *\|" README.md ||
        missing+=("$number")
done
if ((${#missing[@]})); then
    echo "field cases with neither a test nor a reason: ${missing[*]}" >&2
    exit 1
fi
