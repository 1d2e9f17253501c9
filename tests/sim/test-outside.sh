#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The outside view alone: ibsmd before opensm, no plugin anywhere, and masters that die.
set -u

. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"

[ -x "$IBSM_BUILDDIR/ibsm-probe" ] || sim_fail "no ibsm-probe in $IBSM_BUILDDIR: build it first"
sim_is_long
sim_require_tools
SIM_PLUGIN=none

sim_open_made tree2 --leaves 2 --spines 2 --hosts 2
read -r -a hosts <<<"$NET_SIM_HOST $NET_SPARE_HOSTS"
[ "${#hosts[@]}" -ge 3 ] || sim_fail "too few hosts: ${hosts[*]}"
sim_start_ibsim

# ---- ibsmd on the third host, its ibsm-probe alone under umad2sim ----

probe=$(sim_make_probe "${hosts[2]}")
SIM_IBSMD_CONF="[Probe]
Enabled=yes
Program=$probe
PollSec=1s
[SubnetManager]
NoStandbySec=1s" sim_start_ibsmd

logged() {
	grep -q "outside view: $1" "$SIM_DIR/ibsmd.out"
}
# alerts KIND N: so many of a kind are open.
alerts() {
	[ "$(sim_json "sum(a['kind'] == '$1' for a in it['alerts'])" status 2>/dev/null)" = "$2" ]
}
# message KIND TEXT
message() {
	[ "$(sim_json "any(a['kind'] == '$1' and '$2' in a['message'] for a in it['alerts'])" \
		status 2>/dev/null)" = true ]
}

# ---- before opensm ----

sim_wait 20 'the port to be looked at' logged '\(port ibsim0/1 \|asking from ibsim0/1\)'

# ---- a master, alone ----

sim_start_opensm opensm1 "${hosts[0]}" -p 10
sim_wait 60 'the first opensm to sweep' sim_subnet_up opensm1
sim_wait 20 'the SMs to be asked' logged 'asking from ibsim0/1'
master_answers() {
	[ "$(sim_json '[s["state"] for s in it["sms"]]' sms 2>/dev/null)" = '["master"]' ]
}
sim_wait 20 'the master to answer' master_answers
alerts sm-lost 0 || sim_fail 'a master that answers is lost'
alerts sm-no-standby 0 || sim_fail 'who waits cannot be known without an opensm that tells'

# ---- a standby, which takes over when the master dies ----

SIM_OPENSM_CONF='sminfo_polling_timeout 500
polling_retry_number 2' sim_start_opensm opensm2 "${hosts[1]}" -p 9
standby_is_up() {
	grep -q 'ENTERING STANDBY STATE\|Entering STANDBY' "$SIM_DIR/opensm2/opensm.log" 2>/dev/null
}
sim_wait 60 'the second opensm to be standby' standby_is_up
sim_kill opensm1
sim_wait 60 'the standby to take over' sim_subnet_up opensm2
sim_wait 20 'the change of the master to be seen' alerts sm-master-changed 1
sim_wait 20 'the new master to be found' alerts sm-lost 0

# ---- and dies: nobody is left ----

sim_kill opensm2
sim_wait 20 'the last master to be lost' alerts sm-lost 1

# ---- the first is back ----

sim_start_opensm opensm1 "${hosts[0]}" -p 10
sim_wait 60 'the first opensm to be found again' alerts sm-lost 0

# ---- ibsm-probe dies, and is back ----

kill -KILL "$(cat "$SIM_DIR/probe.pid")"
sim_wait 20 'its end to be told' logged 'ibsm-probe was ended by SIGKILL'
asks_again() {
	[ "$(grep -c 'outside view: asking from' "$SIM_DIR/ibsmd.out")" -eq 2 ]
}
sim_wait 20 'the SMs to be asked again' asks_again
sim_kill opensm1
sim_wait 30 'a master to be missed by the next one' alerts sm-lost 1
