#!/usr/bin/env bash
# in-debian.sh [--worktree] [--fresh] SUITE COMMAND [ARGUMENT...]: runs a command in a clean Debian
# root of SUITE (trixie, bookworm), in a copy of this checkout, e.g.
# `scripts/in-debian.sh trixie scripts/test.sh`
#
#   --worktree  copies the files as they are now, ignored ones left out, instead of HEAD
#   --fresh     makes the root anew; else it keeps what earlier runs installed and cached
#
# Needs root, and exits with 77 (skipped) without. The mounts live in a namespace of their own that
# ends with the command, however it ends.

set -euo pipefail
self=$(readlink -f "${BASH_SOURCE[0]}")
# shellcheck source=scripts/env.sh
. "$(dirname "$self")/env.sh"
# shellcheck source=scripts/debian.sh
. "$(dirname "$self")/debian.sh"
# Its roots are Debian's, whatever this machine is.
archive=Debian component=main

usage() {
    echo "usage: in-debian.sh [--worktree] [--fresh] SUITE COMMAND [ARGUMENT...]" >&2
    exit 2
}

main() {
    local worktree='' fresh='' suite root lock
    while [[ ${1:-} == --* ]]; do
        case $1 in
        --worktree) worktree=1 ;;
        --fresh) fresh=1 ;;
        *) usage ;;
        esac
        shift
    done
    (($# >= 2)) || usage
    suite=$1
    shift
    if ((EUID != 0)); then
        echo "in-debian.sh: needs root" >&2
        exit 77
    fi

    root=$CAUSEWAY_CACHE/roots/$suite
    mkdir -p "${root%/*}"
    # Two runs in one root would replace each other's checkout.
    exec {lock}>"$root.lock"
    flock "$lock"
    [[ -z $fresh ]] || remove_tree "$root"
    [[ -d $root ]] || make_root "$suite" "$root"
    copy_network_settings "$root"
    copy_checkout "$root/root/causeway" "$worktree"
    # If this shell is killed, so is unshare, and with it all in the namespace: a signal to the
    # shell alone must not leave the command running.
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child \
        "$self" --inside "$root" "$@" {lock}>&-
}

remove_tree() {
    rm -rf --one-file-system "$@"
}

make_root() {
    local suite=$1 root=$2 work
    remove_tree "$root".new.*
    work=$(mktemp -d "$root.new.XXXXXX")
    chmod 755 "$work"
    install_packages debootstrap
    local targets target uri
    targets=$(apt_targets)
    [[ -n $(main_target <<<"$targets") ]] || targets=$(refresh_targets "$work/own.apt")
    target=$(main_target <<<"$targets")
    [[ -n $target ]] || die "no Debian archive among this machine's apt sources"
    # An older machine's key file can lack the keys of a newer suite; its own suite has an update.
    unpack_packages "$target" "$(own_suite)" "$work/keyring" debian-archive-keyring
    IFS='|' read -r _ _ uri _ <<<"$target"
    # debootstrap does not read apt's configuration.
    eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
    export http_proxy https_proxy
    # It mounts /proc in the new root.
    unshare --mount debootstrap --variant=minbase --include=ca-certificates --force-check-gpg \
        --keyring="$work/keyring/usr/share/keyrings/debian-archive-keyring.gpg" \
        "$suite" "$work/root" "$uri" >&2
    write_sources "$suite" "$work/root" <<<"$targets"
    # Nobody needs this root to outlast a power cut.
    echo force-unsafe-io >"$work/root/etc/dpkg/dpkg.cfg.d/causeway"
    mv "$work/root" "$root"
    remove_tree "$work"
}

# write_sources SUITE ROOT < TARGETS: the archives that the machine uses, for SUITE.
write_sources() {
    local suite=$1 root=$2 label name uri suffix
    rm -f "$root/etc/apt/sources.list"
    while IFS='|' read -r label name uri _; do
        suffix=
        [[ $name != *-* ]] || suffix=-${name#*-}
        case $label$suffix in
        Debian | Debian-updates | Debian-Security-security) ;;
        *) continue ;;
        esac
        printf '%s: %s\n' Types deb URIs "$uri" Suites "$suite$suffix" Components main \
            Signed-By /usr/share/keyrings/debian-archive-keyring.gpg
        echo
    done | tee "$root/etc/apt/sources.list.d/debian.sources" >/dev/null
}

# How this machine reaches the archive; copied each time, since it can change.
copy_network_settings() {
    local root=$1
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    apt-config dump | grep -E '^Acquire::(https?|Check-[A-Za-z-]+|Force[A-Za-z0-9]+|Retries)\b' \
        >"$root/etc/apt/apt.conf.d/50causeway" || true
    cp -a /etc/apt/auth.conf* "$root/etc/apt/" 2>/dev/null || true
}

# copy_checkout DIR WORKTREE: a clone of HEAD, or of nothing before the first commit.
copy_checkout() {
    local dir=$1 worktree=$2
    remove_tree "$dir"
    if git -C "$CAUSEWAY_ROOT" rev-parse --quiet --verify HEAD >/dev/null; then
        git clone --quiet "$CAUSEWAY_ROOT" "$dir"
    else
        [[ -n $worktree ]] || die "nothing is committed: use --worktree"
        git init --quiet "$dir"
    fi
    [[ -z $worktree ]] || copy_worktree "$dir"
}

copy_worktree() {
    local dir=$1
    find "$dir" -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
    (cd "$CAUSEWAY_ROOT" && existing_files | tar --create --null --no-recursion --files-from=-) |
        tar --extract --no-same-owner --directory="$dir"
    # Scripts that ask git for the project's files find the new ones too.
    git -C "$dir" add --all
}

# Tracked and new files, without those that were deleted but are still in the index.
existing_files() {
    comm -z -23 <(git ls-files -z --cached --others --exclude-standard | sort -zu) \
        <(git ls-files -z --deleted | sort -zu)
}

# Runs as process 1 of the new namespace, and stays, since the first process must reap orphans.
inside() {
    local root=$1
    shift
    mount_system "$root"
    # shellcheck disable=SC2016 # for the inner shell
    chroot "$root" /usr/bin/env -i "${kept_environment[@]}" HOME=/root XDG_CACHE_HOME=/root/.cache \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        /bin/sh -c 'cd /root/causeway && exec "$@"' sh "$@"
}

kept_environment=()
for name in TERM CI http_proxy https_proxy no_proxy; do
    [[ ! -v $name ]] || kept_environment+=("$name=${!name}")
done

mount_system() {
    local root=$1
    # A root that is a mount lets the command use mount namespaces of its own.
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t tmpfs -o mode=755,nosuid tmpfs "$root/dev"
    mkdir "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts"
    mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/dev/shm"
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    ln -s fd/0 "$root/dev/stdin"
    ln -s fd/1 "$root/dev/stdout"
    ln -s fd/2 "$root/dev/stderr"
    share_devices "$root"
}

# Graphics devices and what makes dma-bufs are shared where this machine has them.
share_devices() {
    local root=$1 device
    for device in null zero full random urandom tty udmabuf; do
        [[ -e /dev/$device ]] || continue
        : >"$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    for device in dri dma_heap; do
        [[ -d /dev/$device ]] || continue
        mkdir "$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
}

if [[ ${1:-} == --inside ]]; then
    inside "${@:2}"
else
    main "$@"
fi
