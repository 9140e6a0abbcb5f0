#!/usr/bin/env bash
# Installs what building and testing needs: Debian packages, and Level Zero in the cache.
# Safe to run again, and quick when nothing is missing. Root is asked for to install packages only.

set -euo pipefail
scripts=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/env.sh
. "$scripts/env.sh"
# shellcheck source=scripts/debian.sh
. "$scripts/debian.sh"

packages=(
    ca-certificates ccache clang-19 clang-format-19 clang-tidy-19 cmake git libbenchmark-dev
    libclang-rt-19-dev libcli11-dev libdrm-dev libfmt-dev libgmock-dev libgtest-dev linux-libc-dev
    llvm-19 ninja-build pkg-config python3 shellcheck zlib1g-dev
)

# The first with the headers of API 1.17.
wanted_level_zero=1.32

stamp=$CAUSEWAY_CACHE/setup.stamp

main() {
    mkdir -p "$CAUSEWAY_CACHE"
    exec {lock}>"$CAUSEWAY_CACHE/setup.lock"
    flock "$lock"
    if ! up_to_date; then
        install_build_packages
        # A fresh machine had no compiler to choose before.
        # shellcheck source=scripts/env.sh
        . "$scripts/env.sh"
        install_level_zero
        fingerprint >"$stamp"
    fi
    print_facts
}

# What the result depends on; an upgraded system counts as another one.
fingerprint() {
    cat "$CAUSEWAY_ROOT/scripts"/{setup,env,debian}.sh /etc/os-release | sha256sum
}

up_to_date() {
    [[ $(fingerprint) == "$(cat "$stamp" 2>/dev/null)" ]] &&
        [[ -e $CAUSEWAY_LEVEL_ZERO/lib/libze_loader.so.1 ]] &&
        [[ -e $CAUSEWAY_LEVEL_ZERO/include/level_zero/ze_api.h ]] &&
        ! lacks_packages
}

lacks_packages() {
    [[ -n $(missing_packages "${packages[@]}") ]] || ! command -v "$CXX" >/dev/null
}

install_build_packages() {
    lacks_packages || return 0
    install_packages "${packages[@]}"
    install_packages "$(compiler_package)"
}

# Asked with a search, since `apt-cache show` takes an unknown name with a + as a pattern.
compiler_package() {
    if [[ -n $(apt-cache search --names-only '^g\+\+-14$') ]]; then
        echo g++-14
    else
        echo g++
    fi
}

# Built aside and moved into place, so that a run cut short leaves the old one or none.
install_level_zero() {
    # Left by runs that were killed. No other run is at work: the lock is ours.
    rm -rf "$CAUSEWAY_CACHE"/level-zero.new.*
    local work
    work=$(mktemp -d "$CAUSEWAY_CACHE/level-zero.new.XXXXXX")
    mkdir -p "$work/prefix/include" "$work/prefix/lib"
    if system_pkg_config --atleast-version=$wanted_level_zero libze_loader; then
        link_system_level_zero "$work/prefix"
    else
        unpack_level_zero "$work"
    fi
    check_level_zero "$work/prefix"
    write_pkg_config "$work/prefix"
    [[ ! -e $CAUSEWAY_LEVEL_ZERO ]] || mv "$CAUSEWAY_LEVEL_ZERO" "$work/old"
    mv "$work/prefix" "$CAUSEWAY_LEVEL_ZERO"
    rm -rf "$work"
}

# Without the search path that with-causeway.sh sets, which would find our own copy.
system_pkg_config() {
    env -u PKG_CONFIG_PATH -u PKG_CONFIG_LIBDIR /usr/bin/pkg-config "$@"
}

# Links, so that the other scripts have one place to look at.
link_system_level_zero() {
    local prefix=$1 includedir libdir
    includedir=$(readlink -f "$(system_pkg_config --variable=includedir libze_loader)")
    libdir=$(readlink -f "$(system_pkg_config --variable=libdir libze_loader)")
    ln -s "$includedir/level_zero" "$prefix/include/"
    ln -s "$libdir"/libze_loader.so* "$libdir"/libze_*_layer.so* "$prefix/lib/"
    system_pkg_config --modversion libze_loader >"$prefix/loader-version"
    cp "$prefix/loader-version" "$prefix/headers-version"
    echo "installed on this machine" >"$prefix/origin"
}

# The headers are always the newest suite's. Its loader may ask for a newer C library than this machine's,
# and then the loader of the machine's own suite serves: an older one, but one that loads.
unpack_level_zero() {
    local work=$1 target suite=$newest_suite
    target=$(apt_targets | main_target)
    [[ -n $target ]] || target=$(refresh_targets "$work/own.apt" | main_target)
    [[ -n $target ]] || die "no $archive archive among this machine's apt sources"
    unpack_packages "$target" "$newest_suite" "$work/$newest_suite" libze1 libze-dev
    if ! loads "$work/$newest_suite"/usr/lib/*/libze_loader.so.1; then
        suite=$(own_suite)
        unpack_packages "$target" "$suite" "$work/$suite" libze1
    fi
    cp -a "$work/$newest_suite/usr/include/level_zero" "$work/prefix/include/"
    cp -a "$work/$suite"/usr/lib/*/libze_*.so* "$work/prefix/lib/"
    ln -sf libze_loader.so.1 "$work/prefix/lib/libze_loader.so"
    upstream_version "$work/$newest_suite.apt"/libze-dev_*.deb >"$work/prefix/headers-version"
    upstream_version "$work/$suite.apt"/libze1_*.deb >"$work/prefix/loader-version"
    echo "from $archive $suite" >"$work/prefix/origin"
}

# The file name would not do: 1.8.12 calls its library libze_loader.so.1.8.0.
upstream_version() {
    dpkg-deb --field "$1" Version | sed -E 's/^[0-9]+://; s/-[^-]*$//'
}

# ldd reports versions and symbols that the machine's libraries lack, yet can exit 0.
loads() {
    local report
    report=$(ldd -r "$1" 2>&1) && ! grep -qE 'not found|undefined symbol' <<<"$report"
}

check_level_zero() {
    local prefix=$1
    loads "$prefix/lib/libze_loader.so.1" || die "the Level Zero loader does not load here"
    grep -q 'ZE_API_VERSION_1_17 ' "$prefix/include/level_zero/ze_api.h" ||
        die "the Level Zero headers are older than $wanted_level_zero"
}

# write_pkg_config PREFIX: the versions of headers and loader can differ.
write_pkg_config() {
    local prefix=$1
    mkdir -p "$prefix/lib/pkgconfig"
    cat >"$prefix/lib/pkgconfig/level-zero.pc" <<PC
prefix=\${pcfiledir}/../..

Name: level-zero
Description: Level Zero headers
Version: $(<"$prefix/headers-version")
Requires: libze_loader
Cflags: -I\${prefix}/include/level_zero
PC
    cat >"$prefix/lib/pkgconfig/libze_loader.pc" <<PC
prefix=\${pcfiledir}/../..

Name: libze_loader
Description: Level Zero loader
Version: $(<"$prefix/loader-version")
Libs: -L\${prefix}/lib -lze_loader
Cflags: -I\${prefix}/include
PC
}

print_facts() {
    echo "compiler: $("$CXX" --version | sed -n 1p)"
    echo "clang: $("$CLANGXX" --version | sed -n 1p)"
    echo "cmake: $("$CMAKE" --version | sed -n 1p)"
    cd "$CAUSEWAY_LEVEL_ZERO"
    echo "Level Zero headers: $(<headers-version)"
    echo "Level Zero loader: $(<loader-version), $(<origin)"
}

main
