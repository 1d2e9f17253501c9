# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds programs on Debian's Go library of Varlink, without network; skips where it is not installed.
# shellcheck shell=bash
#
#	. "$IBSM_SRCDIR/tests/varlink-go/lib.sh"
#	varlink_go_require
#	varlink_go_build DIRECTORY/query "$IBSM_SRCDIR/tests/varlink-go/query.go"
#	varlink_go_build DIRECTORY/name "$VARLINK_GO/cmd/varlink-go-certification"

VARLINK_GO=github.com/varlink/go
VARLINK_GO_PATH=/usr/share/gocode # of the Debian package golang-github-varlink-go-dev

# The test cannot run here: 77 tells automake so, but a CI machine has no excuse.
varlink_go_skip() {
	if [ "${CI-}" = true ]; then
		printf '%s\n' "${0##*/}: $* (a failure, as CI=true)" >&2
		exit 1
	fi
	printf '%s\n' "${0##*/}: skipped: $*" >&2
	exit 77
}

varlink_go_require() {
	command -v go >/dev/null || varlink_go_skip 'no go: install golang-go'
	[ -d "$VARLINK_GO_PATH/src/$VARLINK_GO" ] ||
		varlink_go_skip "no $VARLINK_GO: install golang-github-varlink-go-dev"
}

# varlink_go_build OUTPUT PACKAGE|FILE [MORE-GOPATH]: the build cache is a directory beside OUTPUT.
varlink_go_build() {
	GO111MODULE=off GOPROXY=off GOFLAGS='' GOPATH="${3:+$3:}$VARLINK_GO_PATH" \
		GOCACHE="$(dirname "$1")/go-cache" CGO_ENABLED=0 go build -o "$1" "$2"
}
