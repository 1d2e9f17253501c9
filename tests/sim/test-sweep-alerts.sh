#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sweeps that go wrong, by opensm's own doing: routing-engine-fallback, sweep-failed, lft-mismatch,
# sweep-storm, trap-flood; each raised through the whole chain, and cleared.
. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"
sim_is_long
sim_require_tools

told() { # raised|cleared KIND [PATTERN]
	sim_ctl events "--kind=alert-$1" | grep -Eq "alert $2 (\(.*\)|is over): ${3-}"
}
told_event() { # KIND PATTERN
	sim_ctl events "--kind=$1" -n all | grep -q "$2"
}
part() { # FUNCTION SHAPE…: one simulation, to its end
	(
		SIM_PID=() SIM_ORDER=()
		export SIM_IBSMD_CONF="[Probe]
Enabled=no
[Alerts]
SweepFailedClearSec=1s
[Sweeps]
StormHalfLifeSec=3s
StormSuppress=4
StormReuse=1
NodeUnresponsiveSec=1s
[Traps]
FloodHalfLifeSec=3s
FloodSuppress=4
FloodReuse=1"
		sim_open_made "${@:2}"
		sim_start_ibsim
		sim_start_ibsmd
		"$1"
	) || exit
}

# What a ring makes of ftree.
on_a_ring() {
	SIM_OPENSM_CONF='routing_engine ftree' sim_start_opensm opensm-ftree
	sim_wait 60 'routing-engine-fallback' sim_alert routing-engine-fallback \
		'(a["evidence"]["engine_used"], a["evidence"]["engines_configured"])' '["minhop", ["ftree"]]'
	sim_end opensm-ftree
	SIM_OPENSM_CONF='routing_engine torus-2QoS,no_fallback
sweep_interval 1' sim_start_opensm opensm-torus
	sim_wait 60 'sweep-failed' sim_alert sweep-failed '(a["severity"], a["evidence"]["result"])' \
		'["critical", "routing-failed"]'
	sim_end opensm-torus
	sim_start_opensm opensm-default
	sim_wait 60 'a subnet that is up to clear them' sim_alert sweep-failed 1 ''
	sim_wait 60 'the engine of its choice' sim_alert routing-engine-fallback 1 ''
}
part on_a_ring ring

# A switch that takes no LFT block.
on_a_tree() {
	local lids
	SIM_OPENSM_CONF='sweep_interval 2' sim_start_opensm
	sim_wait 60 'the subnet to be up' sim_fabric_up
	sim_console 'Error "S-0002c90200000000" 100 25'
	sim_unlink S-0002c90200000010 3
	sim_wait 60 'sweep-failed' sim_alert sweep-failed '(a["severity"], a["evidence"]["result"])' \
		'["warning", "up-with-errors"]'
	sim_wait 60 'lft-mismatch, with the switch' sim_alert lft-mismatch 'a["evidence"]["switches"]' '["leaf01"]'
	lids=$(sim_json "[a['evidence']['lids'] for a in it['alerts'] if a['kind'] == 'lft-mismatch'][0]" status)
	printf 'leaf01 did not acknowledge LIDs %s\n' "$lids"
	[[ $lids =~ ^\[\"[0-9] ]] || sim_fail "no LIDs: $lids"
	sim_console 'Error "S-0002c90200000000" 0 25'
	sim_wait 60 'lft-mismatch to be over' sim_alert lft-mismatch 1 ''
	sim_wait 60 'sweep-failed to be over' sim_alert sweep-failed 1 ''

	# A host that answers nothing, though its link is up.
	sim_console 'Error "H-0002c90300000050" 100'
	sim_kill opensm HUP
	sim_wait 20 'the host to be missed' told_event node-removed node0005
	sim_kill opensm HUP
	sim_wait 30 'node-unresponsive, by name' sim_alert node-unresponsive \
		'(a["evidence"]["node_name"], a["evidence"]["behind_name"])' '["node0005 HCA-1", "leaf03"]'
	sim_console 'Error "H-0002c90300000050" 0'
	sim_kill opensm HUP
	sim_wait 30 'node-unresponsive to be over' sim_alert node-unresponsive 1 ''
}
part on_a_tree tree2 --hosts 2

# One cable, again and again.
flapping() {
	local i
	sim_start_opensm
	sim_wait 60 'the subnet to be up' sim_fabric_up
	for ((i = 0; i < 50; i++)); do
		sim_unlink S-0002c90200000000 3
		sim_relink S-0002c90200000000 3
	done
	sim_wait 20 'sweep-storm' told raised sweep-storm
	sim_wait 20 'trap-flood, by a switch at the cable' told raised trap-flood '(leaf01|spine01) '
	sim_wait 60 'the fabric to be whole' sim_fabric_up
	sim_wait 90 'sweep-storm to be over' told cleared sweep-storm
	sim_wait 90 'trap-flood to be over' told cleared trap-flood
}
part flapping tree2 --hosts 2
