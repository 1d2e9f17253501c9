#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A cable pulled in the simulated fabric: told within two seconds, both ends named, with its story.
. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"
sim_require_tools

sim_open_made tree2 --hosts 2
sim_start_ibsim
sim_start_ibsmd
sim_start_opensm
sim_wait 60 'the fabric to be up' sim_fabric_up

# What events -f prints, each line with the time at which it came, in ms.
sim_spawn follow "${PYTHON:-python3}" "$IBSM_SRCDIR/tests/sim/stamp.py" \
	"$IBSM_BUILDDIR/ibsmctl" --socket="$SIM_DIR/run/io.ibsm.Monitor" events -f -n 1
following=$SIM_DIR/follow.out
sim_wait 20 'events -f to be there' test -s "$following"

now_ms() {
	printf '%s\n' "$((${EPOCHREALTIME/[.,]/} / 1000))"
}

# told AFTER-MS TEXT…: all of them in one line that came since; its time.
told() {
	local text lines after=$1
	lines=$(awk -v after="$after" '$1 >= after' "$following")
	for text in "${@:2}"; do
		lines=$(grep -F -- "$text" <<<"$lines") || return 1
	done
	printf '%s\n' "${lines%% *}"
}

# within_2s SINCE-MS WHAT TEXT…
within_2s() {
	local since=$1 what=$2 took
	shift 2
	sim_wait 20 "$what" told "$since" "$@" >"$SIM_DIR/came"
	took=$(($(<"$SIM_DIR/came") - since))
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
cut=$(now_ms)
sim_unlink S-0002c90200000010 3
within_2s "$cut" 'a pulled cable in events -f' link-removed 'leaf02[3]' 'spine01[2]'
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

cut=$(now_ms)
sim_relink S-0002c90200000010 3
within_2s "$cut" 'the cable back in events -f' link-added 'leaf02[3]' 'spine01[2]'
sim_wait 20 'all links to be there' sim_fabric_up

# A host's cable: the node goes, with traps 65 and 64 from the SM itself.
cut=$(now_ms)
sim_unlink S-0002c90200000030 2
within_2s "$cut" 'a lost host in events -f' node-removed 'node0008 HCA-1'
sweep=$(sweep_of node-removed)
expect 'its link went in the same sweep' \
	"any(e['kind'] == 'link-removed' for e in it['story']['changes'])" sweep "$sweep"
cut=$(now_ms)
sim_relink S-0002c90200000030 2
within_2s "$cut" 'the host back in events -f' node-added 'node0008 HCA-1'
sim_wait 20 'all of the fabric to be there' sim_fabric_up

# A spine with all of its cables.
cut=$(now_ms)
for port in 1 2 3 4; do
	sim_unlink S-0002c90200000050 "$port"
done
within_2s "$cut" 'a lost spine in events -f' node-removed spine02
sim_wait 20 'the fabric without the spine' sim_fabric_up '5 8 0 12'
cut=$(now_ms)
for port in 1 2 3 4; do
	sim_relink S-0002c90200000050 "$port"
done
within_2s "$cut" 'the spine back in events -f' node-added spine02
sim_wait 20 'all of the fabric to be there' sim_fabric_up

expect 'nothing was dropped' "it['plugin']['events_dropped'] == 0" status
