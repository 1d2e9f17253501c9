#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The standard Varlink certification: Go's client against our service, our client against Go's.
set -eu

IBSM_SRCDIR=${IBSM_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
IBSM_BUILDDIR=${IBSM_BUILDDIR:-$PWD}
# shellcheck source=tests/varlink-go/lib.sh
. "$IBSM_SRCDIR/tests/varlink-go/lib.sh"
varlink_go_require

dir=$(mktemp -d)
server=
stop() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" || true
	fi
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM

fail() {
	printf '%s\n' "${0##*/}: $*" >&2
	exit 1
}

# wait_for WHAT COMMAND…: up to a minute, and only as long as the server runs.
wait_for() {
	local what=$1 end=$((SECONDS + 60))
	shift
	until "$@"; do
		kill -0 "$server" 2>/dev/null || fail "the server ended before $what"
		[ $SECONDS -lt $end ] || fail "waited in vain for $what"
		read -rt 0.05 <> <(:) || true
	done
}

varlink_go_build "$dir/go-certification" "$VARLINK_GO/cmd/varlink-go-certification"
varlink_go_build "$dir/query" "$IBSM_SRCDIR/tests/varlink-go/query.go"

# Our service. Go's client exits with 0 in any case: what it printed last counts.
"$IBSM_BUILDDIR/tests/varlink-go/certification-server" \
	"$IBSM_SRCDIR/tests/varlink-go/org.varlink.certification.varlink" "$dir/ours" \
	>"$dir/ready" &
server=$!
wait_for 'our service to listen' test -s "$dir/ready"
for _ in 1 2 3; do
	timeout 60 "$dir/go-certification" -client -varlink "unix:$dir/ours" | tee "$dir/log"
	[ "$(tail -n 1 "$dir/log")" = "End: 'true'" ] || fail 'certification failed'
	[ "$(grep -c 'Reply number' "$dir/log")" = 11 ] || fail 'Test10 did not reply ten times'
done
timeout 60 "$IBSM_BUILDDIR/tests/varlink-go/certification-client" "$dir/ours"

# What it tells about itself, and its errors, in the eyes of the same library.
info=$("$dir/query" "unix:$dir/ours")
case $info in
*'"product":"Certification"'*'"org.varlink.service"'*'"org.varlink.certification"'*) ;;
*) fail "GetInfo: $info" ;;
esac
expect_error() {
	local expected=$1 got status=0
	shift
	got=$("$dir/query" "unix:$dir/ours" "$@") || status=$?
	[ "$status $got" = "3 $expected" ] || fail "$*: $got (exit status $status)"
}
service=org.varlink.service
interface=org.varlink.certification
expect_error "{\"error\":\"$service.InterfaceNotFound\",\"parameters\":{\"interface\":\"a.b\"}}" a.b.C
expect_error "{\"error\":\"$service.MethodNotFound\",\"parameters\":{\"method\":\"$interface.No\"}}" \
	$interface.No
expect_error "{\"error\":\"$service.InvalidParameter\",\"parameters\":{\"parameter\":\"client_id\"}}" \
	$interface.Test01
expect_error "{\"error\":\"$interface.ClientIdError\",\"parameters\":{}}" \
	$interface.Test01 '{"client_id":"x"}'

# Its replies fit its description.
"$IBSM_BUILDDIR/tests/varlink-go/check-replies" "$dir/ours" "$service"
"$IBSM_BUILDDIR/tests/varlink-go/check-replies" "$dir/ours" "$interface" \
	Start '{}' Test01 '{"client_id":"client-1"}' End '{"client_id":"client-1"}'

kill "$server"
wait "$server" || fail "our service ended with $?"
server=

# Go's service.
"$dir/go-certification" -varlink "unix:$dir/theirs" &
server=$!
wait_for "Go's service to listen" test -S "$dir/theirs"
for _ in 1 2 3; do
	timeout 60 "$IBSM_BUILDDIR/tests/varlink-go/certification-client" "$dir/theirs"
done
echo 'certified both ways'
