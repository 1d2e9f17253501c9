#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Traps that ibsim cannot send, by the program that plays opensm, through the plugin to the alert:
# of a port that overruns (131), and of a switch that sees bad P_Keys (259).
. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"

host=$IBSM_BUILDDIR/tests/host/ibsm-host
[ -x "$host" ] || sim_fail "no ibsm-host in $IBSM_BUILDDIR: build it first"
SIM_DIR=$(mktemp -d "${TMPDIR:-/tmp}/ibsm.XXXXXX") || exit 1
trap sim_stop EXIT
mkdir "$SIM_DIR/run" "$SIM_DIR/state"
SIM_IBSMD_CONF='[Probe]
Enabled=no' sim_start_ibsmd

# The tree is the same each time; --count counts its traps.
play() {
	"$host" --socket="$SIM_DIR/run/plugin.sock" --tree=4,2,4 "$@" || sim_fail "ibsm-host $* failed"
}
flood() { # EXPRESSION on the alert "a" VALUE in JSON
	[ "$(sim_json "[$1 for a in it['alerts'] if a['kind'] == 'trap-flood']" alerts --all 2>/dev/null)" = "[$2]" ]
}
traps() { # NUMBER COUNT
	[ "$(sim_json "[n['count'] for n in it['traps']['numbers'] if n['number'] == $1]" sweeps --stats 2>/dev/null)" = "[$2]" ]
}
lid_of() {
	sim_json "[n['lids'][0] for n in it['nodes'] if n['type'] == '$1'][0]" nodes
}

play --sweep
leaf=$(lid_of switch) || exit 1
name=$(sim_json "[n['name'] for n in it['nodes'] if n['type'] == 'switch'][0]" nodes)
play --trap=131 --lid="$leaf" --issuer-lid="$leaf" --port=3 --count=7
sim_wait 10 'seven traps to be told' traps 131 7
flood 1 '' || sim_fail 'seven traps are no flood'
play --trap=131 --lid="$leaf" --issuer-lid="$leaf" --port=3 --count=3
sim_wait 10 'trap-flood, with switch and port' flood '(a["subject"], a["evidence"]["port"])' "[\"$name\", 3]"
play --trap=259 --sw-lid="$leaf" --issuer-lid="$leaf" --port=2 --lid=5 --lid2=6 --count=1
sim_wait 10 'a trap of a switch port' traps 259 1
traps 131 10 || sim_fail 'ten are not ten'
