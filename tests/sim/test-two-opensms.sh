#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two opensms with the plugin, one ibsmd: the fabric follows the master, also when that dies.
. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"
sim_require_tools

sim_open_made tree2 --hosts 2
sim_start_ibsim
sim_start_ibsmd

# So that a dead master is missed in a second or two.
export SIM_OPENSM_CONF='sminfo_polling_timeout 500
polling_retry_number 2'
other=H-0002c90300000050
sim_start_opensm opensm "$NET_SIM_HOST"
sim_wait 60 'the first opensm to bring the subnet up' sim_subnet_up opensm
sim_start_opensm opensm-b "$other"

sm_node() {
	[ "$(sim_json 'it["sm"]["state"] + " " + it["sm"].get("node", "")' status 2>/dev/null)" = "master $1" ]
}
plugins() {
	[ "$(sim_json 'len(it["plugin"]["connections"])' status 2>/dev/null)" = "$1" ]
}

sim_wait 60 'both plugins to be connected' plugins 2
standby_is_there() {
	[ "$(sim_json 'sorted(c["sm_state"] for c in it["plugin"]["connections"])' status 2>/dev/null)" = \
		'["master", "standby"]' ]
}
sim_wait 60 'one of them to be master and one standby' standby_is_there
sim_wait 20 'the first to be told as master' sm_node 'node0001 HCA-1'
sim_wait 20 'the fabric to be up' sim_fabric_up

sim_kill opensm
sim_wait 60 'the standby to take over' sim_subnet_up opensm-b
sim_wait 20 'the other to be told as master' sm_node 'node0005 HCA-1'
sim_wait 20 'the fabric to be that of the new master' sim_fabric_up
sim_wait 20 'the dead one to be gone' plugins 1

# What happens now reaches ibsmd by the new master's plugin.
sim_unlink S-0002c90200000000 3
sim_wait 20 'a cable that the new master misses' sim_fabric_up "6 8 0 15"
