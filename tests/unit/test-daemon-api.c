// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of the built ibsmd: a plugin is played to it, and its API asked what came of it.
#include "daemon-harness.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

static void test_fabric(void **state)
{
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	struct daemon *d = *state;
	json_auto_t *nodes = NULL, *links = NULL, *node = NULL, *route = NULL, *options = NULL;
	json_auto_t *one = NULL, *sms = NULL, *groups = NULL, *members = NULL, *partitions = NULL;
	char parameters[256];
	struct player p;

	player_init(&p, 1, fixture_host_guid(b, HOST));
	player_connect(&p, d);
	player_whole_sweep(&p, b);
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
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	struct daemon *d = *state;
	json_auto_t *event = NULL, *reply = NULL, *trap = NULL;
	char parameters[64];
	json_int_t number;
	struct player p;

	player_init(&p, 1, fixture_host_guid(b, HOST));
	player_connect(&p, d);
	player_whole_sweep(&p, b);
	daemon_await(d, "fabric.links", "20");

	player_trap(&p, 128, b->nodes[LEAF].switch_row.lid);
	build_unlink(b, LEAF, 4);
	player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, IBSM_SWEEP_FORCE_HEAVY);
	player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_DONE, 0);
	player_lft_change(&p, b->nodes[LEAF].row.node_guid, 0);
	player_lft_change(&p, b->nodes[SPINE].row.node_guid, 0);
	player_sweep(&p, IBSM_WIRE_UCAST_ROUTING_DONE, 0);
	player_sweep(&p, IBSM_WIRE_SUBNET_UP, 0);
	player_snapshot(&p, b, 0);
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

static void test_alerts(void **state)
{
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	struct daemon *d = *state;
	json_auto_t *status = NULL;
	struct player p;

	daemon_write(d, "ibsmd.conf", "[Alerts]\nSweepFailedClearSec=1s\n");
	assert_int_equal(kill(d->pid, SIGHUP), 0);
	player_init(&p, 1, fixture_host_guid(b, HOST));
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
	player_snapshot(&p, b, 0);
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
	player_whole_sweep(&p, b);
	daemon_await(d, "alert_counts.warning", "0");
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
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	struct daemon *d = *state;
	char text[512], path[128];
	struct player p;

	snprintf(path, sizeof(path), "%s/names", d->directory);
	snprintf(text, sizeof(text), "[Daemon]\nNodeNameMap=%s\n", path);
	daemon_write(d, "ibsmd.conf", text);
	player_init(&p, 1, fixture_host_guid(b, HOST));
	player_connect(&p, d);
	player_whole_sweep(&p, b);
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
	player_whole_sweep(&p, b);
	daemon_await(d, "fabric.generation", "2");
	json_decref(daemon_call(d, "GetNode", "{\"node\": \"the first\"}"));
	player_close(&p);
}

/* Every trap says in words what it is about, and whom. */
static void test_traps(void **state)
{
	_cleanup_(build_freep) struct builder *b = fixture_tree();
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
	player_init(&p, 1, fixture_host_guid(b, HOST));
	player_connect(&p, d);
	player_whole_sweep(&p, b);
	daemon_await(d, "fabric.switches", "6");
	{
		const struct {
			struct ibsm_wire_trap trap;
			const char *says;
			size_t ends;
		} cases[] = {
			{{.number = 65, .gid1_guid = fixture_host_guid(b, HOST)}, ": the host", 1},
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

	player_init(&p, 1, fixture_host_guid(b, 54));
	player_connect(&p, d);
	player_snapshot(&p, b, 0);
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
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	struct daemon *d = *state;
	json_auto_t *error = NULL;
	struct player p;

	memcpy(b->nodes[HOST].row.description, "twin A", 7);
	memcpy(b->nodes[HOST + 1].row.description, "twin B", 7);
	player_init(&p, 1, fixture_host_guid(b, HOST));
	player_connect(&p, d);
	player_snapshot(&p, b, 0);
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

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_fabric),    TEST(test_cable),	 TEST(test_alerts),
		TEST(test_names),     TEST(test_traps),	 TEST(test_long_lists),
		TEST(test_ambiguous), TEST(test_follow), TEST(test_event_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
