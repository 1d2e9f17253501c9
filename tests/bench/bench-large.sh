#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a large fabric costs: opensm's sweeps with and without the plugin, the lock, ibsmd's memory.
#
# usage: bench-large.sh [RADIX [SWEEPS]]     default: 36 (11,664 hosts, 1,620 switches), 3 sweeps a run
#
# Four runs of the real opensm on ibsim, plugin (A) and none (B) in turn: A B A B. In each, the first
# sweep and then SWEEPS heavy sweeps asked for by SIGHUP, timed from the signal to SUBNET UP in
# opensm's log. In the A runs a client asks ibsmd for its status all the time.
. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"

RADIX=${1:-36}
SWEEPS=${2:-3}

sim_require_tools
net=$(mktemp)
"${PYTHON:-python3}" "$IBSM_SRCDIR/tests/netgen/netgen.py" tree3 --radix "$RADIX" >"$net" || exit 1
sim_open "$net"
rm -f "$net"
printf '%s\n' "fabric: $NET_SWITCHES switches, $NET_CAS CAs, $NET_LINKS cables"
sim_start_ibsim
mkdir "$SIM_DIR/figures"
# shellcheck disable=SC2119
sim_start_ibsmd

ups() {
	[ -e "$SIM_DIR/$1/opensm.log" ] &&
		[ "$(grep -c 'SUBNET UP' "$SIM_DIR/$1/opensm.log")" -ge "$2" ]
}

# Seconds since the epoch of the n-th SUBNET UP, by opensm's own clock in its log.
up_at() {
	local line
	line=$(grep 'SUBNET UP' "$SIM_DIR/$1/opensm.log" | sed -n "$2p")
	# "Dec 02 08:41:09 123456 [TID] …"
	printf '%s.%s\n' "$(date -d "$(printf '%s' "$line" | cut -c1-15)" +%s)" "$(printf '%s' "$line" | cut -c17-22)"
}

callbacks() {
	sim_json 'it["plugin"]["connections"][0]["callback_usec"]' status
}

# One figure a line in $SIM_DIR/figures/NAME.
figure() {
	printf '%s\n' "$2" >>"$SIM_DIR/figures/$1"
}

minus() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.6f\n", a - b }'
}

run() { # A|B NUMBER
	local name=opensm-$1$2 began up took n before after
	printf '%s\n' "run $1$2 ($([ "$1" = A ] && echo plugin || echo no plugin))"
	began=$(date +%s.%N)
	if [ "$1" = A ]; then
		sim_spawn latency "${PYTHON:-python3}" "$IBSM_SRCDIR/tests/bench/status-latency.py" \
			"$SIM_DIR/run/io.ibsm.Monitor"
		sim_start_opensm "$name"
	else
		SIM_PLUGIN=none sim_start_opensm "$name"
	fi
	sim_wait 600 'the first sweep' ups "$name" 1
	up=$(up_at "$name" 1)
	figure "first-$1" "$(minus "$up" "$began")"
	for ((n = 2; n <= SWEEPS + 1; n++)); do
		if [ "$1" = A ]; then
			sim_wait 60 'the fabric in ibsmd' sim_fabric_up
			# The heartbeat that tells of the sweep before.
			sim_wait 10 'a heartbeat' sim_settled
			before=$(callbacks)
		fi
		began=$(date +%s.%N)
		kill -HUP "${SIM_PID[$name]}"
		sim_wait 600 'a heavy sweep' ups "$name" "$n"
		up=$(up_at "$name" "$n")
		took=$(minus "$up" "$began")
		figure "heavy-$1" "$took"
		if [ "$1" = A ]; then
			sim_wait 10 'a heartbeat' sim_settled
			after=$(callbacks)
			figure lock "$(sim_json 'it["plugin"]["connections"][0]["snapshot_lock_usec"] / 1000' status)"
			figure share "$(awk -v us="$((after - before))" -v s="$took" \
				'BEGIN { printf "%.6f\n", us / 10000 / s }')"
		fi
	done
	if [ "$1" = A ]; then
		sim_json '"lock held: last {snapshot_lock_usec} us, longest {snapshot_lock_max_usec} us; snapshots taken {snapshots_taken}, skipped {snapshots_skipped}; control ring {control}; bulk ring {bulk}".format(**it["plugin"]["connections"][0])' status
		kill -TERM "${SIM_PID[latency]}"
		wait "${SIM_PID[latency]}"
		sim_forget latency
		eval "$(cat "$SIM_DIR/latency.out")"
		printf '%s\n' "status: $LATENCY_CALLS calls, median $LATENCY_MEDIAN us, p99 $LATENCY_P99 us, max $LATENCY_MAX us; in the second in which each of $ARRIVING_SNAPSHOTS snapshots arrived: $ARRIVING_CALLS calls, median $ARRIVING_MEDIAN us, p99 $ARRIVING_P99 us, max $ARRIVING_MAX us"
	fi
	printf '%s\n' "opensm: $(peak "$name")"
	sim_end "$name"
}

peak() {
	printf '%s MB at its peak\n' "$(awk '/^VmHWM/ { printf "%.1f", $2 / 1024 }' "/proc/${SIM_PID[$1]}/status")"
}

# The last heartbeat is younger than the last record before it: wait for the next one.
sim_settled() {
	local age
	age=$(sim_json 'it["plugin"]["connections"][0]["heartbeat_age_usec"]' status) || return 1
	if [ "${settled_age:-0}" -gt "$age" ] && [ "${settled_seen:-0}" -ge 1 ]; then
		settled_age=0 settled_seen=0
		return 0
	fi
	if [ "${settled_age:-0}" -gt "$age" ]; then
		settled_seen=1
	fi
	settled_age=$age
	return 1
}

run A 1
run B 1
run A 2
run B 2

summary() { # FIGURE TEXT
	sort -n "$SIM_DIR/figures/$1" | awk -v text="$2" '
		{ v[NR] = $1; sum += $1 }
		END { printf "%-42s n=%d  min %.3f  median %.3f  mean %.3f  max %.3f\n", text, NR, v[1],
			(v[int((NR + 1) / 2)] + v[int((NR + 2) / 2)]) / 2, sum / NR, v[NR] }'
}
summary first-A 'first sweep, plugin (s)'
summary first-B 'first sweep, no plugin (s)'
summary heavy-A 'heavy sweep, plugin (s)'
summary heavy-B 'heavy sweep, no plugin (s)'
summary share 'callbacks and lock, share of a sweep (%)'
summary lock 'shared lock held by a snapshot (ms)'
printf '%s\n' "ibsmd: $(peak ibsmd)"
