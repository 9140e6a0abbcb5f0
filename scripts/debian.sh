# shellcheck shell=bash
# Debian packages, and Ubuntu's, for setup.sh and in-debian.sh; sourced by them, it only defines
# functions and what `archive` is.
# shellcheck disable=SC2034 # used where this is sourced
#
# No archive address is written here: all come from this machine's apt configuration. Packages of
# another suite are fetched with an apt state of their own, so that the machine's sources, pins and
# package lists stay as they are.

# Where this machine's system comes from: the origin of its archive, which is also the label of the
# part with whole suites; the component that has all that is wanted; and the suite that new versions
# reach first. Systems built on Ubuntu name its suite too.
if grep -q '^UBUNTU_CODENAME=' /etc/os-release; then
    archive=Ubuntu component=universe newest_suite=devel
else
    archive=Debian component=main newest_suite=unstable
fi

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# missing_packages NAME...: prints those that are not installed.
missing_packages() {
    comm -23 <(printf '%s\n' "$@" | sort -u) <(installed_packages "$@" | sort -u)
}

installed_packages() {
    # It fails when it does not know one of the names, which is no error here.
    dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
        sed -n 's/^installed //p' || true
}

# install_packages NAME...: installs from the machine's own suite what is not there yet.
install_packages() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]})) || return 0
    as_root apt-get update >&2
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --no-install-recommends "${missing[@]}" >&2
}

as_root() {
    if ((EUID == 0)); then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "needs root, and there is no sudo: $*"
    fi
}

own_suite() {
    # shellcheck source=/dev/null
    (. /etc/os-release && echo "${UBUNTU_CODENAME:-$VERSION_CODENAME}")
}

# apt_targets [APT-OPTION...]: prints the package lists of the machine's sources, one a line, as
# LABEL|SUITE|URI|FILE:ENTRY. The label comes from the lists' signed Release files, and is empty before
# the first update.
apt_targets() {
    # shellcheck disable=SC2016 # the $(...) are apt's
    apt-get indextargets "$@" --format '$(LABEL)|$(RELEASE)|$(REPO_URI)|$(SOURCESENTRY)' \
        'Created-By: Packages' "Origin: $archive" "Component: $component" \
        "Architecture: $(dpkg --print-architecture)"
}

# refresh_targets DIR: apt_targets for a machine whose package lists were never fetched or were
# deleted, as in many container images. DIR gets lists of its own, which needs no root.
refresh_targets() {
    write_apt_conf "$1"
    apt-get --config-file "$1/apt.conf" update >&2
    apt_targets --config-file "$1/apt.conf"
}

# main_target < TARGETS: prints the line of the archive that carries whole suites, as against
# bookworm-updates or the like.
main_target() {
    # Reads to the end: a writer cut off by SIGPIPE would count as failed.
    awk -F'|' -v label="$archive" '$1 == label && $2 !~ /-/ && !found++'
}

# write_apt_conf DIR [SOURCES-FILE]: makes DIR a private apt state with the machine's sources or the
# given ones. The machine's apt.conf.d still counts (proxies, credentials, date checks); its pins do
# not, nor the hooks that act on the system after an update. apt's own user could not write to DIR.
write_apt_conf() {
    local dir=$1
    mkdir -p "$dir/lists/partial" "$dir/archives/partial"
    : >"$dir/status"
    cat >"$dir/apt.conf" <<CONF
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Update::Error-Mode "any";
APT::Sandbox::User "root";
Dir::State "$dir";
Dir::State::status "$dir/status";
Dir::Cache "$dir";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
CONF
    if (($# > 1)); then
        cat >>"$dir/apt.conf" <<CONF
Dir::Etc::sourcelist "$2";
Dir::Etc::sourceparts "/dev/null";
CONF
    fi
}

# signed_by TARGET: prints the deb822 field that names the keys the machine trusts for that source;
# nothing if its configuration names none, and then apt's default keys count.
signed_by() {
    local uri file
    IFS='|' read -r _ _ uri file <<<"$1"
    file=${file%:*}
    if [[ $file == *.sources ]]; then
        # The value can be a whole key on continuation lines.
        awk -v uri="${uri%/}" 'BEGIN { RS = "" } index($0, uri) { print; exit }' "$file" |
            awk 'tolower($0) ~ /^signed-by:/ { on = 1; print; next } /^[^ \t]/ { on = 0 } on'
    else
        grep -F "${uri%/}" "$file" |
            sed -nE 's/^deb .*\[.*signed-by=([^] ]+).*/Signed-By: \1/p' | sed -n 1p
    fi
}

# unpack_packages TARGET SUITE DIR NAME...: downloads packages of SUITE from that archive and
# unpacks them in DIR, installing nothing. The downloaded files stay in DIR.apt.
unpack_packages() {
    local target=$1 suite=$2 dir=$3 uri
    shift 3
    IFS='|' read -r _ _ uri _ <<<"$target"
    write_apt_conf "$dir.apt" "$dir.apt/suite.sources"
    cat >"$dir.apt/suite.sources" <<SOURCES
Types: deb
URIs: $uri
Suites: $suite
Components: $component
Architectures: $(dpkg --print-architecture)
Targets: Packages
$(signed_by "$target")
SOURCES
    update_suite "$suite" "$dir.apt"
    (cd "$dir.apt" && apt-get --config-file apt.conf download "$@" >&2)
    mkdir -p "$dir"
    for package in "$dir.apt"/*.deb; do
        dpkg --extract "$package" "$dir"
    done
}

update_suite() {
    local suite=$1 state=$2
    apt-get --config-file "$state/apt.conf" update >"$state/log" 2>&1 && return
    cat "$state/log" >&2
    if grep -qiE 'NO_PUBKEY|missing key' "$state/log"; then
        die "the keys this machine trusts do not sign suite $suite: update the package with the archive's keyring"
    fi
    die "cannot read suite $suite of this machine's $archive archive"
}
