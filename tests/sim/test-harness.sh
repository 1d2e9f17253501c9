#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The harness itself, without ibsm: what it starts ends with it, and failures are told as such.
. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"
sim_require_tools

work=$(mktemp -d "${TMPDIR:-/tmp}/ibsm.harness.XXXXXX")
trap 'rm -rf "$work"' EXIT
export IBSM_SRCDIR TMPDIR=$work
failures=0

check() {
	local what=$1
	shift
	if "$@"; then
		printf 'ok   %s\n' "$what"
	else
		printf 'FAIL %s\n' "$what"
		failures=$((failures + 1))
	fi
}

# write NAME: a script that uses the harness, from standard input.
write() {
	{
		# shellcheck disable=SC2016
		printf '%s\n' '. "$IBSM_SRCDIR/tests/sim/lib.sh"'
		cat
	} >"$work/$1"
}

nothing_left() {
	[ -z "$(find "$work" -maxdepth 1 -name 'ibsm.??????')" ] && ! pgrep -f "$work/ibsm" >/dev/null
}

"${PYTHON:-python3}" "$IBSM_SRCDIR/tests/netgen/netgen.py" tree2 -o "$work/tree.net"

write up <<'EOF'
sim_open "$1"
sim_start_ibsim
SIM_PLUGIN=none sim_start_opensm
sim_wait 60 'the subnet to be up' sim_subnet_up
cables() {
	sim_client "$NET_SIM_HOST" ibnetdiscover | grep -c '^\['
}
before=$(cables)
sim_unlink S-0002c90200000000 5
after=$(cables)
sim_relink S-0002c90200000000 5
again=$(cables)
[ "$before $after $again" = '48 46 48' ] || sim_fail "saw $before $after $again ends of cables"
printf '%s\n' "${SIM_PID[@]}" >"$1.pids"
EOF
no_pids() {
	local pid
	while read -r pid; do
		! kill -0 "$pid" 2>/dev/null || return 1
	done <"$work/tree.net.pids"
}
check 'a fabric comes up, loses a cable and gets it back' bash "$work/up" "$work/tree.net"
check 'nothing is left of it' nothing_left
check 'no process of it either' no_pids

write side <<'EOF'
sim_open "$1"
sim_start_ibsim
SIM_PLUGIN=none sim_start_opensm
sim_wait 60 'the subnet to be up' sim_subnet_up
EOF
side_by_side() {
	local one other
	bash "$work/side" "$work/tree.net" &
	one=$!
	bash "$work/side" "$work/tree.net" &
	other=$!
	wait "$one" && wait "$other"
}
check 'two simulations run side by side' side_by_side

write hang <<'EOF'
sim_open "$1"
sim_start_ibsim
SIM_PLUGIN=none sim_start_opensm
sim_wait 60 'the subnet to be up' sim_subnet_up
: >"$1.up"
sim_wait 60 'a signal' false
EOF
is_up() {
	[ -e "$work/tree.net.up" ]
}
ends_on() {
	local pid status=0
	rm -f "$work/tree.net.up"
	bash "$work/hang" "$work/tree.net" 2>"$work/err" &
	pid=$!
	sim_wait 60 'the fabric of another script' is_up
	kill "-$1" "$pid"
	wait "$pid" || status=$?
	[ "$status" -eq "$2" ] && nothing_left
}
check 'SIGTERM stops all of it' ends_on TERM 143
check 'SIGHUP stops all of it' ends_on HUP 129

write died <<'EOF'
sim_open "$1"
sim_start_ibsim
SIM_PLUGIN=none sim_start_opensm
sim_wait 60 'the subnet to be up' sim_subnet_up
kill -KILL "${SIM_PID[opensm]}"
sim_wait 60 'nothing' false
EOF
tells_death() {
	! bash "$work/died" "$work/tree.net" 2>"$work/err" &&
		grep -q 'opensm ended by itself (status 137)' "$work/err"
}
check 'an opensm that dies is told at once' tells_death

write wrong <<'EOF'
sim_open "$1"
sim_start_ibsim
sim_unlink S-0002c90200000000 99
EOF
tells_error() {
	! bash "$work/wrong" "$work/tree.net" 2>"$work/err" && grep -q 'ibsim: .*port 99' "$work/err"
}
check 'what ibsim says to a wrong command is an error' tells_error

write broken <<'EOF'
sim_open "$1"
# What netfile.py lets nothing pass to.
printf 'Switch 2 "S-1"\n[1] "S-2"[1]\n' >"$SIM_DIR/net"
sim_start_ibsim
EOF
tells_sim_init() {
	! bash "$work/broken" "$work/tree.net" 2>"$work/err" &&
		grep -q 'ibsim cannot load this net file' "$work/err"
}
check 'a net file that ibsim cannot load is told' tells_sim_init
check 'nothing is left of any' nothing_left

[ "$failures" -eq 0 ]
