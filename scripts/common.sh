# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What scripts/demo and scripts/test share: the packages they need, and how they build.
# shellcheck shell=bash

IBSM_SRCDIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
JOBS=$(nproc 2>/dev/null || echo 2)

# To build ibsm from the repository, to run it on a simulated fabric, and to test it in every way.
# shellcheck disable=SC2034
PACKAGES_BUILD="gcc libc6-dev make autoconf automake libtool pkgconf \
libopensm-dev libibumad-dev libibmad-dev libsystemd-dev libjansson-dev libinih-dev uthash-dev"
# shellcheck disable=SC2034
PACKAGES_RUN="opensm infiniband-diags ibsim-utils libumad2sim0 python3 procps"
# shellcheck disable=SC2034
PACKAGES_TEST="libcmocka-dev clang clang-format clang-tidy libclang-rt-dev llvm shellcheck mandoc \
golang-go golang-github-varlink-go-dev xz-utils file"

say() {
	printf '%s\n' "$*"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

heading() {
	printf '\n%s=== %s ===%s\n' "${BOLD-}" "$*" "${PLAIN-}"
}

if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
	BOLD=$'\033[1m'
	PLAIN=$'\033[0m'
fi

# missing_packages PACKAGE…: those that are not installed, one a line.
missing_packages() {
	local package
	for package; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
			printf '%s\n' "$package"
	done
}

# need_packages PACKAGE…: install what is missing, as root; else say what to do. Returns 1 if
# something is missing in the end.
need_packages() {
	local missing
	if ! command -v dpkg-query >/dev/null; then
		say "This is not Debian: install what these packages hold yourself: $*"
		return 0
	fi
	mapfile -t missing < <(missing_packages "$@")
	[ "${#missing[@]}" -gt 0 ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		say "Missing packages: ${missing[*]}"
		say "Install them as root:"
		say "    apt-get install --no-install-recommends ${missing[*]}"
		return 1
	fi
	say "Installing ${#missing[@]} missing packages: ${missing[*]}"
	install_packages "${missing[@]}"
}

install_packages() {
	local log status=0 held='' opensm_is_new=''
	log=$(mktemp) || return 1
	# Debian starts a service as soon as it is installed. An opensm that nobody asked for can
	# disturb a fabric that this machine is on, so it is kept from starting, now and at boot.
	case " $* " in
	*' opensm '*)
		opensm_is_new=1
		if [ ! -e /usr/sbin/policy-rc.d ]; then
			printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
			chmod 755 /usr/sbin/policy-rc.d
			held=1
		fi
		;;
	esac
	if ! apt_install "$@" >"$log" 2>&1; then
		# No package lists yet, or stale ones.
		{ apt-get update && apt_install "$@"; } >>"$log" 2>&1 || status=1
	fi
	[ -z "$held" ] || rm -f /usr/sbin/policy-rc.d
	if [ "$status" -ne 0 ]; then
		tail -n 20 "$log" >&2
		say 'apt-get failed.' >&2
	elif [ -n "$opensm_is_new" ]; then
		if command -v systemctl >/dev/null; then
			systemctl disable opensm.service >>"$log" 2>&1
		fi
		say "opensm is installed, but its service is neither started nor enabled."
	fi
	rm -f "$log"
	return "$status"
}

apt_install() {
	DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends \
		-o Dpkg::Use-Pty=0 install "$@"
}

# quietly LOG COMMAND…: its output goes to LOG, and the end of that to the screen if it fails.
quietly() {
	local log=$1
	shift
	if ! "$@" >"$log" 2>&1; then
		tail -n "${LINES_SHOWN:-30}" "$log" >&2
		printf '%s: that failed; all of it is in %s\n' "${0##*/}" "$log" >&2
		return 1
	fi
}

# The interpreter itself: `python3` may be a wrapper that takes longer than what it is called for.
find_python() {
	PYTHON=${PYTHON:-$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)}
	export PYTHON=${PYTHON:-python3}
}

# The build system is made anew when it is older than what it is made from.
bootstrap() {
	local input
	for input in "$IBSM_SRCDIR/configure.ac" "$IBSM_SRCDIR/Makefile.am" \
		"$IBSM_SRCDIR"/*/local.mk "$IBSM_SRCDIR"/tests/*/*.mk; do
		if [ "$input" -nt "$IBSM_SRCDIR/configure" ] || [ "$input" -nt "$IBSM_SRCDIR/Makefile.in" ]; then
			(cd "$IBSM_SRCDIR" && autoreconf -fi)
			return
		fi
	done
}

# A place to build in that git ignores: in the tree, or where that is not writable, in the cache.
build_root() {
	local dir
	if [ -w "$IBSM_SRCDIR" ]; then
		dir=$IBSM_SRCDIR/build
	else
		dir=${XDG_CACHE_HOME:-${HOME:?}/.cache}/ibsm
	fi
	mkdir -p "$dir" && printf '%s\n' "$dir"
}

# One script builds in a place at a time; the next one waits. Held until build_unlock or the end.
build_lock() {
	exec {BUILD_LOCK}>"$1/lock"
	flock -n "$BUILD_LOCK" && return
	say "Another script builds in $1: waiting for it."
	flock "$BUILD_LOCK"
}

build_unlock() {
	exec {BUILD_LOCK}>&-
}

# build DIR LOG [CONFIGURE-ARGUMENT…]: configure and make there; done already where nothing changed.
build() {
	local dir=$1 log=$2
	shift 2
	mkdir -p "$dir" || return 1
	if [ "$(cat "$dir/.configured-with" 2>/dev/null)" != "$*" ] || [ ! -e "$dir/Makefile" ]; then
		# shellcheck disable=SC2016
		quietly "$log" sh -c 'cd "$1" && shift && exec "$@"' sh "$dir" \
			"$IBSM_SRCDIR/configure" "$@" || return 1
		printf '%s\n' "$*" >"$dir/.configured-with"
	fi
	quietly "$log" make -C "$dir" -j"$JOBS"
}
