#!/usr/bin/env bash
# Checks of the sources that need no build: layers, field cases, format, shell scripts.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/check_layers.py
scripts/check-field-cases.sh
git ls-files -z --cached --others --exclude-standard '*.cpp' '*.h' |
    xargs -0 clang-format-19 --dry-run -Werror
git ls-files -z --cached --others --exclude-standard '*.sh' .ci/run | xargs -0 shellcheck -x
echo "sources: layers, field cases, format and shell scripts are in order"
