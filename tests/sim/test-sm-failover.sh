#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A master SM that dies: sm-master-changed with both names; six times in turn: sm-flapping, once,
# until its penalty has decayed. Alerts outlive kill -9 of ibsmd.
. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"
sim_is_long
sim_require_tools

sim_open_made tree2 --hosts 2
sim_start_ibsim

export SIM_IBSMD_CONF='[Probe]
Enabled=no
[SubnetManager]
FlapHalfLifeSec=8s
FlapHoldMaxSec=1min'
sim_start_ibsmd

# A dead master is missed in a second or two; one that comes back does not take over.
start_opensm() { # 0|1 PRIORITY
	SIM_OPENSM_CONF="sminfo_polling_timeout 500
polling_retry_number 2
sm_priority $2" sim_start_opensm "opensm-$1" "${host[$1]}"
}
host=([0]=$NET_SIM_HOST [1]=H-0002c90300000050)
node=([0]='node0001 HCA-1' [1]='node0005 HCA-1')

raised() { # KIND: how many alert-raised events
	sim_json "sum(e['message'].startswith('alert $1 ') for e in it['events'])" events --kind=alert-raised -n 10000
}
states() {
	[ "$(sim_json 'sorted(c["sm_state"] for c in it["plugin"]["connections"])' status 2>/dev/null)" = "$1" ]
}
ups() {
	[ -e "$SIM_DIR/opensm-$1/opensm.log" ] &&
		[ "$(grep -c 'SUBNET UP' "$SIM_DIR/opensm-$1/opensm.log")" -ge "$2" ]
}
is_master() {
	[ "$(sim_json 'it["sm"]["state"] + " " + it["sm"].get("node", "")' status 2>/dev/null)" = "master ${node[$1]}" ]
}
changed_to() { # NEW OLD
	sim_alert sm-master-changed '(a["evidence"]["to_name"], a["evidence"]["from_name"])' "[\"${node[$1]}\", \"${node[$2]}\"]"
}

start_opensm 0 10
sim_wait 60 'the first opensm to bring the subnet up' ups 0 1
sim_wait 20 'the fabric to be up' sim_fabric_up

master=0
for ((round = 1; round <= 6; round++)); do
	standby=$((1 - master))
	start_opensm "$standby" $((10 - round))
	sim_wait 60 'a master and a standby' states '["master", "standby"]'
	sim_kill "opensm-$master"
	sim_wait 60 'the standby to take over' ups "$standby" 1
	up=$(date +%s%N)
	sim_wait 20 'sm-master-changed with both names' changed_to "$standby" "$master"
	printf 'round %d: told %d ms after the subnet was up\n' "$round" $((($(date +%s%N) - up) / 1000000))
	rm -f "$SIM_DIR/opensm-$master/opensm.log"
	if [ "$round" -eq 1 ]; then
		[ "$(raised sm-flapping)" = 0 ] || sim_fail 'one failover is no flapping'
	fi
	master=$standby
done
[ "$(raised sm-flapping)" = 1 ] || sim_fail "sm-flapping was raised $(raised sm-flapping) times"
sim_alert sm-flapping 'a["count"] >= 2' true || sim_fail 'its count does not tell the changes since'

# It outlives ibsmd, as the same alert.
sim_wait 10 'the state to be saved' grep -q sm-flapping "$SIM_DIR/state/health.json"
since=$(sim_json '[a["since_realtime_usec"] for a in it["alerts"] if a["kind"] == "sm-flapping"][0]' status)
sim_kill ibsmd
sim_start_ibsmd
sim_alert sm-flapping 'a["since_realtime_usec"]' "$since" || sim_fail 'sm-flapping did not outlive ibsmd'
sim_wait 10 'the gap to be named' \
	test 1 = "$(sim_json 'len(it["events"])' events --kind=unclean-end 2>/dev/null)"
[ "$(raised sm-flapping)" = 0 ] || sim_fail 'it was raised anew'

over() {
	sim_alert sm-flapping 1 '' &&
		[ "$(sim_json "sum('sm-flapping' in e['message'] for e in it['events'])" events --kind=alert-cleared)" = 1 ]
}
sim_wait 60 'the penalty to decay' over
