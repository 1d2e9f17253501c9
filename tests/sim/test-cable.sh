#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A cable pulled in the simulated fabric: told within two seconds, both ends named, with its story.
. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"
sim_require_tools

net=$(mktemp "${TMPDIR:-/tmp}/ibsm.net.XXXXXX")
"${PYTHON:-python3}" "$IBSM_SRCDIR/tests/netgen/netgen.py" tree2 --hosts 2 -o "$net" || exit 1
sim_open "$net"
rm -f "$net"
sim_start_ibsim
sim_start_ibsmd
sim_start_opensm
sim_wait 60 'the fabric to be up' sim_fabric_up

sim_spawn follow "$IBSM_BUILDDIR/ibsmctl" --socket="$SIM_DIR/run/io.ibsm.Monitor" events -f -n 1
following=$SIM_DIR/follow.out

now_ms() {
	printf '%s\n' "$((${EPOCHREALTIME/[.,]/} / 1000))"
}

# told TEXT…: all of them in one line that events -f has printed.
told() {
	local text lines
	lines=$(cat "$following")
	for text; do
		lines=$(grep -F -- "$text" <<<"$lines") || return 1
	done
}

# within_2s WHAT COMMAND…
within_2s() {
	local start what=$1 took
	shift
	start=$(now_ms)
	sim_wait 20 "$what" "$@"
	took=$(($(now_ms) - start))
	printf '%s: %d ms\n' "$what" "$took"
	[ "$took" -le "$((2000 * SIM_PATIENCE))" ] || sim_fail "$what took $took ms: more than 2 s"
}

# sweep_of KIND: the number of the sweep that the last event of that kind belongs to.
sweep_of() {
	sim_json "[e['sweep'] for e in it['events'] if e['kind'] == '$1'][-1]" events
}

# expect WHAT EXPRESSION VERB…: a Python expression on what a verb prints has to be true.
expect() {
	local what=$1
	shift
	[ "$(sim_json "bool($1)" "${@:2}")" = true ] || {
		sim_ctl "${@:2}" >&2
		sim_fail "$what: not so: $1"
	}
}

# A cable between switches. The harness's cut is on leaf01, which the SM's host is on.
sim_unlink S-0002c90200000010 3
within_2s 'a pulled cable in events -f' told link-removed 'leaf02[3]' 'spine01[2]'
sweep=$(sweep_of link-removed)
expect 'the sweep was caused by trap 128' "any(c.get('trap') == 128 for c in it['story']['causes'])" \
	sweep "$sweep"
expect 'it has its phases' "[p['name'] for p in it['story']['phases']] == ['discovery', 'routing', 'setup']" \
	sweep "$sweep"
expect 'it found the lost link, both ends by name' "any(e['kind'] == 'link-removed' and
	{(x['name'], x['port']) for x in e['ends']} == {('leaf02', 3), ('spine01', 2)}
	for e in it['story']['changes'])" sweep "$sweep"
expect 'it rewrote LFT blocks on both ends at least' "it['sweep']['lft_switches'] >= 2 and
	{'leaf02', 'spine01'} <= {l['name'] for l in it['story']['lft']}" sweep "$sweep"
expect 'it ended well' "it['sweep']['result'] == 'up' and it['sweep']['cause'] == 'trap'" sweep "$sweep"
expect 'the link is gone from the model' \
	"not any({l['a']['name'], l['b']['name']} == {'leaf02', 'spine01'} for l in it['links'])" links

sim_relink S-0002c90200000010 3
within_2s 'the cable back in events -f' told link-added 'leaf02[3]' 'spine01[2]'
sim_wait 20 'all links to be there' sim_fabric_up

# A host's cable: the node goes, with traps 65 and 64 from the SM itself.
sim_unlink S-0002c90200000030 2
within_2s 'a lost host in events -f' told node-removed 'node0008 HCA-1'
sweep=$(sweep_of node-removed)
expect 'its link went in the same sweep' \
	"any(e['kind'] == 'link-removed' for e in it['story']['changes'])" sweep "$sweep"
sim_relink S-0002c90200000030 2
within_2s 'the host back in events -f' told node-added 'node0008 HCA-1'
sim_wait 20 'all of the fabric to be there' sim_fabric_up

# A spine with all of its cables.
for port in 1 2 3 4; do
	sim_unlink S-0002c90200000050 "$port"
done
within_2s 'a lost spine in events -f' told node-removed spine02
sim_wait 20 'the fabric without the spine' sim_fabric_up '5 8 0 12'
for port in 1 2 3 4; do
	sim_relink S-0002c90200000050 "$port"
done
within_2s 'the spine back in events -f' told node-added spine02
sim_wait 20 'all of the fabric to be there' sim_fabric_up

expect 'nothing was dropped' "it['plugin']['events_dropped'] == 0" status
