#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# ibsmd comes late, dies, hangs and comes again: opensm does not care, and the fabric is there again.
. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"
sim_require_tools

ROUNDS=${ROUNDS:-10}

sim_open_made tree2 --hosts 2
sim_start_ibsim
sim_start_opensm
sim_wait 60 'opensm to bring the subnet up without any ibsmd' sim_subnet_up

sweeps() {
	grep -c 'SUBNET UP' "$SIM_DIR/opensm/opensm.log"
}

# What opensm holds open and runs: "descriptors threads".
holds() {
	local fds threads
	fds=$(find "/proc/${SIM_PID[opensm]}/fd" -mindepth 1 | wc -l)
	threads=$(find "/proc/${SIM_PID[opensm]}/task" -mindepth 1 -maxdepth 1 | wc -l)
	printf '%s\n' "$fds $threads"
}

same_as() {
	[ "$(holds)" = "$1" ]
}

before=$(sweeps)
sim_start_ibsmd
sim_wait 20 'a late ibsmd to have the fabric' sim_fabric_up
first=$(holds)
for ((i = 1; i <= ROUNDS; i++)); do
	sim_kill ibsmd
	rm -f "$SIM_DIR"/run/*.sock "$SIM_DIR/run/io.ibsm.Monitor"
	sim_start_ibsmd
	sim_wait 20 "the fabric after restart $i" sim_fabric_up
done
[ "$(sweeps)" -eq "$before" ] || sim_fail "it took sweeps to have the fabric again"
sim_wait 20 "opensm to hold what it held: $first" same_as "$first"

# Stopped, it reads nothing: opensm sweeps on, and what could not be sent is counted.
kill -STOP "${SIM_PID[ibsmd]}"
more_sweeps() {
	[ "$(sweeps)" -gt "$1" ]
}
for ((i = 1; i <= 5; i++)); do
	before=$(sweeps)
	sim_unlink S-0002c90200000010 3
	sim_wait 20 "opensm to sweep with ibsmd stopped ($i)" more_sweeps "$before"
	before=$(sweeps)
	sim_relink S-0002c90200000010 3
	sim_wait 20 "opensm to sweep again with ibsmd stopped ($i)" more_sweeps "$before"
done
kill -CONT "${SIM_PID[ibsmd]}"
sim_wait 30 'the fabric once ibsmd goes on' sim_fabric_up

# And without it, at the end: opensm goes as it came.
sim_end ibsmd || sim_fail "ibsmd ended with status $? on SIGTERM"
[ ! -e "$SIM_DIR/run/plugin.sock" ] || sim_fail 'ibsmd left its socket behind'
sim_end opensm || sim_fail "opensm ended with status $? on SIGTERM"
