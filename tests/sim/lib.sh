# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A simulated fabric with the real opensm and our plugin, ibsmd and ibsmctl: start, wait, stop.
# shellcheck shell=bash
#
# To be sourced by bash scripts: the tests beside this file, and scripts/demo.
#
#	. "$IBSM_SRCDIR/tests/sim/lib.sh"
#	sim_require_tools
#	sim_open NETFILE              a private directory, the net file made safe
#	sim_start_ibsim
#	sim_start_ibsmd
#	sim_start_opensm              on the host NET_SIM_HOST, with the plugin
#	sim_wait 30 'the fabric to be up' sim_fabric_up
#	sim_ctl nodes
#
# Everything that was started ends when the script does, in whatever way, in the order that opensm
# needs (before ibsim: it retries for ever, and with SIGTERM blocked). Nothing is left behind but,
# with SIM_KEEP=1, the directory with the logs.
#
# Read from the environment:
#	IBSM_SRCDIR, IBSM_BUILDDIR   the trees; default: the one this file is in, the current directory
#	IBSM_PLUGIN_DIR              take the plugin from there: for a build with sanitizers, that of
#	                             one without, as opensm does not survive them
#	SIM_KEEP=1                   keep the directory
#	SIM_PATIENCE                 factor on all time-outs, for slow builds and machines
#	CI=true                      what is missing fails a test instead of skipping it

IBSM_SRCDIR=${IBSM_SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
IBSM_BUILDDIR=${IBSM_BUILDDIR:-$PWD}
SIM_PATIENCE=${SIM_PATIENCE:-1}
case ${IBSM_SANITIZERS-} in
*?*) SIM_PATIENCE=$((SIM_PATIENCE * 3)) ;;
esac

SIM_DIR=                # the private directory
SIM_CONSOLE=            # descriptor of ibsim's console
SIM_STOPPED=
declare -a SIM_ORDER=() # names of what runs, in the order of starting
declare -A SIM_PID=()

export PATH="$PATH:/usr/sbin:/sbin"

sim_say() {
	printf '%s\n' "${0##*/}: $*" >&2
}

sim_fail() {
	sim_say "$*"
	exit 1
}

# The test cannot run here: 77 tells automake so, but a CI machine has no excuse.
sim_skip() {
	if [ "${CI-}" = true ]; then
		sim_fail "$* (a failure, as CI=true)"
	fi
	sim_say "skipped: $*"
	exit 77
}

# What takes long and has been run in another build: scripts/test asks for it (IBSM_LONG_TESTS=no).
sim_is_long() {
	if [ "${IBSM_LONG_TESTS-}" = no ]; then
		sim_say 'skipped: IBSM_LONG_TESTS=no'
		exit 77
	fi
}

sim_umad2sim() {
	local path
	for path in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib*/umad2sim/libumad2sim.so \
		/usr/local/lib/umad2sim/libumad2sim.so; do
		if [ -e "$path" ]; then
			printf '%s\n' "$path"
			return
		fi
	done
	return 1
}

# What has to be installed for a simulation: "command package" pairs, and the preloaded library.
sim_require_tools() {
	local pair
	for pair in opensm:opensm ibsim:ibsim-utils python3:python3; do
		command -v "${pair%%:*}" >/dev/null || sim_skip "no ${pair%%:*}: install ${pair##*:}"
	done
	sim_umad2sim >/dev/null || sim_skip "no libumad2sim.so: install libumad2sim0"
}

# ---- processes ----

# The sanitizer runtime that a program must load first when our plugin was built with it.
sim_sanitizer_runtime() {
	case ,${IBSM_SANITIZERS-}, in
	*,address,*) ldd "$1" | sed -n 's/.*=> \(.*\/lib\(clang_rt\.\)\?asan[^ ]*\) .*/\1/p' ;;
	esac
}

# sim_spawn NAME COMMAND…: run it in the background, its output in $SIM_DIR/NAME.out.
# (ibsim's warnings are in ibsim-err.out, apart from what its console answers.)
sim_spawn() {
	local name=$1
	shift
	if [ -n "$SIM_CONSOLE" ]; then
		"$@" >"$SIM_DIR/$name.out" 2>&1 </dev/null {SIM_CONSOLE}>&- &
	else
		"$@" >"$SIM_DIR/$name.out" 2>&1 </dev/null &
	fi
	SIM_PID[$name]=$!
	SIM_ORDER+=("$name")
}

sim_running() {
	[ -n "${SIM_PID[$1]-}" ] && kill -0 "${SIM_PID[$1]}" 2>/dev/null
}

# sim_end NAME: TERM, and KILL if that is not heeded. Returns its exit status.
sim_end() {
	local name=$1 pid=${SIM_PID[$1]-} status=0 tries
	[ -n "$pid" ] || return 0
	kill -TERM "$pid" 2>/dev/null
	for ((tries = 0; tries < 200 * SIM_PATIENCE; tries++)); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	if kill -0 "$pid" 2>/dev/null; then
		sim_say "$name does not heed SIGTERM, killing it"
		kill -KILL "$pid" 2>/dev/null
	fi
	wait "$pid" 2>/dev/null || status=$?
	sim_forget "$name"
	# Ended by the signal that was sent is what was asked for.
	[ "$status" -eq 143 ] && status=0
	return "$status"
}

# sim_kill NAME [SIGNAL]: without a warning, for tests of just that.
sim_kill() {
	local pid=${SIM_PID[$1]}
	kill "-${2:-KILL}" "$pid"
	if [ "${2:-KILL}" = KILL ]; then
		wait "$pid" 2>/dev/null
		sim_forget "$1"
	fi
}

sim_forget() {
	local name kept=()
	unset "SIM_PID[$1]"
	for name in "${SIM_ORDER[@]}"; do
		[ "$name" = "$1" ] || kept+=("$name")
	done
	SIM_ORDER=("${kept[@]}")
}

# Something ended that nobody told to: say which and how it took its leave.
sim_check_alive() {
	local name status
	for name in "${SIM_ORDER[@]}"; do
		if ! sim_running "$name"; then
			status=0
			wait "${SIM_PID[$name]}" 2>/dev/null || status=$?
			if [ "$name" = ibsim ] && ! sim_ibsim_ready; then
				tail -n 3 "$SIM_DIR/ibsim-err.out" >&2
				sim_fail 'ibsim cannot load this net file'
			fi
			sim_say "$name ended by itself (status $status). Its last lines:"
			tail -n 15 "$SIM_DIR/$name.out" >&2
			sim_forget "$name"
			exit 1
		fi
	done
}

# sim_wait SECONDS WHAT COMMAND…: until the command succeeds; the script ends if it does not in time.
sim_wait() {
	local seconds=$(($1 * SIM_PATIENCE)) what=$2 end
	shift 2
	end=$((SECONDS + seconds))
	until "$@"; do
		sim_check_alive
		if [ "$SECONDS" -gt "$end" ]; then
			sim_show_logs
			sim_fail "waited $seconds s in vain for $what"
		fi
		sleep 0.05
	done
}

sim_show_logs() {
	local file
	for file in "$SIM_DIR"/*.out "$SIM_DIR"/*/opensm.log; do
		[ -s "$file" ] || continue
		printf '%s\n' "--- ${file#"$SIM_DIR"/}" >&2
		tail -n 12 "$file" >&2
	done
}

# ---- the simulation ----

# sim_open NETFILE: the directory, and NET_SWITCHES, NET_CAS, NET_ROUTERS, NET_LINKS, NET_SIM_HOST,
# NET_SPARE_HOSTS.
sim_open() {
	local facts
	SIM_DIR=$(mktemp -d "${TMPDIR:-/tmp}/ibsm.XXXXXX") || exit 1
	trap sim_stop EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	facts=$("${PYTHON:-python3}" "$IBSM_SRCDIR/tests/sim/netfile.py" "$1" "$SIM_DIR/net") || exit 1
	eval "$facts"
	IBSIM_SOCKNAME=${SIM_DIR##*/}
	export IBSIM_SOCKNAME
	mkdir "$SIM_DIR/run" "$SIM_DIR/state" "$SIM_DIR/ibsim" "$SIM_DIR/client"
}

# sim_open_made SHAPE…: the same with a fabric that tests/netgen/netgen.py makes.
sim_open_made() {
	local net
	net=$(mktemp "${TMPDIR:-/tmp}/ibsm.net.XXXXXX") || exit 1
	"${PYTHON:-python3}" "$IBSM_SRCDIR/tests/netgen/netgen.py" "$@" -o "$net" || exit 1
	sim_open "$net"
	rm -f "$net"
}

sim_stop() {
	local status=$? name i
	# Once is enough, and a second Ctrl-C shall not cut it short.
	trap '' HUP INT TERM
	[ -z "$SIM_STOPPED" ] || return
	SIM_STOPPED=1
	for name in "${SIM_ORDER[@]}"; do
		case $name in
		opensm*) sim_end "$name" ;;
		esac
	done
	for ((i = ${#SIM_ORDER[@]} - 1; i >= 0; i--)); do
		sim_end "${SIM_ORDER[i]}"
	done
	if [ -n "$SIM_CONSOLE" ]; then
		exec {SIM_CONSOLE}>&-
	fi
	if [ "${SIM_KEEP-}" = 1 ]; then
		sim_say "logs kept in $SIM_DIR"
	else
		rm -rf "$SIM_DIR"
	fi
	return "$status"
}

sim_ibsim_ready() {
	grep -qs 'sim> $' "$SIM_DIR/ibsim.out"
}

sim_start_ibsim() {
	local console
	mkfifo "$SIM_DIR/console"
	# Open for reading as well, here: neither side blocks, and ibsim's never sees an end.
	exec {console}<>"$SIM_DIR/console"
	# shellcheck disable=SC2016,SC2086
	sim_spawn ibsim sh -c 'cd "$1" && shift && exec ibsim -s "$@" <../console 2>../ibsim-err.out' sh \
		"$SIM_DIR/ibsim" $NET_IBSIM_ARGS ../net {console}>&-
	SIM_CONSOLE=$console
	sim_wait 60 'ibsim to load the fabric' sim_ibsim_ready
}

sim_console_answered() {
	[ "$(tail -c +"$((1 + $1))" "$SIM_DIR/ibsim.out" | tail -c 5)" = 'sim> ' ]
}

# sim_console COMMAND: one line on ibsim's console; prints what ibsim says to it.
sim_console() {
	local before answer
	[ "${#1}" -le 126 ] || sim_fail "too long for ibsim's console: $1"
	before=$(stat -c %s "$SIM_DIR/ibsim.out")
	printf '%s\n' "$1" >&"$SIM_CONSOLE"
	sim_wait 20 "ibsim's answer to: $1" sim_console_answered "$before"
	answer=$(tail -c +"$((1 + before))" "$SIM_DIR/ibsim.out")
	answer=${answer%sim> }
	[ -z "$answer" ] || printf '%s\n' "$answer"
}

# Cables are named by one end: sim_unlink NODE-ID PORT, such as S-0002c90200000010 5.
sim_unlink() {
	local answer
	answer=$(sim_console "Unlink \"$1\"[$2]") || exit 1
	[ -z "$answer" ] || sim_fail "ibsim: $answer"
}

sim_relink() {
	local answer
	answer=$(sim_console "ReLink \"$1\"[$2]") || exit 1
	[ -z "$answer" ] || sim_fail "ibsim: $answer"
}

# sim_client HOST COMMAND…: a program that sends MADs, such as ibnetdiscover, on that host.
# umad2sim leaves files in the working directory: it gets one of its own.
sim_client() {
	local host=$1
	shift
	(cd "$SIM_DIR/client" && SIM_HOST=$host LD_PRELOAD=$(sim_umad2sim) "$@")
}

sim_plugin_dir() {
	local path=${IBSM_PLUGIN_DIR:-$IBSM_BUILDDIR/plugin/.libs}
	if [ ! -e "$path/libibsmplugin.so" ]; then
		sim_say "no libibsmplugin.so in $path: build it first"
		return 1
	fi
	printf '%s\n' "$path"
}

# sim_start_opensm [NAME [HOST [OPENSM-ARGUMENT…]]]: NAME begins with "opensm", the default; HOST is a
# node id, by default NET_SIM_HOST. Lines in SIM_OPENSM_CONF are added to its configuration, and
# SIM_PLUGIN_OPTIONS to the plugin's options; with SIM_PLUGIN=none it gets no plugin.
sim_start_opensm() {
	local name=${1:-opensm} host=${2:-$NET_SIM_HOST} dir plugin_dir file
	# Not for want of a program, so a skip under CI=true, too: Debian's opensm and libumad2sim read
	# past their buffers and after free(), which ends opensm as soon as a sanitizer is in it.
	if [ "${SIM_PLUGIN-}" != none ] && [ -n "${IBSM_SANITIZERS-}" ] && [ -z "${IBSM_PLUGIN_DIR-}" ]; then
		sim_say "skipped: Debian's opensm does not survive a plugin built with sanitizers (see IBSM_PLUGIN_DIR)"
		exit 77
	fi
	shift $(($# < 2 ? $# : 2))
	dir=$SIM_DIR/$name
	mkdir -p "$dir"
	{
		# A machine that runs an opensm of its own has these in /etc/opensm.
		for file in partition_config_file:partitions.conf qos_policy_file:qos-policy.conf \
			prefix_routes_file:prefix-routes.conf; do
			printf '%s\n' "${file%%:*} $dir/${file##*:}"
		done
		printf '%s\n' "dump_files_dir $dir" 'force_log_flush TRUE' 'log_flags 0x03'
		if [ "${SIM_PLUGIN-}" != none ]; then
			printf '%s\n' 'event_plugin_name ibsmplugin'
			printf '%s\n' "event_plugin_options ibsm.socket=$SIM_DIR/run/plugin.sock${SIM_PLUGIN_OPTIONS:+ $SIM_PLUGIN_OPTIONS}"
		fi
		[ -z "${SIM_OPENSM_CONF-}" ] || printf '%s\n' "$SIM_OPENSM_CONF"
	} >"$dir/opensm.conf"
	if [ "${SIM_PLUGIN-}" != none ]; then
		plugin_dir=$(sim_plugin_dir) || exit 1
	fi
	# shellcheck disable=SC2016
	sim_spawn "$name" env SIM_HOST="$host" OSM_TMP_DIR="$dir" OSM_CACHE_DIR="$dir" \
		LD_LIBRARY_PATH="${plugin_dir-}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
		PRELOAD="$(sim_umad2sim)" \
		sh -c 'cd "$1" && shift && LD_PRELOAD=$PRELOAD exec opensm "$@"' sh "$dir" \
		-F "$dir/opensm.conf" -f "$dir/opensm.log" "$@"
}

sim_subnet_up() {
	grep -q 'SUBNET UP' "$SIM_DIR/${1:-opensm}/opensm.log" 2>/dev/null
}

sim_ibsmd_ready() {
	# Sockets may be there still of one that was killed.
	grep -q 'listening in' "$SIM_DIR/ibsmd.out"
}

# sim_start_ibsmd [IBSMD-ARGUMENT…]; lines in SIM_IBSMD_CONF become its configuration. It asks nobody
# unless they say so: what this machine itself is cabled to is no matter of a test.
sim_start_ibsmd() {
	[ -x "$IBSM_BUILDDIR/ibsmd" ] || sim_fail "no ibsmd in $IBSM_BUILDDIR: build it first"
	printf '%s\n' '[Probe]' 'Enabled=no' "${SIM_IBSMD_CONF-}" >"$SIM_DIR/ibsmd.conf"
	sim_spawn ibsmd "$IBSM_BUILDDIR/ibsmd" --config="$SIM_DIR/ibsmd.conf" \
		--runtime-dir="$SIM_DIR/run" --state-dir="$SIM_DIR/state" "$@"
	sim_wait 10 'ibsmd to listen' sim_ibsmd_ready
}

# sim_make_probe HOST: prints the path of a program that is ibsm-probe on that host, and leaves its
# process id in $SIM_DIR/probe.pid. A sanitizer's runtime wants to be loaded before all else; and
# umad2sim copies 320 bytes out of 288 for each MAD that it hands on, which is not ours to mend.
sim_make_probe() {
	echo 'interceptor_via_lib:libumad2sim.so' >"$SIM_DIR/asan"
	mkdir -p "$SIM_DIR/probe-files"
	cat >"$SIM_DIR/probe" <<-END
		#!/bin/sh
		echo \$\$ >'$SIM_DIR/probe.pid'
		cd '$SIM_DIR/probe-files' || exit 1
		ASAN_OPTIONS="suppressions=$SIM_DIR/asan\${ASAN_OPTIONS:+:\$ASAN_OPTIONS}"
		SIM_HOST='$1'
		LD_PRELOAD='$(sim_sanitizer_runtime "$IBSM_BUILDDIR/ibsm-probe") $(sim_umad2sim)'
		export ASAN_OPTIONS SIM_HOST LD_PRELOAD
		exec '$IBSM_BUILDDIR/ibsm-probe' "\$@"
	END
	chmod +x "$SIM_DIR/probe"
	printf '%s\n' "$SIM_DIR/probe"
}

sim_ctl() {
	"$IBSM_BUILDDIR/ibsmctl" --socket="$SIM_DIR/run/io.ibsm.Monitor" "$@"
}

# sim_json EXPRESSION VERB…: a Python expression on the JSON object that a verb prints, as "it".
sim_json() {
	local expression=$1
	shift
	sim_ctl --json=short "$@" | "${PYTHON:-python3}" -c '
import json, sys
it = json.load(sys.stdin)
value = eval(sys.argv[1])
print(value if isinstance(value, str) else json.dumps(value))' "$expression"
}

# sim_alert KIND EXPRESSION VALUE: whether a Python expression on each open alert of a kind, as "a",
# gives these values in JSON: '' where none is open, '1, 1' for two of them and the expression 1.
sim_alert() {
	[ "$(sim_json "[$2 for a in it['alerts'] if a['kind'] == '$1']" status 2>/dev/null)" = "[$3]" ]
}

# Whether ibsmd has any fabric at all.
sim_has_fabric() {
	[ "$(sim_json 'it["fabric"]["switches"] + it["fabric"]["cas"] > 0' status 2>/dev/null)" = true ]
}

# Whether ibsmd has all of the fabric that the net file holds (or that is left of it, given).
sim_fabric_up() {
	[ "$(sim_json '"{switches} {cas} {routers} {links}".format(**it["fabric"])' status 2>/dev/null)" = \
		"${1:-$NET_SWITCHES $NET_CAS $NET_ROUTERS $NET_LINKS}" ]
}
