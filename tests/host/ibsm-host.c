// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Plays opensm: loads the plugin and raises the events that the command line asks for.

/*
 * ibsim can provoke traps 128 and 144 only; this raises any, so that what lies behind the plugin
 * can be tested with all of them. The events go through the real plugin and its socket. The program
 * ends when the daemon has read everything, or after --timeout without a daemon.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "fake-osm.h"
#include "loaded.h"
#include "notice.h"
#include "util/cleanup.h"

#define FDS_MAX 1024

static const char *arg_socket = "/run/ibsmd/plugin.sock";
static const char *arg_plugin;
static const char *arg_options = "";
static uint64_t arg_prefix = FAKE_SUBNET_PREFIX;
static uint64_t arg_sm_guid;
static unsigned int arg_sm_state = IB_SMINFO_STATE_MASTER;
static unsigned int arg_leaves, arg_spines, arg_hosts;
static unsigned long arg_count = 1;
static unsigned long arg_interval_msec;
static unsigned long arg_timeout_msec = 10000;
static bool arg_sweep, arg_hold;
static struct notice arg_notice = {.generic = true};

enum {
	OPT_SOCKET = 256,
	OPT_PLUGIN,
	OPT_OPTIONS,
	OPT_PREFIX,
	OPT_SM_GUID,
	OPT_SM_STATE,
	OPT_TREE,
	OPT_COUNT,
	OPT_INTERVAL,
	OPT_TIMEOUT,
	OPT_SWEEP,
	OPT_HOLD,
	OPT_TRAP,
	OPT_VENDOR,
	OPT_LID,
	OPT_LID2,
	OPT_SW_LID,
	OPT_ISSUER_LID,
	OPT_PORT,
	OPT_GID,
	OPT_GID2,
	OPT_GUID,
	OPT_KEY,
	OPT_QP,
	OPT_QP2,
	OPT_SL,
	OPT_METHOD,
	OPT_ATTRIBUTE,
	OPT_MODIFIER,
	OPT_CAPABILITY,
	OPT_CAPABILITY2,
	OPT_CHANGE,
	OPT_TYPE,
	OPT_PRODUCER,
	OPT_HELP,
};

static const struct option options[] = {
	{"socket", required_argument, NULL, OPT_SOCKET},
	{"plugin", required_argument, NULL, OPT_PLUGIN},
	{"options", required_argument, NULL, OPT_OPTIONS},
	{"prefix", required_argument, NULL, OPT_PREFIX},
	{"sm-guid", required_argument, NULL, OPT_SM_GUID},
	{"sm-state", required_argument, NULL, OPT_SM_STATE},
	{"tree", required_argument, NULL, OPT_TREE},
	{"count", required_argument, NULL, OPT_COUNT},
	{"interval", required_argument, NULL, OPT_INTERVAL},
	{"timeout", required_argument, NULL, OPT_TIMEOUT},
	{"sweep", no_argument, NULL, OPT_SWEEP},
	{"hold", no_argument, NULL, OPT_HOLD},
	{"trap", required_argument, NULL, OPT_TRAP},
	{"vendor", required_argument, NULL, OPT_VENDOR},
	{"lid", required_argument, NULL, OPT_LID},
	{"lid2", required_argument, NULL, OPT_LID2},
	{"sw-lid", required_argument, NULL, OPT_SW_LID},
	{"issuer-lid", required_argument, NULL, OPT_ISSUER_LID},
	{"port", required_argument, NULL, OPT_PORT},
	{"gid", required_argument, NULL, OPT_GID},
	{"gid2", required_argument, NULL, OPT_GID2},
	{"guid", required_argument, NULL, OPT_GUID},
	{"key", required_argument, NULL, OPT_KEY},
	{"qp", required_argument, NULL, OPT_QP},
	{"qp2", required_argument, NULL, OPT_QP2},
	{"sl", required_argument, NULL, OPT_SL},
	{"method", required_argument, NULL, OPT_METHOD},
	{"attribute", required_argument, NULL, OPT_ATTRIBUTE},
	{"modifier", required_argument, NULL, OPT_MODIFIER},
	{"capability", required_argument, NULL, OPT_CAPABILITY},
	{"capability2", required_argument, NULL, OPT_CAPABILITY2},
	{"change", required_argument, NULL, OPT_CHANGE},
	{"type", required_argument, NULL, OPT_TYPE},
	{"producer", required_argument, NULL, OPT_PRODUCER},
	{"help", no_argument, NULL, OPT_HELP},
	{0},
};

static void help(FILE *out)
{
	fputs("ibsm-host [OPTION...]\n\n"
	      "Load libibsmplugin.so as opensm does and raise events.\n\n"
	      "  --socket=PATH         ibsmd's plugin.sock (default /run/ibsmd/plugin.sock)\n"
	      "  --plugin=FILE         the plugin (default $IBSM_PLUGIN, or this build's)\n"
	      "  --options=TEXT        more of opensm's event_plugin_options\n"
	      "  --prefix=HEX          subnet prefix (default fe80000000000000)\n"
	      "  --sm-guid=HEX         the SM's port GUID\n"
	      "  --sm-state=N          0 not active, 1 discovering, 2 standby, 3 master (default)\n"
	      "  --tree=L,S,H          have a subnet: L leaves with H hosts each on S spines\n"
	      "  --sweep               raise the events of a heavy sweep, snapshot included\n"
	      "  --trap=N              raise trap N, with the fields below\n"
	      "  --vendor=ID           make it a vendor's notice, N its device id\n"
	      "  --count=N             so many times (default 1)\n"
	      "  --interval=MSEC       so far apart (default 0)\n"
	      "  --timeout=MSEC        wait so long for the daemon to read it all (default 10000)\n"
	      "  --hold                then stay until SIGTERM or SIGINT\n\n"
	      "Fields of a trap: --lid --lid2 --sw-lid --issuer-lid --port --gid=IPV6 --gid2=IPV6\n"
	      "--guid --key --qp --qp2 --sl --method --attribute --modifier --capability\n"
	      "--capability2 --change --type --producer, numbers as in C.\n",
	      out);
}

static uint64_t number(const char *text, int base)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, base);
	if (end == text || *end != '\0' || errno != 0) {
		fprintf(stderr, "\"%s\" is not a number\n", text);
		exit(2);
	}
	return value;
}

static void parse_gid(const char *text, uint8_t ret_gid[16])
{
	if (inet_pton(AF_INET6, text, ret_gid) != 1) {
		fprintf(stderr, "\"%s\" is not a GID\n", text);
		exit(2);
	}
}

static void parse_tree(const char *text)
{
	if (sscanf(text, "%u,%u,%u", &arg_leaves, &arg_spines, &arg_hosts) != 3 ||
	    arg_leaves == 0 || arg_hosts + arg_spines > 254 || arg_leaves > 254) {
		fprintf(stderr, "\"%s\" is no tree\n", text);
		exit(2);
	}
}

static void parse_field(int option, const char *text)
{
	switch (option) {
	case OPT_GID:
		parse_gid(text, arg_notice.gid1);
		break;
	case OPT_GID2:
		parse_gid(text, arg_notice.gid2);
		break;
	case OPT_VENDOR:
		arg_notice.generic = false;
		arg_notice.vendor = (uint32_t)number(text, 0);
		break;
	case OPT_LID:
		arg_notice.lid1 = (uint16_t)number(text, 0);
		break;
	case OPT_LID2:
		arg_notice.lid2 = (uint16_t)number(text, 0);
		break;
	case OPT_SW_LID:
		arg_notice.sw_lid = (uint16_t)number(text, 0);
		break;
	case OPT_ISSUER_LID:
		arg_notice.issuer_lid = (uint16_t)number(text, 0);
		break;
	case OPT_PORT:
		arg_notice.port = (uint8_t)number(text, 0);
		break;
	case OPT_GUID:
		arg_notice.guid = number(text, 16);
		break;
	case OPT_KEY:
		arg_notice.key = (uint32_t)number(text, 0);
		break;
	case OPT_QP:
		arg_notice.qp1 = (uint32_t)number(text, 0);
		break;
	case OPT_QP2:
		arg_notice.qp2 = (uint32_t)number(text, 0);
		break;
	case OPT_SL:
		arg_notice.sl = (uint8_t)number(text, 0);
		break;
	case OPT_METHOD:
		arg_notice.method = (uint8_t)number(text, 0);
		break;
	case OPT_ATTRIBUTE:
		arg_notice.attribute = (uint16_t)number(text, 0);
		break;
	case OPT_MODIFIER:
		arg_notice.modifier = (uint32_t)number(text, 0);
		break;
	case OPT_CAPABILITY:
		arg_notice.capability = (uint32_t)number(text, 0);
		break;
	case OPT_CAPABILITY2:
		arg_notice.capability2 = (uint16_t)number(text, 0);
		break;
	case OPT_CHANGE:
		arg_notice.change = (uint16_t)number(text, 0);
		break;
	case OPT_TYPE:
		arg_notice.type = (uint8_t)number(text, 0);
		break;
	case OPT_PRODUCER:
		arg_notice.producer = (uint8_t)number(text, 0);
		break;
	}
}

static bool parse_args(int argc, char **argv)
{
	bool trap = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case OPT_SOCKET:
			arg_socket = optarg;
			break;
		case OPT_PLUGIN:
			arg_plugin = optarg;
			break;
		case OPT_OPTIONS:
			arg_options = optarg;
			break;
		case OPT_PREFIX:
			arg_prefix = number(optarg, 16);
			break;
		case OPT_SM_GUID:
			arg_sm_guid = number(optarg, 16);
			break;
		case OPT_SM_STATE:
			arg_sm_state = (unsigned int)number(optarg, 0);
			break;
		case OPT_TREE:
			parse_tree(optarg);
			break;
		case OPT_COUNT:
			arg_count = number(optarg, 0);
			break;
		case OPT_INTERVAL:
			arg_interval_msec = number(optarg, 0);
			break;
		case OPT_TIMEOUT:
			arg_timeout_msec = number(optarg, 0);
			break;
		case OPT_SWEEP:
			arg_sweep = true;
			break;
		case OPT_HOLD:
			arg_hold = true;
			break;
		case OPT_TRAP:
			arg_notice.number = (uint16_t)number(optarg, 0);
			trap = true;
			break;
		case OPT_HELP:
			help(stdout);
			exit(0);
		case '?':
			help(stderr);
			exit(2);
		default:
			parse_field(c, optarg);
			break;
		}
	}
	if (optind != argc) {
		help(stderr);
		exit(2);
	}
	return trap;
}

static uint64_t now_msec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void nap(unsigned long msec)
{
	struct timespec ts = {.tv_sec = (time_t)(msec / 1000),
			      .tv_nsec = (long)(msec % 1000) * 1000000};

	nanosleep(&ts, NULL);
}

/* The plugin's socket among our descriptors, -1 while it is not connected. */
static int plugin_socket(void)
{
	for (int fd = 3; fd < FDS_MAX; fd++) {
		struct sockaddr_un peer = {0};
		socklen_t n = sizeof(peer);

		if (getpeername(fd, (struct sockaddr *)&peer, &n) == 0 &&
		    peer.sun_family == AF_UNIX && strcmp(peer.sun_path, arg_socket) == 0)
			return fd;
	}
	return -1;
}

/* Bytes that the daemon has not read yet; -1 no daemon. */
static int unread(void)
{
	int fd = plugin_socket(), bytes;

	if (fd < 0 || ioctl(fd, SIOCOUTQ, &bytes) < 0)
		return -1;
	return bytes;
}

/* Connected, and nothing unread for a while that is longer than the sender's nap. */
static bool wait_until_read(void)
{
	uint64_t deadline = now_msec() + arg_timeout_msec;
	unsigned int quiet = 0;

	while (quiet < 10) {
		if (now_msec() > deadline)
			return false;
		quiet = unread() == 0 ? quiet + 1 : 0;
		nap(2);
	}
	return true;
}

static void sweep(struct loaded *loaded)
{
	loaded_report(loaded, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	loaded_report(loaded, OSM_EVENT_ID_HEAVY_SWEEP_DONE, NULL);
	loaded_report(loaded, OSM_EVENT_ID_UCAST_ROUTING_DONE,
		      loaded_routing(UCAST_ROUTING_HEAVY_SWEEP));
	loaded_report(loaded, OSM_EVENT_ID_SUBNET_UP, NULL);
}

int main(int argc, char **argv)
{
	bool trap = parse_args(argc, argv), read = true;
	char plugin_options[4096];
	ib_mad_notice_attr_t notice;
	struct loaded loaded;
	osm_opensm_t *osm;
	sigset_t set;
	int signal_number;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);

	snprintf(plugin_options, sizeof(plugin_options), "ibsm.socket=%s %s", arg_socket,
		 arg_options);
	osm = fake_osm_new(plugin_options);
	if (arg_leaves)
		fake_osm_build_tree(osm, arg_leaves, arg_spines, arg_hosts);
	osm->subn.opt.subnet_prefix = cl_hton64(arg_prefix);
	if (arg_sm_guid)
		osm->subn.sm_port_guid = cl_hton64(arg_sm_guid);
	osm->subn.sm_state = (uint8_t)arg_sm_state;
	if (loaded_open(&loaded, arg_plugin, osm) < 0)
		return 1;

	notice_fill(&arg_notice, &notice);
	for (unsigned long i = 0; i < arg_count; i++) {
		if (i > 0 && arg_interval_msec)
			nap(arg_interval_msec);
		if (arg_sweep)
			sweep(&loaded);
		if (trap)
			loaded_report(&loaded, OSM_EVENT_ID_TRAP, &notice);
	}
	read = wait_until_read();
	if (arg_hold)
		sigwait(&set, &signal_number);
	loaded_close(&loaded);
	fake_osm_free(osm);
	if (!read)
		fprintf(stderr, "%s: no daemon read it\n", arg_socket);
	return read ? 0 : 1;
}
