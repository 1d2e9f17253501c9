// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of the built ibsmd: what it takes from plugins, and what not.
#include "daemon-harness.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ibsm/limits.h"
#include "util/cleanup.h"

/* Tables that are left out come from the snapshot before. */
static void test_partial_snapshots(void **state)
{
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	struct daemon *d = *state;
	struct player p;

	player_init(&p, 1, fixture_host_guid(b, HOST));
	player_connect(&p, d);
	player_snapshot(&p, b, 0);
	daemon_await(d, "fabric.generation", "1");
	build_unlink(b, LEAF, 4);
	player_snapshot(&p, b, 1u << IBSM_TABLE_LFT | 1u << IBSM_TABLE_OPTIONS);
	daemon_await(d, "fabric.generation", "2");
	daemon_await(d, "fabric.links", "19");
	player_snapshot(&p, b, ~(1u << IBSM_TABLE_GROUPS | 1u << IBSM_TABLE_GROUP_MEMBERS));
	daemon_await(d, "fabric.generation", "3");
	daemon_await(d, "fabric.links", "19");
	player_close(&p);

	/* A new connection has nothing to lean on. */
	player_connect(&p, d);
	player_snapshot(&p, b, 1u << IBSM_TABLE_LFT);
	player_await_closed(&p);
	json_decref(daemon_await_event(d, "snapshot-refused", 0));
	daemon_await_log(d, "snapshot 4 is not valid");
	player_close(&p);
	daemon_await(d, "fabric.generation", "3");
}

static void test_bad_snapshots(void **state)
{
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	_cleanup_bytes_ struct build_bytes bytes = {0};
	struct ibsm_wire_snapshot record = {.generation = 1, .full = 1};
	struct daemon *d = *state;
	struct player p;
	unsigned fds;
	int fd;

	bytes = build_write(b, 0);
	fds = daemon_fds(d);
	for (unsigned i = 0; i < 4; i++) {
		player_init(&p, 10 + i, fixture_host_guid(b, HOST));
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
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	struct daemon *d = *state;
	unsigned before = 0;
	struct player p;

	player_init(&p, 1, fixture_host_guid(b, HOST));
	for (unsigned i = 0; i < 100; i++) {
		char value[16];

		player_connect(&p, d);
		player_snapshot(&p, b, 0);
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

	/* What it has read before it ends is not missed; what it has not said by a crash is
	 * unknown. */
	assert_int_equal(kill(d->pid, SIGSTOP), 0);
	player_sweep(&p, IBSM_WIRE_STATE_CHANGE, 0);
	assert_int_equal(kill(d->pid, SIGTERM), 0);
	assert_int_equal(kill(d->pid, SIGCONT), 0);
	player_await_closed(&p);
	daemon_stop(d);
	player_close(&p);
	daemon_start(d);
	player_connect(&p, d);
	player_sweep(&p, IBSM_WIRE_STATE_CHANGE, 0);
	daemon_await(d, "plugin.events_received", "1");
	daemon_await(d, "plugin.events_missed", "0");
	daemon_kill(d);
	player_close(&p);
	daemon_start(d);
	player_connect(&p, d);
	json_decref(daemon_await_event(d, "records-missed", 0));
	daemon_await(d, "plugin.events_missed", "0");
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
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	struct daemon *d = *state;
	struct player first, second;
	char guid[32];

	build_sm(b, fixture_host_guid(b, HOST + 1), IBSM_SM_STANDBY, 3, false);
	player_init(&first, 1, fixture_host_guid(b, HOST));
	player_init(&second, 2, fixture_host_guid(b, HOST + 1));
	second.sm_state = IBSM_SM_STANDBY;
	player_connect(&second, d);
	daemon_await(d, "plugin.connections.0.followed", "true");
	player_connect(&first, d);
	player_whole_sweep(&first, b);
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
	player_whole_sweep(&second, b);
	daemon_await(d, "fabric.switches", "5");
	json_decref(daemon_await_event(d, "node-removed", 0));
	json_decref(daemon_await_event(d, "own-sm-state", 0));
	daemon_await(d, "sm.state", "\"master\"");

	/* It comes back as another instance, and takes over by handover. */
	player_init(&first, 3, fixture_host_guid(b, HOST));
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
	_cleanup_(build_freep) struct builder *b = fixture_tree(), *other = fixture_tree();
	struct daemon *d = *state;
	struct player first, second;

	player_init(&first, 1, fixture_host_guid(b, HOST));
	player_connect(&first, d);
	player_whole_sweep(&first, b);
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
	player_whole_sweep(&second, other);
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
	_cleanup_(build_freep) struct builder *b = fixture_tree(), *other = build_tree2(2, 1, 2, 1);
	struct daemon *d = *state;
	struct player p;

	daemon_write(d, "ibsmd.conf", "[Daemon]\nPluginTimeoutSec=2s\n");
	assert_int_equal(kill(d->pid, SIGHUP), 0);
	player_init(&p, 1, fixture_host_guid(b, HOST));
	player_connect(&p, d);
	player_whole_sweep(&p, b);
	daemon_await(d, "fabric.switches", "6");
	player_close(&p);
	daemon_await(d, "alerts.0.kind", "\"plugin-lost\"");
	daemon_await(d, "health", "\"warning\"");

	for (size_t i = 0; i < other->node_count; i++)
		other->nodes[i].row.node_guid += UINT64_C(0x5000000000000000);
	player_init(&p, 2, 0x4712);
	player_connect(&p, d);
	player_whole_sweep(&p, other);
	daemon_await(d, "fabric.switches", "3");
	json_decref(daemon_await_event(d, "subnet-changed", 0));
	/* What was said of the former one is over. */
	json_decref(daemon_await_event(d, "alert-cleared", 0));
	daemon_await(d, "sweep.last_result", "\"up\"");
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

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
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
		TEST(test_peers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
