#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Counts and routes that ibsmctl tells equal those of ibnetdiscover and ibtracert.
#
# usage: test-agrees-with-diags.sh [NETFILE…]; without any: trees, a torus and a ring of our own.
. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"

PAIRS=${PAIRS:-200}

sim_require_tools
command -v ibtracert >/dev/null || sim_skip 'no ibtracert: install infiniband-diags'

one() {
	(
		printf '%s\n' "== ${2:-$1}"
		sim_open "$1"
		sim_start_ibsim
		sim_start_ibsmd
		sim_start_opensm
		sim_wait 120 'the fabric to be up' sim_fabric_up
		export LC_ALL=C.UTF-8
		sim_client "$NET_SIM_HOST" "${PYTHON:-python3}" "$IBSM_SRCDIR/tests/sim/agree.py" \
			"$PAIRS" 1 -- "$IBSM_BUILDDIR/ibsmctl" "--socket=$SIM_DIR/run/io.ibsm.Monitor"
	)
}

if [ $# -gt 0 ]; then
	for net; do
		one "$net" || exit
	done
	exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
generated() {
	"${PYTHON:-python3}" "$IBSM_SRCDIR/tests/netgen/netgen.py" "$@" >"$work/net" || exit 1
	one "$work/net" "netgen $*" || exit
}

# LMC 0 on a tree with 200 pairs, fewer on others: each costs two processes.
generated tree2 --leaves 6 --spines 3 --hosts 5 --links 2
PAIRS=40
generated tree3 --radix 4
generated ring
generated torus --size 3x4
# With LMC each end port has four LIDs, which need not share their ways.
SIM_OPENSM_CONF='lmc 2' generated tree2
