// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of the built ibsmd: a plugin is played to it, and its API asked what came of it.
#include "daemon-harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ibsm/limits.h"
#include "tests/lib/snapshot-build.h"
#include "util/cleanup.h"

static int setup(void **state)
{
	struct daemon *d = calloc(1, sizeof(*d));

	daemon_open(d);
	daemon_start(d);
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	daemon_close(*state);
	free(*state);
	return 0;
}

/* Handles of build_tree2(4, 2, 3, 1), which most tests use. */
enum { LEAF, SPINE = 4, HOST = 6 };

static struct builder *small_tree(void)
{
	return build_tree2(4, 2, 3, 1);
}

static uint64_t host_guid(const struct builder *b, int host)
{
	return b->nodes[host].ports[0].row.port_guid;
}

/* Send what the builder holds; @omit as for build_write(). */
static void send_snapshot(struct player *p, struct builder *b, uint32_t omit)
{
	struct ibsm_wire_snapshot record = {
		.reason = IBSM_SNAPSHOT_SUBNET_UP,
		.full = !omit,
	};
	_cleanup_bytes_ struct build_bytes bytes = {0};
	_cleanup_close_ int fd = -1;

	b->header.instance = p->instance;
	b->header.generation = record.generation = ++p->generation;
	b->header.monotonic_nsec = harness_now_nsec();
	bytes = build_write(b, omit);
	record.size_bytes = bytes.size;
	fd = build_memfd(bytes, BUILD_SEALS);
	player_send(p, IBSM_WIRE_SNAPSHOT, &record, fd);
}

/* A whole heavy sweep with its snapshot. */
static void sweep(struct player *p, struct builder *b)
{
	player_sweep(p, IBSM_WIRE_HEAVY_SWEEP_START, IBSM_SWEEP_FORCE_HEAVY);
	player_sweep(p, IBSM_WIRE_HEAVY_SWEEP_DONE, 0);
	player_sweep(p, IBSM_WIRE_UCAST_ROUTING_DONE, 0);
	player_sweep(p, IBSM_WIRE_SUBNET_UP, 0);
	send_snapshot(p, b, 0);
}

static void test_empty(void **state)
{
	struct daemon *d = *state;
	json_auto_t *status = daemon_call(d, "GetStatus", NULL);
	struct stat st;
	char path[128];

	assert_string_equal(json_text_at(status, "health"), "unknown");
	assert_int_equal(json_int_at(status, "fabric.switches"), 0);
	assert_false(json_bool_at(status, "plugin.connected"));
	assert_int_equal(json_array_size(json_at(status, "alerts")), 0);
	assert_int_equal(json_int_at(status, "daemon.pid"), d->pid);
	assert_int_equal(json_array_size(json_at(status, "daemon.limits_hit")), 0);

	json_decref(daemon_call_error(d, "GetNode", "{\"node\": \"x\"}", "NoFabric"));
	json_decref(daemon_call_error(d, "ListNodes", NULL, "NoFabric"));
	json_decref(daemon_call_error(d, "ListOptions", NULL, "NoFabric"));
	json_decref(daemon_call_error(d, "GetSweep", NULL, "NoSuchSweep"));
	json_decref(daemon_list(d, "ListSweeps", NULL, "sweeps"));
	json_decref(daemon_list(d, "ListEvents", NULL, "events"));

	assert_int_equal(stat(d->socket, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	snprintf(path, sizeof(path), "%s/run/plugin.sock", d->directory);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	daemon_stop(d);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(stat(d->socket, &st), -1);
}

static void test_fabric(void **state)
{
	_cleanup_(build_freep) struct builder *b = small_tree();
	struct daemon *d = *state;
	json_auto_t *nodes = NULL, *links = NULL, *node = NULL, *route = NULL, *options = NULL;
	json_auto_t *one = NULL, *sms = NULL, *groups = NULL, *members = NULL, *partitions = NULL;
	char parameters[256];
	struct player p;

	player_init(&p, 1, host_guid(b, HOST));
	player_connect(&p, d);
	sweep(&p, b);
	daemon_await(d, "fabric.switches", "6");
	daemon_await(d, "health", "\"ok\"");
	daemon_await(d, "fabric.cas", "12");
	daemon_await(d, "fabric.links", "20");
	daemon_await(d, "fabric.lids", "18");
	daemon_await(d, "sm.state", "\"master\"");
	daemon_await(d, "sweep.last_result", "\"up\"");

	nodes = daemon_list(d, "ListNodes", NULL, "nodes");
	assert_int_equal(json_array_size(nodes), 18);
	one = daemon_list(d, "ListNodes", "{\"type\": \"switch\"}", "nodes");
	assert_int_equal(json_array_size(one), 6);
	json_decref(one);
	snprintf(parameters, sizeof(parameters), "{\"pattern\": \"%s\"}",
		 json_text_at(nodes, "3.guid"));
	one = daemon_list(d, "ListNodes", parameters, "nodes");
	assert_int_equal(json_array_size(one), 1);
	assert_true(json_equal(json_at(one, "0"), json_at(nodes, "3")));
	json_decref(daemon_call_error(d, "ListNodes", "{\"type\": \"toaster\"}",
				      "org.varlink.service.InvalidParameter"));
	json_decref(daemon_call_error(d, "ListNodes", "{\"colour\": \"red\"}",
				      "org.varlink.service.InvalidParameter"));

	links = daemon_list(d, "ListLinks", NULL, "links");
	assert_int_equal(json_array_size(links), 20);
	assert_string_equal(json_text_at(links, "0.state"), "active");
	assert_string_equal(json_text_at(links, "0.width"), "4x");
	assert_string_equal(json_text_at(links, "0.speed"), "EDR");
	assert_int_equal(json_int_at(links, "0.rate_mbps"), 100000);

	snprintf(parameters, sizeof(parameters), "{\"node\": \"0x%016lx\"}",
		 (unsigned long)b->nodes[LEAF].row.node_guid);
	node = daemon_call(d, "GetNode", parameters);
	assert_string_equal(json_text_at(node, "node.type"), "switch");
	assert_true(json_int_at(node, "switch.lft_entries") >= 18);
	assert_int_equal(json_array_size(json_at(node, "ports")), b->nodes[LEAF].port_count);
	assert_true(json_is_object(json_at(node, "ports.1.neighbour")));
	assert_int_equal(json_int_at(node, "ports.1.mtu_bytes"), 4096);
	json_decref(daemon_call_error(d, "GetNode", "{\"node\": \"nobody\"}", "NoSuchNode"));
	json_decref(daemon_call_error(d, "GetNode", "{\"node\": \"0x00000000deadbeef\"}",
				      "NoSuchNode"));

	/* The first host of the first leaf to the last host: up, over a spine, and down. */
	snprintf(parameters, sizeof(parameters),
		 "{\"source\": \"0x%016lx\", \"destination\": \"%u\"}",
		 (unsigned long)b->nodes[HOST].row.node_guid, b->nodes[HOST + 11].ports[0].row.lid);
	route = daemon_call(d, "GetRoute", parameters);
	assert_string_equal(json_text_at(route, "route.result"), "delivered");
	assert_int_equal(json_array_size(json_at(route, "route.hops")), 5);
	assert_int_equal(json_int_at(route, "route.destination_lid"),
			 b->nodes[HOST + 11].ports[0].row.lid);

	sms = daemon_call(d, "ListSubnetManagers", NULL);
	assert_true(json_bool_at(sms, "subnet_managers.0.self"));
	groups = daemon_list(d, "ListGroups", NULL, "groups");
	assert_true(json_array_size(groups) > 0);
	snprintf(parameters, sizeof(parameters), "{\"group\": \"%s\"}",
		 json_text_at(groups, "0.mgid"));
	members = daemon_list(d, "ListGroupMembers", parameters, "members");
	assert_int_equal(json_array_size(members), json_int_at(groups, "0.members"));
	json_decref(daemon_call_error(d, "ListGroupMembers", "{\"group\": \"ff12::7777\"}",
				      "NoSuchGroup"));
	json_decref(daemon_call_error(d, "ListGroupMembers", "{\"group\": \"x\"}",
				      "org.varlink.service.InvalidParameter"));
	partitions = daemon_list(d, "ListPartitions", NULL, "partitions");
	assert_true(json_array_size(partitions) > 0);
	options = daemon_list(d, "ListOptions", NULL, "options");
	assert_true(json_array_size(options) > 0);
	player_close(&p);
}

static void test_cable(void **state)
{
	_cleanup_(build_freep) struct builder *b = small_tree();
	struct daemon *d = *state;
	json_auto_t *event = NULL, *reply = NULL, *trap = NULL;
	char parameters[64];
	json_int_t number;
	struct player p;

	player_init(&p, 1, host_guid(b, HOST));
	player_connect(&p, d);
	sweep(&p, b);
	daemon_await(d, "fabric.links", "20");

	player_trap(&p, 128, b->nodes[LEAF].switch_row.lid);
	build_unlink(b, LEAF, 4);
	player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, IBSM_SWEEP_FORCE_HEAVY);
	player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_DONE, 0);
	player_lft_change(&p, b->nodes[LEAF].row.node_guid, 0);
	player_lft_change(&p, b->nodes[SPINE].row.node_guid, 0);
	player_sweep(&p, IBSM_WIRE_UCAST_ROUTING_DONE, 0);
	player_sweep(&p, IBSM_WIRE_SUBNET_UP, 0);
	send_snapshot(&p, b, 0);
	event = daemon_await_event(d, "link-removed", 0);
	assert_int_equal(json_array_size(json_at(event, "ends")), 2);
	assert_non_null(strstr(json_text_at(event, "cause"), "trap 128"));
	number = json_int_at(event, "sweep");
	assert_int_equal(number, 2);
	trap = daemon_await_event(d, "trap", 0);
	assert_int_equal(json_array_size(json_at(trap, "ends")), 1);

	snprintf(parameters, sizeof(parameters), "{\"number\": %d}", (int)number);
	reply = daemon_call(d, "GetSweep", parameters);
	assert_string_equal(json_text_at(reply, "sweep.cause"), "trap");
	assert_string_equal(json_text_at(reply, "sweep.result"), "up");
	assert_int_equal(json_int_at(reply, "sweep.lft_blocks"), 2);
	assert_int_equal(json_int_at(reply, "sweep.lft_switches"), 2);
	assert_int_equal(json_array_size(json_at(reply, "story.phases")), 3);
	assert_int_equal(json_int_at(reply, "story.causes.0.trap"), 128);
	assert_string_equal(json_text_at(reply, "story.changes.0.kind"), "link-removed");
	assert_true(llabs(json_int_at(reply, "story.changes.0.monotonic_usec") -
			  json_int_at(event, "monotonic_usec")) < 1000000);
	assert_true(llabs(json_int_at(reply, "story.changes.0.realtime_usec") -
			  json_int_at(event, "realtime_usec")) < 1000000);
	assert_int_equal(json_array_size(json_at(reply, "story.lft")), 2);
	json_decref(daemon_call_error(d, "GetSweep", "{\"number\": 3}", "NoSuchSweep"));
	json_decref(daemon_call_error(d, "GetSweep", "{\"number\": -1}",
				      "org.varlink.service.InvalidParameter"));
	player_close(&p);
}

/* Tables that are left out come from the snapshot before. */
static void test_partial_snapshots(void **state)
{
	_cleanup_(build_freep) struct builder *b = small_tree();
	struct daemon *d = *state;
	struct player p;

	player_init(&p, 1, host_guid(b, HOST));
	player_connect(&p, d);
	send_snapshot(&p, b, 0);
	daemon_await(d, "fabric.generation", "1");
	build_unlink(b, LEAF, 4);
	send_snapshot(&p, b, 1u << IBSM_TABLE_LFT | 1u << IBSM_TABLE_OPTIONS);
	daemon_await(d, "fabric.generation", "2");
	daemon_await(d, "fabric.links", "19");
	send_snapshot(&p, b, ~(1u << IBSM_TABLE_GROUPS | 1u << IBSM_TABLE_GROUP_MEMBERS));
	daemon_await(d, "fabric.generation", "3");
	daemon_await(d, "fabric.links", "19");
	player_close(&p);

	/* A new connection has nothing to lean on. */
	player_connect(&p, d);
	send_snapshot(&p, b, 1u << IBSM_TABLE_LFT);
	player_await_closed(&p);
	json_decref(daemon_await_event(d, "snapshot-refused", 0));
	daemon_await_log(d, "snapshot 4 is not valid");
	player_close(&p);
	daemon_await(d, "fabric.generation", "3");
}

static void test_bad_snapshots(void **state)
{
	_cleanup_(build_freep) struct builder *b = small_tree();
	_cleanup_bytes_ struct build_bytes bytes = {0};
	struct ibsm_wire_snapshot record = {.generation = 1, .full = 1};
	struct daemon *d = *state;
	struct player p;
	unsigned fds;
	int fd;

	bytes = build_write(b, 0);
	fds = daemon_fds(d);
	for (unsigned i = 0; i < 4; i++) {
		player_init(&p, 10 + i, host_guid(b, HOST));
		player_connect(&p, d);
		switch (i) {
		case 0: /* not sealed */
			fd = build_memfd(bytes, 0);
			break;
		case 1: /* no memfd */
			fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
			break;
		case 2: /* cut short */
			fd = build_memfd((struct build_bytes){bytes.bytes, bytes.size / 2},
					 BUILD_SEALS);
			break;
		default: /* an index that leads nowhere */
			((struct ibsm_snapshot_header *)bytes.bytes)->tables = 9999;
			fd = build_memfd(bytes, BUILD_SEALS);
		}
		assert_true(fd >= 0);
		record = (struct ibsm_wire_snapshot){.generation = 1, .full = 1};
		player_send(&p, IBSM_WIRE_SNAPSHOT, &record, fd);
		close(fd);
		player_await_closed(&p);
		player_close(&p);
	}
	daemon_await(d, "fabric.switches", "0");
	daemon_await(d, "plugin.connections", "[]");
	assert_int_equal(daemon_log_count(d, "its snapshot 1 is not valid"), 4);
	assert_int_equal(daemon_fds(d), fds);
}

/* What no plugin does: said once, closed, and nothing is left of it. */
static void test_garbage(void **state)
{
	struct ibsm_wire_heartbeat heartbeat = {0};
	struct ibsm_wire_hello hello = {0};
	unsigned char junk[4096];
	struct daemon *d = *state;
	int fds[8], null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	unsigned before = daemon_fds(d);
	struct player p;

	memset(junk, 0xa5, sizeof(junk));
	for (size_t i = 0; i < ELEMENTSOF(fds); i++)
		fds[i] = null;
	for (unsigned i = 0; i < 10; i++) {
		player_init(&p, 100 + i, 1);
		player_open(&p, d);
		switch (i) {
		case 0:
			player_raw(&p, junk, 10, NULL, 0);
			break;
		case 1:
			player_raw(&p, junk, sizeof(junk), NULL, 0);
			break;
		case 2:
			player_raw(&p, junk, 0, NULL, 0);
			break;
		case 3: /* not hello first */
			player_send(&p, IBSM_WIRE_HEARTBEAT, &heartbeat, -1);
			break;
		case 4:
			player_hello(&p);
			player_hello(&p);
			break;
		case 5: /* a descriptor that nobody asked for */
			player_hello(&p);
			player_send(&p, IBSM_WIRE_HEARTBEAT, &heartbeat, null);
			break;
		case 6: /* too many of them */
			player_hello(&p);
			player_raw(&p, junk, 10, fds, 8);
			break;
		case 7: { /* a snapshot without one */
			struct ibsm_wire_snapshot record = {.generation = 1};

			player_hello(&p);
			player_send(&p, IBSM_WIRE_SNAPSHOT, &record, -1);
			break;
		}
		case 8: /* a sequence that goes back */
			player_hello(&p);
			p.sequence = 0;
			player_send(&p, IBSM_WIRE_HEARTBEAT, &heartbeat, -1);
			break;
		default: /* another version */
			hello.header = (struct ibsm_wire_header){
				.magic = IBSM_WIRE_MAGIC,
				.version = IBSM_WIRE_VERSION + 6,
				.type = IBSM_WIRE_HELLO,
				.length = sizeof(hello),
				.sequence = 1,
			};
			player_raw(&p, &hello, sizeof(hello), NULL, 0);
		}
		player_await_closed(&p);
		player_close(&p);
	}
	daemon_await_log(d, "version 7 of the protocol");
	daemon_await_log(d, "version 1: ");
	daemon_await(d, "plugin.connections", "[]");
	daemon_await(d, "plugin.refused", "9"); /* an empty datagram is an end like any other */
	assert_int_equal(daemon_fds(d), before);
	close(null);
}

/* A newer plugin may send records that this ibsmd does not know. */
static void test_unknown_record(void **state)
{
	struct daemon *d = *state;
	struct ibsm_wire_header unknown;
	struct player p;

	player_init(&p, 1, 0x77);
	player_connect(&p, d);
	unknown = (struct ibsm_wire_header){
		.magic = IBSM_WIRE_MAGIC,
		.version = IBSM_WIRE_VERSION,
		.type = 999,
		.length = sizeof(unknown),
		.sequence = ++p.sequence,
	};
	assert_int_equal(player_raw(&p, &unknown, sizeof(unknown), NULL, 0), sizeof(unknown));
	player_heartbeat(&p, 0);
	daemon_await(d, "plugin.connections.0.records", "3");
	daemon_await(d, "plugin.connections.0.unknown_records", "1");
	daemon_await(d, "plugin.events_missed", "0");
	player_close(&p);
}

static void test_connects(void **state)
{
	_cleanup_(build_freep) struct builder *b = small_tree();
	struct daemon *d = *state;
	unsigned before = 0;
	struct player p;

	player_init(&p, 1, host_guid(b, HOST));
	for (unsigned i = 0; i < 100; i++) {
		char value[16];

		player_connect(&p, d);
		send_snapshot(&p, b, 0);
		snprintf(value, sizeof(value), "%u", i + 1);
		daemon_await(d, "fabric.generation", value);
		player_close(&p);
		daemon_await(d, "plugin.connections", "[]");
		if (i == 9)
			before = daemon_fds(d);
	}
	assert_int_equal(daemon_fds(d), before);
	daemon_await(d, "plugin.events_missed", "0");
	/* The claim to the subnet holds, but it is the same subnet. */
	daemon_await(d, "fabric.switches", "6");
}

static void test_places(void **state)
{
	struct player players[IBSM_PLUGINS_MAX], late;
	struct daemon *d = *state;

	for (unsigned i = 0; i < ELEMENTSOF(players); i++) {
		player_init(&players[i], 1 + i, 0x100 + i);
		player_connect(&players[i], d);
	}
	daemon_await(d, "plugin.connections.7.records", "1");
	player_init(&late, 99, 0x199);
	player_open(&late, d);
	player_await_closed(&late);
	player_close(&late);
	daemon_await(d, "daemon.limits_hit",
		     "[{\"limit\": \"plugins\", \"value\": 8, \"count\": 1}]");
	for (unsigned i = 0; i < ELEMENTSOF(players); i++)
		player_close(&players[i]);
	daemon_await(d, "plugin.connections", "[]");
}

static void test_missed_and_dropped(void **state)
{
	struct daemon *d = *state;
	struct player p;

	player_init(&p, 5, 0x77);
	player_connect(&p, d);
	player_sweep(&p, IBSM_WIRE_STATE_CHANGE, 0);
	daemon_await(d, "plugin.events_received", "1");
	p.sequence += 3;
	player_sweep(&p, IBSM_WIRE_STATE_CHANGE, 0);
	daemon_await(d, "plugin.events_missed", "3");
	json_decref(daemon_await_event(d, "records-missed", 0));

	/* Over connections, too, and over a restart of ibsmd. */
	player_close(&p);
	p.sequence += 4;
	player_connect(&p, d);
	daemon_await(d, "plugin.events_missed", "7");
	player_heartbeat(&p, 11);
	daemon_await(d, "plugin.events_dropped", "11");
	json_decref(daemon_await_event(d, "records-dropped", 0));
	daemon_await(d, "alerts.0.kind", "\"events-dropped\"");
	player_heartbeat(&p, 11);
	player_heartbeat(&p, 12);
	daemon_await(d, "plugin.events_dropped", "12");
	daemon_await(d, "alerts.0.count", "2");
	daemon_stop(d);
	player_close(&p);

	daemon_start(d);
	p.sequence += 5;
	player_connect(&p, d);
	daemon_await(d, "plugin.events_missed", "5");
	player_heartbeat(&p, 20);
	daemon_await(d, "plugin.events_dropped", "8");
	player_close(&p);
}

/* A connection whose end was not seen yet is read to its end before the next one of its plugin. */
static void test_two_connections_of_one(void **state)
{
	struct daemon *d = *state;
	struct player first, second;

	player_init(&first, 5, 0x77);
	player_connect(&first, d);
	daemon_await(d, "plugin.connections.0.records", "1");
	assert_int_equal(kill(d->pid, SIGSTOP), 0);
	for (unsigned i = 0; i < 50; i++)
		player_sweep(&first, IBSM_WIRE_STATE_CHANGE, 0);
	second = first;
	player_connect(&second, d);
	assert_int_equal(kill(d->pid, SIGCONT), 0);
	player_await_closed(&first);
	player_heartbeat(&second, 0);
	daemon_await(d, "plugin.connections.0.records", "2");
	daemon_await(d, "plugin.events_received", "50");
	daemon_await(d, "plugin.events_missed", "0");
	player_close(&first);
	player_close(&second);
}

static void test_failover(void **state)
{
	_cleanup_(build_freep) struct builder *b = small_tree();
	struct daemon *d = *state;
	struct player first, second;
	char guid[32];

	build_sm(b, host_guid(b, HOST + 1), IBSM_SM_STANDBY, 3, false);
	player_init(&first, 1, host_guid(b, HOST));
	player_init(&second, 2, host_guid(b, HOST + 1));
	second.sm_state = IBSM_SM_STANDBY;
	player_connect(&second, d);
	daemon_await(d, "plugin.connections.0.followed", "true");
	player_connect(&first, d);
	sweep(&first, b);
	daemon_await(d, "sweep.last_result", "\"up\"");
	/* The standby gives a sweep up: that is told, but it says nothing about the subnet. */
	player_sweep(&second, IBSM_WIRE_HEAVY_SWEEP_START, 0);
	player_sweep(&second, IBSM_WIRE_STATE_CHANGE, 0);
	json_decref(daemon_await_event(d, "sweep-failed", 0));
	daemon_await(d, "sweep.count", "2");
	daemon_await(d, "sweep.last_result", "\"up\"");
	daemon_await(d, "plugin.connections.1.followed", "true");
	daemon_await(d, "plugin.connections.0.followed", "false");
	daemon_await(d, "fabric.switches", "6");

	/* The master dies; the standby takes over, and one leaf is gone with it. */
	player_close(&first);
	daemon_await(d, "plugin.connections.0.followed", "true");
	snprintf(guid, sizeof(guid), "\"0x%016lx\"", (unsigned long)second.sm_guid);
	daemon_await(d, "sm.guid", guid);
	daemon_await(d, "sm.state", "\"standby\"");
	daemon_await(d, "fabric.switches", "6");
	player_sm_state(&second, IBSM_SM_MASTER);
	build_remove(b, LEAF);
	sweep(&second, b);
	daemon_await(d, "fabric.switches", "5");
	json_decref(daemon_await_event(d, "node-removed", 0));
	json_decref(daemon_await_event(d, "own-sm-state", 0));
	daemon_await(d, "sm.state", "\"master\"");

	/* It comes back as another instance, and takes over by handover. */
	player_init(&first, 3, host_guid(b, HOST));
	first.sm_state = IBSM_SM_DISCOVERING;
	player_connect(&first, d);
	daemon_await(d, "plugin.connections.1.followed", "false");
	player_sm_state(&second, IBSM_SM_STANDBY);
	player_sm_state(&first, IBSM_SM_MASTER);
	daemon_await(d, "plugin.connections.1.followed", "true");
	json_decref(daemon_await_event(d, "plugin-followed", 0));
	player_close(&first);
	player_close(&second);
}

static void test_other_subnets(void **state)
{
	_cleanup_(build_freep) struct builder *b = small_tree(), *other = small_tree();
	struct daemon *d = *state;
	struct player first, second;

	player_init(&first, 1, host_guid(b, HOST));
	player_connect(&first, d);
	sweep(&first, b);
	daemon_await(d, "fabric.switches", "6");

	/* Another prefix: refused at hello. */
	player_init(&second, 2, 0x4711);
	second.subnet_prefix = UINT64_C(0xfec0000000000000);
	player_connect(&second, d);
	player_await_closed(&second);
	player_close(&second);
	daemon_await_log(d, "(SM 0x0000000000004711) is of another subnet: its prefix is "
			    "0xfec0000000000000");

	/* The same prefix, as is usual, but other nodes: refused with its snapshot. */
	for (size_t i = 0; i < other->node_count; i++)
		other->nodes[i].row.node_guid += UINT64_C(0x5000000000000000);
	player_init(&second, 3, 0x4712);
	player_connect(&second, d);
	sweep(&second, other);
	player_await_closed(&second);
	player_close(&second);
	daemon_await_log(d, "it is of another subnet: its fabric");
	json_decref(daemon_await_event(d, "plugin-refused", 0));
	daemon_await(d, "fabric.generation", "1");
	daemon_await(d, "plugin.connections.0.followed", "true");
	player_close(&first);
}

/* When the plugin of the subnet has been gone for long, another subnet may come. */
static void test_subnet_changes(void **state)
{
	_cleanup_(build_freep) struct builder *b = small_tree(), *other = build_tree2(2, 1, 2, 1);
	struct daemon *d = *state;
	struct player p;

	daemon_write(d, "ibsmd.conf", "[Daemon]\nPluginTimeoutSec=2s\n");
	assert_int_equal(kill(d->pid, SIGHUP), 0);
	player_init(&p, 1, host_guid(b, HOST));
	player_connect(&p, d);
	sweep(&p, b);
	daemon_await(d, "fabric.switches", "6");
	player_close(&p);
	daemon_await(d, "alerts.0.kind", "\"plugin-lost\"");
	daemon_await(d, "health", "\"warning\"");

	for (size_t i = 0; i < other->node_count; i++)
		other->nodes[i].row.node_guid += UINT64_C(0x5000000000000000);
	player_init(&p, 2, 0x4712);
	player_connect(&p, d);
	sweep(&p, other);
	daemon_await(d, "fabric.switches", "3");
	json_decref(daemon_await_event(d, "subnet-changed", 0));
	player_heartbeat(&p, 0);
	daemon_await(d, "health", "\"ok\"");
	player_close(&p);
}

static void test_alerts(void **state)
{
	_cleanup_(build_freep) struct builder *b = small_tree();
	struct daemon *d = *state;
	json_auto_t *status = NULL;
	struct player p;

	player_init(&p, 1, host_guid(b, HOST));
	player_connect(&p, d);
	/* Up, but with errors; ftree was asked for and minhop taken; a block was not acknowledged.
	 */
	build_engine(b, "minhop", IBSM_ENGINE_USED | IBSM_ENGINE_DEFAULT | IBSM_ENGINE_LOADED);
	build_engine(b, "ftree", IBSM_ENGINE_ASKED | IBSM_ENGINE_LOADED);
	for (size_t i = 0; i < b->engine_count; i++)
		if (strcmp(b->engines[i].name, "minhop") == 0)
			b->engines[i].flags &= ~(uint32_t)IBSM_ENGINE_ASKED;
	build_new_lft(b, LEAF)[3] = 7;
	player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, IBSM_SWEEP_FORCE_HEAVY);
	player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_DONE, 0);
	player_sweep(&p, IBSM_WIRE_UCAST_ROUTING_DONE, 0);
	player_sweep(&p, IBSM_WIRE_SUBNET_UP, IBSM_SWEEP_INITIALIZATION_ERROR);
	send_snapshot(&p, b, 0);
	daemon_await(d, "alert_counts.warning", "3");
	status = daemon_call(d, "GetStatus", NULL);
	assert_string_equal(json_text_at(status, "health"), "warning");
	assert_string_equal(json_text_at(status, "sweep.last_result"), "up-with-errors");
	assert_true(json_bool_at(status, "routing.fallback"));
	assert_string_equal(json_text_at(status, "routing.engine_used"), "minhop");
	assert_int_equal(json_int_at(status, "routing.lft_mismatches"), 1);
	for (size_t i = 0; i < 3; i++) {
		const json_t *alert = json_array_get(json_at(status, "alerts"), i);

		assert_int_equal(json_int_at(alert, "count"), 1);
		assert_true(json_object_size(json_at(alert, "evidence")) > 0);
	}

	/* All is well again. */
	b->nodes[LEAF].new_lft = (free(b->nodes[LEAF].new_lft), NULL);
	build_engine(b, "minhop", IBSM_ENGINE_LOADED | IBSM_ENGINE_DEFAULT);
	build_engine(b, "ftree", IBSM_ENGINE_ASKED | IBSM_ENGINE_LOADED | IBSM_ENGINE_USED);
	sweep(&p, b);
	daemon_await(d, "alerts", "[]");
	daemon_await(d, "health", "\"ok\"");

	/* Every engine failed: only the next sweep tells. */
	player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, IBSM_SWEEP_FORCE_HEAVY);
	player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_DONE, 0);
	{
		struct ibsm_wire_sweep start = {
			.sm_port_guid = p.sm_guid,
			.sweep_flags = IBSM_SWEEP_FORCE_HEAVY,
			.sm_state = IBSM_SM_MASTER,
		};

		player_send(&p, IBSM_WIRE_HEAVY_SWEEP_START, &start, -1);
	}
	daemon_await(d, "health", "\"critical\"");
	daemon_await(d, "sweep.last_result", "\"routing-failed\"");
	json_decref(daemon_await_event(d, "sweep-failed", 0));
	player_close(&p);
}

static void test_names(void **state)
{
	_cleanup_(build_freep) struct builder *b = small_tree();
	struct daemon *d = *state;
	char text[512], path[128];
	struct player p;

	snprintf(path, sizeof(path), "%s/names", d->directory);
	snprintf(text, sizeof(text), "[Daemon]\nNodeNameMap=%s\n", path);
	daemon_write(d, "ibsmd.conf", text);
	player_init(&p, 1, host_guid(b, HOST));
	player_connect(&p, d);
	sweep(&p, b);
	daemon_await(d, "fabric.switches", "6");
	assert_int_equal(kill(d->pid, SIGHUP), 0);
	daemon_await_log(d, "No such file");

	snprintf(text, sizeof(text), "0x%016lx \"the first\"\nnonsense\n",
		 (unsigned long)b->nodes[LEAF].row.node_guid);
	daemon_write(d, "names", text);
	assert_int_equal(kill(d->pid, SIGHUP), 0);
	json_decref(daemon_await_event(d, "node-renamed", 0));
	json_decref(daemon_call(d, "GetNode", "{\"node\": \"the first\"}"));
	json_decref(daemon_call(d, "GetNode", "{\"node\": \"the\"}"));
	snprintf(text, sizeof(text), "%s:2: ", path);
	daemon_await_log(d, text);
	/* Later snapshots have the names as well. */
	build_unlink(b, LEAF, 4);
	sweep(&p, b);
	daemon_await(d, "fabric.generation", "2");
	json_decref(daemon_call(d, "GetNode", "{\"node\": \"the first\"}"));
	player_close(&p);
}

/* Every trap says in words what it is about, and whom. */
static void test_traps(void **state)
{
	_cleanup_(build_freep) struct builder *b = small_tree();
	struct daemon *d = *state;
	uint16_t leaf, host, other;
	json_int_t after = 0;
	struct player p;

	memcpy(b->nodes[LEAF].row.description, "the leaf", 9);
	memcpy(b->nodes[HOST].row.description, "the host", 9);
	memcpy(b->nodes[HOST + 1].row.description, "the other", 10);
	leaf = b->nodes[LEAF].switch_row.lid;
	host = b->nodes[HOST].ports[0].row.lid;
	other = b->nodes[HOST + 1].ports[0].row.lid;
	player_init(&p, 1, host_guid(b, HOST));
	player_connect(&p, d);
	sweep(&p, b);
	daemon_await(d, "fabric.switches", "6");
	{
		const struct {
			struct ibsm_wire_trap trap;
			const char *says;
			size_t ends;
		} cases[] = {
			{{.number = 65, .gid1_guid = host_guid(b, HOST)}, ": the host", 1},
			{{.number = 64, .gid1_guid = 0x99}, ": 0x0000000000000099", 0},
			{{.number = 66,
			  .gid1_prefix = UINT64_C(0xff12401bffff0000),
			  .gid1_guid = 1},
			 ": ff12:401b:ffff:0000:0000:0000:0000:0001",
			 0},
			{{.number = 128, .lid1 = leaf, .fields = IBSM_TRAP_LID1},
			 " at the leaf",
			 1},
			{{.number = 128, .lid1 = 4000, .fields = IBSM_TRAP_LID1},
			 " at LID 4000",
			 0},
			{{.number = 129, .lid1 = leaf, .port = 3, .fields = IBSM_TRAP_LID1},
			 " at the leaf port 3",
			 1},
			{{.number = 144, .lid1 = host, .change_flags = 3, .fields = IBSM_TRAP_LID1},
			 " at the host: node description, link width changed",
			 1},
			{{.number = 144, .lid1 = host, .fields = IBSM_TRAP_LID1},
			 "capability mask 0x00000000",
			 1},
			{{.number = 145, .issuer_lid = host, .guid = 7},
			 ": now 0x0000000000000007",
			 1},
			{{.number = 256,
			  .lid1 = host,
			  .method = 2,
			  .attribute_id = 0x15,
			  .fields = IBSM_TRAP_LID1},
			 "method 0x02, attribute 0x0015",
			 1},
			{{.number = 259,
			  .lid1 = host,
			  .lid2 = other,
			  .sw_lid = leaf,
			  .port = 2,
			  .key = 0x8001,
			  .fields = IBSM_TRAP_LID1 | IBSM_TRAP_LID2 | IBSM_TRAP_SW_LID},
			 " from the host to the other, P_Key 0x8001, seen by the leaf port 2",
			 3},
			{{.number = 258,
			  .lid1 = host,
			  .lid2 = other,
			  .key = 5,
			  .fields = IBSM_TRAP_LID1 | IBSM_TRAP_LID2},
			 "Q_Key 0x5",
			 2},
			{{.number = 4242, .vendor_id = 0x2c9, .issuer_lid = host},
			 "vendor 0x0002c9, device 4242 from the host",
			 1},
		};

		for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
			struct ibsm_wire_trap trap = cases[i].trap;
			json_auto_t *event = NULL;

			trap.is_generic = !trap.vendor_id;
			trap.sm_state = IBSM_SM_MASTER;
			player_send(&p, IBSM_WIRE_TRAP, &trap, -1);
			event = daemon_await_event(d, "trap", after);
			after = json_int_at(event, "number");
			if (!strstr(json_text_at(event, "message"), cases[i].says))
				fail_msg("\"%s\" does not say \"%s\"",
					 json_text_at(event, "message"), cases[i].says);
			assert_int_equal(json_array_size(json_at(event, "ends")), cases[i].ends);
		}
	}
	player_close(&p);
}

static void test_long_lists(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(36, 18, 18, 1);
	json_auto_t *nodes = NULL, *links = NULL, *one = NULL, *events = NULL;
	struct daemon *d = *state;
	char parameters[64];
	struct player p;

	player_init(&p, 1, host_guid(b, 54));
	player_connect(&p, d);
	send_snapshot(&p, b, 0);
	daemon_await(d, "fabric.switches", "54");
	nodes = daemon_list(d, "ListNodes", NULL, "nodes");
	assert_int_equal(json_array_size(nodes), 54 + 648);
	for (size_t i = 1; i < json_array_size(nodes); i++) {
		char path[32], before[32];

		snprintf(before, sizeof(before), "%zu.name", i - 1);
		snprintf(path, sizeof(path), "%zu.name", i);
		assert_true(strcmp(json_text_at(nodes, before), json_text_at(nodes, path)) <= 0);
	}
	links = daemon_list(d, "ListLinks", NULL, "links");
	assert_int_equal(json_array_size(links), 648 + 648);
	snprintf(parameters, sizeof(parameters), "{\"node\": \"%s\"}",
		 json_text_at(links, "0.a.guid"));
	one = daemon_list(d, "ListLinks", parameters, "links");
	assert_int_equal(json_array_size(one), 36);

	/* More than fits into one reply: only with `more`. */
	for (unsigned i = 0; i < 6000; i++)
		player_trap(&p, 128, b->nodes[i % 54].switch_row.lid);
	daemon_await(d, "plugin.events_received", "6000");
	json_decref(daemon_call_error(d, "ListEvents", NULL, "ListTooLong"));
	events = daemon_list(d, "ListEvents", "{\"kind\": \"trap\"}", "events");
	assert_int_equal(json_array_size(events), 6000);
	player_close(&p);
}

/* Two nodes may have one name. */
static void test_ambiguous(void **state)
{
	_cleanup_(build_freep) struct builder *b = small_tree();
	struct daemon *d = *state;
	json_auto_t *error = NULL;
	struct player p;

	memcpy(b->nodes[HOST].row.description, "twin A", 7);
	memcpy(b->nodes[HOST + 1].row.description, "twin B", 7);
	player_init(&p, 1, host_guid(b, HOST));
	player_connect(&p, d);
	send_snapshot(&p, b, 0);
	daemon_await(d, "fabric.switches", "6");
	error = daemon_call_error(d, "GetNode", "{\"node\": \"twin\"}", "AmbiguousNode");
	assert_int_equal(json_int_at(error, "matches"), 2);
	assert_int_equal(json_array_size(json_at(error, "guids")), 2);
	json_decref(daemon_call(d, "GetNode", "{\"node\": \"twin A\"}"));
	player_close(&p);
}

static int first_batch(json_t *parameters, bool continues, void *userdata)
{
	json_t **ret = userdata;

	assert_true(continues);
	if (json_array_size(json_object_get(parameters, "events")) == 0)
		return 0;
	*ret = json_incref(parameters);
	return -ECANCELED;
}

static void test_follow(void **state)
{
	struct daemon *d = *state;
	struct varlink_client *client = NULL;
	json_auto_t *batch = NULL;
	struct player p;
	int r;

	/* Without `more` there is no end to wait for. */
	json_decref(daemon_call_error(d, "ListEvents", "{\"follow\": true}",
				      "org.varlink.service.InvalidParameter"));
	json_decref(daemon_call_error(d, "ListEvents", "{\"kind\": \"no-such-kind\"}",
				      "org.varlink.service.InvalidParameter"));
	json_decref(daemon_call_error(d, "ListEvents", "{\"count\": -1}",
				      "org.varlink.service.InvalidParameter"));
	json_decref(daemon_call_error(d, "ListEvents", "{\"node\": \"nobody\"}", "NoSuchNode"));

	player_init(&p, 1, 0x77);
	player_connect(&p, d);
	json_decref(daemon_await_event(d, "plugin-connected", 0));
	assert_int_equal(varlink_client_connect(d->socket, 60000000, &client), 0);
	assert_int_equal(
		varlink_client_send(client, "io.ibsm.Monitor.ListEvents",
				    json_pack("{s:b, s:s}", "follow", 1, "kind", "own-sm-state"),
				    VARLINK_CLIENT_MORE),
		0);
	for (unsigned i = 0; i < 5; i++) {
		struct varlink_reply reply;

		assert_int_equal(varlink_client_receive(client, 60000000, &reply), 0);
		assert_null(reply.error);
		assert_true(reply.continues);
		/* The first one is empty and comes at once. */
		assert_int_equal(json_array_size(json_at(reply.parameters, "events")), i > 0);
		if (i > 0)
			assert_string_equal(json_text_at(reply.parameters, "events.0.kind"),
					    "own-sm-state");
		varlink_reply_clear(&reply);
		player_trap(&p, 128, 9);
		player_sm_state(&p, i % 2 ? IBSM_SM_MASTER : IBSM_SM_STANDBY);
	}
	varlink_client_free(client);

	/* After a number. */
	assert_int_equal(varlink_client_connect(d->socket, 60000000, &client), 0);
	r = varlink_client_call_more(client, "io.ibsm.Monitor.ListEvents",
				     json_pack("{s:b, s:I}", "follow", 1, "after", (json_int_t)1),
				     first_batch, &batch, NULL, NULL);
	assert_int_equal(r, -ECANCELED);
	assert_int_equal(json_int_at(batch, "events.0.number"), 2);
	varlink_client_free(client);
	player_close(&p);
}

static void test_event_ring(void **state)
{
	struct daemon *d = *state;
	json_auto_t *events = NULL, *reply = NULL;
	struct player p;

	daemon_write(d, "ibsmd.conf", "[Daemon]\nEventsMax=16\nSweepsMax=2\n");
	assert_int_equal(kill(d->pid, SIGHUP), 0);
	player_init(&p, 1, 0x77);
	player_connect(&p, d);
	for (unsigned i = 0; i < 40; i++)
		player_trap(&p, 128, 9);
	for (unsigned i = 0; i < 3; i++) {
		player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, 0);
		player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_DONE, 0);
		player_sweep(&p, IBSM_WIRE_UCAST_ROUTING_DONE, 0);
		player_sweep(&p, IBSM_WIRE_SUBNET_UP, 0);
	}
	daemon_await(d, "sweep.last_number", "3");
	daemon_await(d, "daemon.events", "16");
	events = daemon_list(d, "ListEvents", NULL, "events");
	assert_int_equal(json_array_size(events), 16);
	assert_int_equal(json_int_at(events, "15.number"), daemon_last_event(d));
	reply = daemon_call(d, "ListEvents", "{\"after\": 2}");
	assert_int_equal(json_int_at(reply, "missed"), json_int_at(events, "0.number") - 3);
	json_decref(reply);
	reply = daemon_call(d, "ListEvents", "{\"count\": 2, \"kind\": \"subnet-up\"}");
	assert_int_equal(json_array_size(json_at(reply, "events")), 2);
	assert_int_equal(json_int_at(reply, "events.1.sweep"), 3);
	json_decref(reply);
	reply = daemon_call(d, "ListSweeps", NULL);
	assert_int_equal(json_array_size(json_at(reply, "sweeps")), 2);
	json_decref(daemon_call_error(d, "GetSweep", "{\"number\": 1}", "NoSuchSweep"));
	player_close(&p);
}

static void test_restart(void **state)
{
	struct daemon *d = *state;
	json_int_t last;
	struct player p;

	player_init(&p, 1, 0x77);
	player_connect(&p, d);
	player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, 0);
	daemon_await(d, "sweep.count", "1");
	last = daemon_last_event(d);
	assert_true(last > 0);
	player_close(&p);
	daemon_await(d, "plugin.connections", "[]");
	last = daemon_last_event(d);
	daemon_stop(d);

	daemon_start(d);
	assert_int_equal(daemon_last_event(d), 0);
	player_connect(&p, d);
	json_decref(daemon_await_event(d, "plugin-connected", 0));
	assert_int_equal(daemon_last_event(d), last + 1);
	player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, 0);
	json_decref(daemon_await_event(d, "sweep-started", 0));
	daemon_await(d, "sweep.count", "1");
	json_decref(daemon_call(d, "GetSweep", "{\"number\": 2}"));
	last = daemon_last_event(d);

	/* Killed: no number is used twice, and what it left is no obstacle. */
	daemon_kill(d);
	player_close(&p);
	daemon_start(d);
	player_connect(&p, d);
	json_decref(daemon_await_event(d, "plugin-connected", 0));
	assert_true(daemon_last_event(d) > last);
	player_close(&p);

	/* A state that cannot be read is put aside. */
	daemon_stop(d);
	daemon_write(d, "state/state.json", "{\"version\": 1");
	daemon_start(d);
	daemon_await_log(d, "moved aside");
	player_connect(&p, d);
	json_decref(daemon_await_event(d, "plugin-connected", 0));
	assert_int_equal(daemon_last_event(d), 1);
	player_close(&p);
}

/* What follows a signal while a list is on its way, and while a snapshot is being read. */
static void test_end_under_load(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(36, 18, 18, 1);
	struct daemon *d = *state;
	struct varlink_client *client = NULL;
	struct player p;

	player_init(&p, 1, host_guid(b, 54));
	player_connect(&p, d);
	sweep(&p, b);
	daemon_await(d, "fabric.switches", "54");
	assert_int_equal(varlink_client_connect(d->socket, 60000000, &client), 0);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(varlink_client_send(client, "io.ibsm.Monitor.ListLinks", NULL,
						     VARLINK_CLIENT_MORE),
				 0);
	for (unsigned i = 0; i < 3; i++)
		sweep(&p, b);
	daemon_stop(d);
	varlink_client_free(client);
	player_close(&p);
}

static void test_two_instances(void **state)
{
	struct daemon *d = *state;
	char runtime[128], other[128];
	char *argv[] = {(char *)daemon_program(), (char *)"--config=/dev/null", runtime, other,
			NULL};
	int status;

	snprintf(runtime, sizeof(runtime), "--runtime-dir=%s/run", d->directory);
	snprintf(other, sizeof(other), "--state-dir=%s/state2", d->directory);
	status = daemon_wait(daemon_spawn(d, argv));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	daemon_await_log(d, "is in use by another ibsmd (pid ");
	/* The first one is none the worse. */
	json_decref(daemon_call(d, "GetStatus", NULL));
}

static void test_command_line(void **state)
{
	static const struct {
		const char *argument;
		int status;
		const char *says;
	} cases[] = {
		{"--help", 0, "--runtime-dir=DIR"},
		{"--version", 0, "ibsmd " PACKAGE_VERSION},
		{"--frobnicate", 2, "Try --help"},
		{"--config", 2, "Try --help"},
		{"argument", 2, "takes no argument"},
		{"--config=", 2, "a path is empty"},
		{"--config=/nonexistent/ibsmd.conf", 1, "/nonexistent/ibsmd.conf: No such file"},
		{"--runtime-dir=/nonexistent/run", 1, "cannot make the runtime directory"},
	};
	struct daemon *d = *state;

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char *argv[] = {(char *)daemon_program(), (char *)cases[i].argument, NULL};
		int status = daemon_wait(daemon_spawn(d, argv));

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), cases[i].status);
		daemon_await_log(d, cases[i].says);
	}
}

/* Sockets that systemd passes: bound by us here, under the names of the units. */
static void test_activation(void **state)
{
	struct daemon *d = *state;
	char runtime[128], state_dir[128];
	char *argv[] = {(char *)daemon_program(), (char *)"--config=/dev/null", runtime, state_dir,
			NULL};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat st;
	struct player p;
	int fds[2];

	daemon_stop(d);
	snprintf(runtime, sizeof(runtime), "--runtime-dir=%s/run", d->directory);
	snprintf(state_dir, sizeof(state_dir), "--state-dir=%s/state", d->directory);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/%s", d->directory,
			 i ? "plugin.sock" : "io.ibsm.Monitor");
		fds[i] = socket(AF_UNIX, i ? SOCK_SEQPACKET : SOCK_STREAM, 0);
		assert_int_equal(bind(fds[i], (struct sockaddr *)&address, sizeof(address)), 0);
		assert_int_equal(listen(fds[i], 8), 0);
	}
	/* A plugin and a client that are there before the daemon is. */
	player_init(&p, 1, 0x77);
	player_connect(&p, d);
	assert_int_equal(varlink_client_connect(d->socket, 60000000, &d->client), 0);
	d->pid = fork();
	assert_true(d->pid >= 0);
	if (d->pid == 0) {
		char pid[16];
		int log = open(d->log, O_WRONLY | O_APPEND | O_CLOEXEC);

		snprintf(pid, sizeof(pid), "%d", (int)getpid());
		if (log < 0 || setenv("LISTEN_PID", pid, 1) || setenv("LISTEN_FDS", "2", 1) ||
		    setenv("LISTEN_FDNAMES", "varlink:plugin", 1) || dup2(log, 1) < 0 ||
		    dup2(log, 2) < 0 || dup2(fds[0], 100) < 0 || dup2(fds[1], 101) < 0 ||
		    dup2(100, 3) < 0 || dup2(101, 4) < 0)
			_exit(126);
		for (int fd = 5; fd < 128; fd++)
			close(fd);
		execv(argv[0], argv);
		_exit(127);
	}
	daemon_await(d, "plugin.connections.0.records", "1");
	daemon_stop(d);
	/* They are systemd's. */
	assert_int_equal(stat(address.sun_path, &st), 0);
	assert_int_equal(stat(d->socket, &st), 0);
	close(fds[0]);
	close(fds[1]);
	player_close(&p);
}

/* The socket's mode keeps others out, but should it be opened, so does the peer's uid. */
static void test_peers(void **state)
{
	struct daemon *d = *state;
	char path[128], from[2];
	int status;
	struct player p;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	snprintf(path, sizeof(path), "%s/run/plugin.sock", d->directory);
	assert_int_equal(chmod(d->directory, 0755), 0);
	assert_int_equal(chmod(path, 0666), 0);
	player_init(&p, 1, 0x77);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (setgid(65534) || setuid(65534))
			_exit(126);
		player_open(&p, d);
		_exit(recv(p.fd, from, 1, 0) == 0 ? 0 : 1);
	}
	status = daemon_wait(pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	daemon_await_log(d, "uid 65534 may not connect");
	daemon_await(d, "plugin.refused", "1");
}

/* One datagram from the daemon to systemd. */
static void await_notice(int fd, const char *what)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	char text[1024] = "";

	while (!strstr(text, what)) {
		ssize_t n;

		if (poll(&pollfd, 1, 60000) != 1)
			fail_msg("systemd was not told: %s", what);
		n = recv(fd, text, sizeof(text) - 1, 0);
		assert_true(n >= 0);
		text[n] = '\0';
	}
}

static void test_notifies(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct daemon *d = *state;
	char number[16];
	int fd;

	daemon_stop(d);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", d->directory);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	/* WATCHDOG_PID is left out: whoever has the variable is meant. */
	snprintf(number, sizeof(number), "%d", 200000);
	assert_int_equal(setenv("NOTIFY_SOCKET", address.sun_path, 1), 0);
	assert_int_equal(setenv("WATCHDOG_USEC", number, 1), 0);
	daemon_start(d);
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
	assert_int_equal(unsetenv("WATCHDOG_USEC"), 0);
	await_notice(fd, "STATUS=No fabric yet; no plugin connected");
	await_notice(fd, "READY=1");
	await_notice(fd, "WATCHDOG=1");
	assert_int_equal(kill(d->pid, SIGHUP), 0);
	await_notice(fd, "RELOADING=1");
	await_notice(fd, "READY=1");
	daemon_stop(d);
	await_notice(fd, "STOPPING=1");
	close(fd);
}

/* Under systemd each line says how grave it is. */
static void test_journal(void **state)
{
	struct daemon *d = *state;
	struct stat st;
	char stream[64];

	daemon_stop(d);
	assert_int_equal(stat(d->log, &st), 0);
	assert_int_equal(daemon_log_count(d, "<6>"), 0);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
	daemon_start(d);
	assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
	daemon_await_log(d, "<6>version " PACKAGE_VERSION ", listening in");
}

static void test_describes_itself(void **state)
{
	struct daemon *d = *state;
	_cleanup_free_ char *file = calloc(1, 1 << 18);
	json_auto_t *reply = NULL;
	const char *srcdir = getenv("IBSM_SRCDIR");
	char path[512];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/daemon/io.ibsm.Monitor.varlink", srcdir ? srcdir : ".");
	stream = fopen(path, "r");
	assert_non_null(stream);
	assert_true(fread(file, 1, (1 << 18) - 1, stream) > 0);
	fclose(stream);
	assert_int_equal(varlink_client_call(
				 d->client, "org.varlink.service.GetInterfaceDescription",
				 json_pack("{s:s}", "interface", "io.ibsm.Monitor"), &reply, NULL),
			 0);
	assert_string_equal(json_text_at(reply, "description"), file);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_empty),
		TEST(test_fabric),
		TEST(test_cable),
		TEST(test_partial_snapshots),
		TEST(test_bad_snapshots),
		TEST(test_garbage),
		TEST(test_unknown_record),
		TEST(test_connects),
		TEST(test_places),
		TEST(test_missed_and_dropped),
		TEST(test_two_connections_of_one),
		TEST(test_failover),
		TEST(test_other_subnets),
		TEST(test_subnet_changes),
		TEST(test_alerts),
		TEST(test_names),
		TEST(test_traps),
		TEST(test_long_lists),
		TEST(test_ambiguous),
		TEST(test_follow),
		TEST(test_event_ring),
		TEST(test_restart),
		TEST(test_end_under_load),
		TEST(test_two_instances),
		TEST(test_command_line),
		TEST(test_activation),
		TEST(test_peers),
		TEST(test_notifies),
		TEST(test_journal),
		TEST(test_describes_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
