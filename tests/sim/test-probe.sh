#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# ibsm-probe on ibsim with two real opensms and no plugin: what it says is what infiniband-diags say.
set -u

. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"

probe=${IBSM_BUILDDIR:?}/ibsm-probe
[ -x "$probe" ] || sim_fail "no ibsm-probe in $IBSM_BUILDDIR: build it first"
sim_require_tools
for tool in sminfo smpquery perfquery; do
	command -v "$tool" >/dev/null || sim_skip "no $tool: install infiniband-diags"
done
SIM_PLUGIN=none

# A sanitizer's runtime wants to be loaded before all else.
probe_preload="$(sim_sanitizer_runtime "$probe") $(sim_umad2sim)"

# umad2sim copies 320 bytes out of 288 for each MAD that it hands on. That is not ours to mend.
probe_asan() {
	echo 'interceptor_via_lib:libumad2sim.so' >"$SIM_DIR/asan"
	export ASAN_OPTIONS="suppressions=$SIM_DIR/asan${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
}

probe_on() {
	local host=$1
	shift
	(cd "$SIM_DIR/client" && SIM_HOST=$host LD_PRELOAD=$probe_preload "$probe" "$@")
}

# field NAME: of the last reply.
field() {
	local rest=$'\t'$reply$'\t'
	case $rest in
	*$'\t'"$1="*) ;;
	*) sim_fail "no $1 in: $reply" ;;
	esac
	rest=${rest#*$'\t'"$1="}
	printf '%s\n' "${rest%%$'\t'*}"
}

# lid_of HOST: as sysfs has it there.
lid_of() {
	probe_on "$1" --ports | awk '$1 == "ibsim0" { print $4 }'
}

# assert_same WHAT IS WANT
assert_same() {
	[ "$2" = "$3" ] || sim_fail "$1 is $2, and should be $3"
}

# ---- a session that lasts: orders in, a line out for each ----

session_start() {
	local host=$1
	mkfifo "$SIM_DIR/orders"
	exec {orders}<>"$SIM_DIR/orders"
	: >"$SIM_DIR/replies"
	mkdir -p "$SIM_DIR/session"
	# shellcheck disable=SC2016
	sim_spawn session sh -c 'cd "$1" && shift && exec "$@" <../orders >../replies' sh \
		"$SIM_DIR/session" "${PYTHON:-python3}" "$IBSM_SRCDIR/tests/unit/probe_orders.py" \
		env SIM_HOST="$host" LD_PRELOAD="$probe_preload" "$probe" {orders}>&-
	replies=0
}

session_answered() {
	[ "$(wc -l <"$SIM_DIR/replies")" -gt "$replies" ]
}

# session_ask ORDER…: the reply is in $reply.
session_ask() {
	printf '%s\n' "$*" >&"$orders"
	sim_wait 20 "the reply to: $*" session_answered
	replies=$((replies + 1))
	reply=$(sed -n "${replies}p" "$SIM_DIR/replies")
}

# session_assert FIELD VALUE: of the last reply.
session_assert() {
	assert_same "$1 of $reply" "$(field "$1")" "$2"
}

session_knows_master() {
	session_ask local
	[ "$(field sm_lid)" = "$1" ]
}

# ---- a fabric with two hosts that can run an SM ----

net=$(mktemp "${TMPDIR:-/tmp}/ibsm-net.XXXXXX") || exit 1
"${PYTHON:-python3}" "$IBSM_SRCDIR/tests/netgen/netgen.py" tree2 --leaves 2 --spines 2 --hosts 2 \
	>"$net" || sim_fail 'cannot make a net file'
sim_open "$net"
rm -f "$net"
probe_asan
mapfile -t hosts < <(sed -n 's/^\(Hca\|Ca\)[^"]*"\([^"]*\)".*/\2/p' "$SIM_DIR/net")
[ "${#hosts[@]}" -ge 3 ] || sim_fail "too few hosts: ${hosts[*]}"
first=${hosts[0]} second=${hosts[1]} third=${hosts[2]}
sim_start_ibsim

# ---- with an ibsim that never comes it hangs, and ends itself ----

stuck_ended=
# shellcheck disable=SC2016
sim_spawn stuck sh -c 'cd "$1" && shift && exec "$@"' sh "$SIM_DIR/client" \
	"${PYTHON:-python3}" -c '
import signal, sys
sys.path.insert(0, sys.argv[1])
import probe_orders
probe = probe_orders.Probe(sys.argv[2:])
probe.socket.send(probe_orders.port_order(1))
print("ended", probe.process.wait(timeout=120) == -signal.SIGALRM, flush=True)
signal.pause()' "$IBSM_SRCDIR/tests/unit" \
	env IBSIM_SOCKNAME=no-such-ibsim LD_PRELOAD="$probe_preload" "$probe"

# ---- before opensm: a port without an SM ----

session_start "$third"
session_ask ping
session_assert status ok
session_ask port
session_assert status ok
session_assert ca_name ibsim0
# ibsim can have but one query of a client out.
session_assert outstanding_max 1
session_ask local
session_assert status ok
session_assert source 1
session_assert sm_lid 0
if answer=$(probe_on "$third" --sminfo 2>&1); then
	sim_fail "found an SM before there is one: $answer"
fi
case $answer in
*'knows of no SM'*) ;;
*) sim_fail "without an SM it says: $answer" ;;
esac

# ---- a master: the session that was there before finds it ----

sim_start_opensm opensm1 "$first" -p 10
sim_wait 60 'the first opensm to sweep' sim_subnet_up opensm1
master=$(lid_of "$first")
sim_wait 20 "sm_lid to become $master" session_knows_master "$master"
session_assert source 1
session_ask sm_info "$master"
session_assert status ok
session_assert state 3
session_assert priority 10

# ---- a standby ----

SIM_OPENSM_CONF='sminfo_polling_timeout 500
polling_retry_number 2' sim_start_opensm opensm2 "$second" -p 9
standby=$(lid_of "$second")
standby_is() {
	session_ask sm_info "$standby"
	[ "$(field status)" = ok ] && [ "$(field state)" = "$1" ]
}
sim_wait 60 'the second opensm to be standby' standby_is 2

# agrees_with_sminfo [LID]: all but the activity count, which each query raises.
agrees_with_sminfo() {
	local theirs ours
	theirs=$(sim_client "$third" sminfo "$@") || sim_fail "sminfo $* fails"
	ours=$(probe_on "$third" --sminfo"${1:+=$1}") || sim_fail "--sminfo $* fails"
	theirs=$(printf '%s\n' "$theirs" | sed -n \
		's/^sminfo: sm lid \([0-9]*\) sm guid 0x0*\([0-9a-f]*\), activity count [0-9]* priority \([0-9]*\) state [0-9]* SMINFO_\([A-Z]*\).*/\1 \2 \3 \L\4/p')
	ours=$(printf '%s\n' "$ours" | sed -n \
		's/^lid \([0-9]*\) guid 0x0*\([0-9a-f]*\) priority \([0-9]*\) state \([a-z]*\) .*/\1 \2 \3 \4/p')
	[ -n "$theirs" ] || sim_fail 'cannot read what sminfo prints'
	assert_same "SMInfo ${1-of the master}" "$ours" "$theirs"
}
agrees_with_sminfo
agrees_with_sminfo "$master"
agrees_with_sminfo "$standby"

"${PYTHON:-python3}" -c '
import json, sys
sm, ports = json.loads(sys.argv[1]), json.loads(sys.argv[2])["ports"]
assert sm["lid"] == int(sys.argv[3]) and sm["state"] == "standby" and sm["priority"] == 9, sm
assert int(sm["guid"], 16) == int(ports[0]["port_guid"], 16), (sm, ports)
assert len(ports) == 1 and ports[0]["lid"] == sm["lid"] and ports[0]["chosen"] is True, ports' \
	"$(probe_on "$third" --sminfo="$standby" --json)" "$(probe_on "$second" --ports --json)" \
	"$standby" || sim_fail 'the JSON does not say the same'

# ---- no SM at a LID: status 110, at once ----

own=$(lid_of "$third")
for lid in "$own" 49151; do
	session_ask sm_info "$lid"
	session_assert status timeout
	session_assert result.error 110
	[ "$(field result.round_trip_usec)" -lt $((500000 * SIM_PATIENCE)) ] ||
		sim_fail "LID $lid without an SM took too long: $reply"
done

# ---- nodes and counters, as smpquery and perfquery have them ----

smp() {
	sim_client "$third" smpquery "$1" "$2" ${3+"$3"} | sed -n "s/^$4:\.*//p"
}
session_ask node_info "$master"
session_assert status ok
assert_same NodeGuid "$(printf '0x%016x' "$(field node_guid)")" "$(smp nodeinfo "$master" '' Guid)"
assert_same PortGuid "$(printf '0x%016x' "$(field port_guid)")" "$(smp nodeinfo "$master" '' PortGuid)"
assert_same NumPorts "$(field ports)" "$(smp nodeinfo "$master" '' NumPorts)"
session_ask node_desc "$master"
assert_same NodeDescription "$(field description)" "$(smp nodedesc "$master" '' 'Node Description')"
session_ask port_info "$master" 1
assert_same Lid "$(field lid)" "$(smp portinfo "$master" 1 Lid)"
assert_same SMLid "$(field sm_lid)" "$(smp portinfo "$master" 1 SMLid)"

leaf=$(sed -n 's/^Switch[^"]*"\(S-[^"]*\)".*/\1/p' "$SIM_DIR/net" | head -n 1)
leaf_lid=$(sim_client "$third" smpquery -G portinfo "0x${leaf#S-}" 0 | sed -n 's/^Lid:\.*//p')
sim_console "PerformanceSet \"$leaf\"[1] PortCounters.SymbolErrorCounter=77" >/dev/null
sim_console "PerformanceSet \"$leaf\"[1] PortCounters.LinkDownedCounter=5" >/dev/null
session_ask counters "$leaf_lid" 1
session_assert status ok
session_assert symbol_errors 77
session_assert link_downed 5
session_assert port 1
counted=$(sim_client "$third" perfquery "$leaf_lid" 1 | sed -n 's/^SymbolErrorCounter:\.*//p')
assert_same SymbolErrorCounter "$(field symbol_errors)" "$counted"

# ---- the master dies: its LID is silent, and the standby takes over ----

sim_kill opensm1
sim_wait 60 'the standby to become master' standby_is 3
session_ask sm_info "$master"
session_assert status timeout
session_assert result.error 110
sim_wait 20 "sm_lid to become $standby" session_knows_master "$standby"
agrees_with_sminfo

# ---- each order had its one reply ----

session_ask ping
session_assert outstanding 0
session_assert bad_orders 0
assert_same 'the number of replies' "$(wc -l <"$SIM_DIR/replies")" "$(field orders)"

stuck_has_ended() {
	stuck_ended=$(grep '^ended' "$SIM_DIR/stuck.out")
}
sim_wait 60 'the probe without an ibsim to end itself' stuck_has_ended
assert_same 'the end of the probe without an ibsim' "$stuck_ended" 'ended True'
sim_kill stuck
