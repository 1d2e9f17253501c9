#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# ibsmd is stopped while a cable goes and comes twice: afterwards four true stories, nothing refused.
. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"
sim_require_tools

sim_open_made tree2 --hosts 2
sim_start_ibsim
sim_start_ibsmd
sim_start_opensm
sim_wait 60 'the fabric to be up' sim_fabric_up

ups() {
	[ "$(grep -c 'SUBNET UP' "$SIM_DIR/opensm/opensm.log")" -ge "$1" ]
}
swept() { # COMMAND…: and opensm's sweep that follows
	local n
	n=$(grep -c 'SUBNET UP' "$SIM_DIR/opensm/opensm.log")
	"$@"
	sim_wait 30 'opensm to sweep' ups $((n + 1))
}
sim_kill ibsmd STOP
for _ in 1 2; do
	swept sim_unlink S-0002c90200000000 3
	swept sim_relink S-0002c90200000000 3
done
sim_kill ibsmd CONT

cables() {
	[ "$(sim_json '[e["kind"] for e in it["events"] if e["kind"] in ("link-removed", "link-added")]' events -n all)" = \
		'["link-removed", "link-added", "link-removed", "link-added"]' ]
}
sim_wait 20 'the cable to go and come twice' cables
[ "$(sim_json 'len(it["events"])' events --kind=snapshot-refused)" = 0 ] || sim_fail 'a snapshot was refused'
sim_wait 10 'the fabric to be whole' sim_fabric_up
