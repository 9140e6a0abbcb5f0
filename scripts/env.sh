# shellcheck shell=bash
# shellcheck disable=SC2034 # used where this is sourced
# Where things are; sourced by the other scripts. It only sets variables.

CAUSEWAY_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# Everything that is downloaded or compiled for later use, outside the checkout.
CAUSEWAY_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/causeway

# Level Zero headers and loader, put there by setup.sh: include/ and lib/.
CAUSEWAY_LEVEL_ZERO=$CAUSEWAY_CACHE/level-zero

CAUSEWAY_BUILD=${CAUSEWAY_BUILD:-$CAUSEWAY_ROOT/build/release}

# Debian's own tools by absolute path: a machine may have other versions earlier on its PATH.
CMAKE=/usr/bin/cmake
CTEST=/usr/bin/ctest
NINJA=/usr/bin/ninja
CLANGXX=/usr/bin/clang++-19

# Debian 13 offers g++ 14, Debian 12 g++ 12. CAUSEWAY_CXX overrides; CXX alone does not, since it is
# often left in an environment for another project.
CXX=${CAUSEWAY_CXX:-}
for compiler in /usr/bin/g++-14 /usr/bin/g++-12 /usr/bin/g++; do
    [[ -n $CXX || ! -x $compiler ]] || CXX=$compiler
done
unset compiler

export CCACHE_DIR=${CCACHE_DIR:-$CAUSEWAY_CACHE/ccache}
