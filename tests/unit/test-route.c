// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Routes: each way to end, and thousands of random fabrics against a naive walk.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/route.h"
#include "tests/lib/snapshot-build.h"

static uint16_t lid_of(const struct fabric *f, const char *name)
{
	const uint32_t *found;

	assert_int_equal(fabric_nodes_by_name(f, name, &found), 1);
	return fabric_node_lid(f, found[0]);
}

/* "node00000 HCA-1:1 > 4:leaf00-00:7 > …" */
static const char *ways(const struct fabric *f, const struct route_hop *hops, size_t count)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		if (i)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 " > %d:", hops[i].in_port);
		else
			assert_int_equal(hops[i].in_port, ROUTE_NO_PORT);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s",
					 fabric_node_name(f, hops[i].node));
		if (hops[i].out_port != ROUTE_NO_PORT)
			used += (size_t)snprintf(text + used, sizeof(text) - used, ":%d",
						 hops[i].out_port);
	}
	return text;
}

static void route(const struct fabric *f, uint16_t slid, uint16_t dlid, const char *expected_end,
		  const char *expected_way, const char *expected_reason)
{
	struct route_hop hops[32];
	struct route_result result;
	char reason[512];

	assert_int_equal(fabric_route(f, slid, dlid, hops, ELEMENTSOF(hops), &result), 0);
	assert_string_equal(route_end_name(result.end), expected_end);
	assert_true(result.hops <= ELEMENTSOF(hops));
	assert_string_equal(ways(f, hops, result.hops), expected_way);
	assert_string_equal(route_reason(f, &result, reason, sizeof(reason)), expected_reason);
	assert_int_equal(result.slid, slid);
	assert_int_equal(result.dlid, dlid);
}

static void through_a_tree(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 2, 1);
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	uint16_t h0 = lid_of(f, "node00000 HCA-1"), h1 = lid_of(f, "node00001 HCA-1");
	uint16_t h3 = lid_of(f, "node00003 HCA-1");
	uint16_t leaf = lid_of(f, "leaf00-00"), spine = lid_of(f, "spine001");
	struct route_result result;

	(void)state;
	route(f, h0, h1, "delivered", "node00000 HCA-1:1 > 1:leaf00-00:2 > 1:node00001 HCA-1", "");
	/* LID 8 is spread to the first of two spines. */
	assert_int_equal(h3, 8);
	route(f, h0, h3, "delivered",
	      "node00000 HCA-1:1 > 1:leaf00-00:3 > 1:spine000:2 > 3:leaf01-00:2 > "
	      "1:node00003 HCA-1",
	      "");
	/* To switches, from switches, to oneself. */
	route(f, h0, leaf, "delivered", "node00000 HCA-1:1 > 1:leaf00-00", "");
	route(f, leaf, h1, "delivered", "leaf00-00:2 > 1:node00001 HCA-1", "");
	route(f, leaf, spine, "delivered", "leaf00-00:4 > 1:spine001", "");
	route(f, leaf, leaf, "delivered", "leaf00-00", "");
	route(f, h0, h0, "delivered", "node00000 HCA-1", "");
	/* Nobody has this LID; nobody sends from it. */
	route(f, h0, 99, "no-path", "node00000 HCA-1:1 > 1:leaf00-00",
	      "leaf00-00 has no path to LID 99");
	assert_int_equal(fabric_route(f, 99, h0, NULL, 0, &result), -ENODEV);
	assert_int_equal(fabric_route(f, 0, h0, NULL, 0, &result), -ENODEV);
	assert_int_equal(fabric_route(f, 0xffff, h0, NULL, 0, &result), -ENODEV);
}

static void hop_lids(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 2, 1);
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	struct route_hop hops[5];
	struct route_result result;

	(void)state;
	assert_int_equal(fabric_route(f, 5, 8, hops, 5, &result), 0);
	assert_int_equal(hops[0].lid, 5);
	assert_int_equal(hops[1].lid, 1);
	assert_int_equal(hops[2].lid, 3);
	assert_int_equal(hops[3].lid, 2);
	assert_int_equal(hops[4].lid, 8);
	/* With room for fewer, the count is the same. */
	memset(hops, 0xff, sizeof(hops));
	assert_int_equal(fabric_route(f, 5, 8, hops, 2, &result), 0);
	assert_int_equal(result.hops, 5);
	assert_int_equal(hops[1].lid, 1);
	assert_int_equal(hops[2].lid, 0xffff);
}

static void ways_that_fail(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 2, 1);
	struct fabric *f;

	(void)state;
	/* Handles: leaves 0 and 1, spines 2 and 3, hosts from 4; LIDs are handles + 1. */
	b->nodes[0].lft[8] = 255;
	f = build_fabric(b);
	route(f, 5, 8, "no-path", "node00000 HCA-1:1 > 1:leaf00-00",
	      "leaf00-00 has no path to LID 8");
	fabric_unref(f);
	b->nodes[0].lft[8] = 3;
	b->nodes[0].switch_row.lft_top = 7; /* the entry is there, but beyond the top */
	f = build_fabric(b);
	route(f, 5, 8, "no-path", "node00000 HCA-1:1 > 1:leaf00-00",
	      "leaf00-00 has no path to LID 8");
	fabric_unref(f);
	b->nodes[0].switch_row.lft_top = 8;
	build_port(b, 0, 3)->row.state = 2;
	f = build_fabric(b);
	route(f, 5, 8, "port-down", "node00000 HCA-1:1 > 1:leaf00-00:3",
	      "leaf00-00 sends LID 8 to port 3, whose state is init");
	fabric_unref(f);
	build_unlink(b, 0, 3);
	build_port(b, 0, 3)->row.state = 4;
	f = build_fabric(b);
	route(f, 5, 8, "port-down", "node00000 HCA-1:1 > 1:leaf00-00:3",
	      "leaf00-00 sends LID 8 to port 3, which has no neighbour");
	fabric_unref(f);
	b->nodes[0].lft[8] = 77;
	f = build_fabric(b);
	route(f, 5, 8, "port-down", "node00000 HCA-1:1 > 1:leaf00-00:77",
	      "leaf00-00 sends LID 8 to port 77, which it does not have");
	fabric_unref(f);
	b->nodes[0].lft[8] = 2;
	f = build_fabric(b);
	route(f, 5, 8, "wrong-node", "node00000 HCA-1:1 > 1:leaf00-00:2 > 1:node00001 HCA-1",
	      "arrives at node00001 HCA-1, which does not have LID 8");
	fabric_unref(f);
	b->nodes[0].lft[8] = 0;
	f = build_fabric(b);
	route(f, 5, 8, "wrong-node", "node00000 HCA-1:1 > 1:leaf00-00",
	      "arrives at leaf00-00, which does not have LID 8");
	fabric_unref(f);
	free(b->nodes[0].lft);
	b->nodes[0].lft = NULL;
	f = build_fabric(b);
	route(f, 5, 8, "no-lft", "node00000 HCA-1:1 > 1:leaf00-00",
	      "opensm has no LFT of leaf00-00");
	fabric_unref(f);
	b->nodes[0].has_switch = false; /* no SwitchInfo */
	f = build_fabric(b);
	route(f, 5, 8, "no-lft", "node00000 HCA-1:1 > 1:leaf00-00",
	      "opensm has no LFT of leaf00-00");
	fabric_unref(f);
	build_unlink(b, 4, 1);
	f = build_fabric(b);
	route(f, 5, 8, "port-down", "node00000 HCA-1:1",
	      "node00000 HCA-1 sends LID 8 to port 1, whose state is down");
	fabric_unref(f);
}

static void loops(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_new();
	struct route_hop hops[16];
	struct route_result result;
	struct fabric *f;
	char name[8];

	(void)state;
	/* A host, a tail of two switches, a ring of three. */
	build_node(b, IBSM_NODE_CA, 0x100, "host", 1);
	for (int i = 1; i <= 5; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		build_node(b, IBSM_NODE_SWITCH, 0x200 + (uint64_t)i, name, 4);
		build_link(b, i - 1, i == 1 ? 1 : 2, i, 1);
		build_lid(b, i, 0, (uint16_t)(10 + i), 0);
	}
	build_link(b, 5, 2, 3, 3);
	build_lid(b, 0, 1, 1, 0);
	for (int i = 1; i <= 5; i++)
		build_lft(b, i, 64)[50] = 2;
	f = build_fabric(b);
	route(f, 1, 50, "loop", "host:1 > 1:s1:2 > 1:s2:2 > 1:s3:2 > 1:s4:2 > 1:s5:2 > 3:s3",
	      "loop of 3 switches: back at s3");
	assert_int_equal(fabric_route(f, 1, 50, hops, 3, &result), 0);
	assert_int_equal(result.hops, 7);
	assert_int_equal(result.loop_hops, 3);
	/* From a switch on the ring: no tail. */
	route(f, 14, 50, "loop", "s4:2 > 1:s5:2 > 3:s3:2 > 1:s4", "loop of 3 switches: back at s4");
	fabric_unref(f);
	/* A loopback cable: a loop of one. */
	build_link(b, 5, 2, 5, 3);
	f = build_fabric(b);
	route(f, 15, 50, "loop", "s5:2 > 3:s5", "loop of 1 switch: back at s5");
	fabric_unref(f);
}

static void lmc_and_two_ports(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_new();
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	int sw = build_node(b, IBSM_NODE_SWITCH, 0x200, "sw", 8);
	int ca = build_node(b, IBSM_NODE_CA, 0x100, "ca", 2);
	int rt = build_node(b, IBSM_NODE_ROUTER, 0x300, "rt", 2);

	(void)state;
	build_link(b, ca, 1, sw, 1);
	build_link(b, ca, 2, sw, 2);
	build_link(b, rt, 1, sw, 3);
	build_lid(b, sw, 0, 1, 0);
	build_lid(b, ca, 1, 4, 2);
	build_lid(b, ca, 2, 8, 2);
	build_lid(b, rt, 1, 12, 0);
	build_route(b);
	f = build_fabric(b);
	/* Any LID of the range sends and receives; the other port of the same CA is reached
	 * outside. */
	route(f, 6, 11, "delivered", "ca:1 > 1:sw:2 > 2:ca", "");
	route(f, 9, 7, "delivered", "ca:2 > 2:sw:1 > 1:ca", "");
	route(f, 6, 4, "delivered", "ca", "");
	route(f, 5, 12, "delivered", "ca:1 > 1:sw:3 > 1:rt", "");
	route(f, 12, 10, "delivered", "rt:1 > 3:sw:2 > 2:ca", "");
	/* A CA's port answers for its own range only. */
	fabric_unref(f);
	b->nodes[sw].lft[10] = 1;
	f = build_fabric(b);
	route(f, 12, 10, "wrong-node", "rt:1 > 3:sw:1 > 1:ca",
	      "arrives at ca, which does not have LID 10");
}

static void back_to_back(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_new();
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	int a = build_node(b, IBSM_NODE_CA, 0x100, "a", 1);
	int c = build_node(b, IBSM_NODE_CA, 0x200, "c", 1);

	(void)state;
	build_link(b, a, 1, c, 1);
	build_lid(b, a, 1, 1, 0);
	build_lid(b, c, 1, 2, 0);
	f = build_fabric(b);
	route(f, 1, 2, "delivered", "a:1 > 1:c", "");
	route(f, 1, 3, "wrong-node", "a:1 > 1:c", "arrives at c, which does not have LID 3");
}

/*
 * The naive walk: on the builder's own structures, not the model's, with a list of all switches
 * that were visited. It knows nothing of indexes, links or ranges but what is said here.
 */
struct naive {
	enum route_end end;
	uint64_t where;
	size_t hops;
};

static bool owns(const struct ibsm_snap_port *p, uint32_t lid)
{
	return p->lid && lid >= p->lid && lid <= p->lid + (1u << p->lmc) - 1;
}

static const struct build_port *naive_port(const struct builder *b, int node, unsigned int number)
{
	for (size_t i = 0; i < b->nodes[node].port_count; i++)
		if (b->nodes[node].ports[i].row.port == number)
			return &b->nodes[node].ports[i];
	return NULL;
}

static struct naive naive_walk(const struct builder *b, int node, const struct build_port *source,
			       uint32_t dlid)
{
	struct naive n = {.hops = 1};
	const struct build_port *in = NULL, *out;
	bool visited[64] = {false};

	for (;;) {
		const struct build_node *at = &b->nodes[node];
		uint8_t number;

		n.where = at->row.node_guid;
		if (at->row.type == IBSM_NODE_SWITCH) {
			if (visited[node]) {
				n.end = ROUTE_LOOP;
				return n;
			}
			visited[node] = true;
			if (!at->lft) {
				n.end = ROUTE_NO_LFT;
				return n;
			}
			number = dlid < at->lft_lids && dlid <= at->switch_row.lft_top
					 ? at->lft[dlid]
					 : 255;
			if (number == 255) {
				n.end = ROUTE_NO_PATH;
				return n;
			}
			if (number == 0) {
				n.end = owns(&at->ports[0].row, dlid) ? ROUTE_DELIVERED
								      : ROUTE_WRONG_NODE;
				return n;
			}
			out = naive_port(b, node, number);
		} else if (owns(&(in ? in : source)->row, dlid)) {
			n.end = ROUTE_DELIVERED;
			return n;
		} else if (in) {
			n.end = ROUTE_WRONG_NODE;
			return n;
		} else {
			out = source;
		}
		if (!out || out->remote_node < 0 || (out->row.state != 4 && out->row.state != 0)) {
			n.end = ROUTE_PORT_DOWN;
			return n;
		}
		node = out->remote_node;
		in = naive_port(b, node, out->remote_port);
		n.hops++;
	}
}

static void agrees_with_a_naive_walk(void **state)
{
	size_t ends[ROUTE_NO_LFT + 1] = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		_cleanup_(build_freep) struct builder *b = build_random(seed, seed % 4 == 0);
		_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);

		for (int node = 0; node < (int)b->node_count; node++)
			for (size_t p = 0; p < b->nodes[node].port_count; p++) {
				const struct build_port *source = &b->nodes[node].ports[p];

				if (!source->row.lid)
					continue;
				for (uint32_t dlid = 0; dlid < f->lids + 3;
				     dlid += 1 + (uint32_t)(seed % 3)) {
					struct naive n = naive_walk(b, node, source, dlid);
					struct route_hop hops[64];
					struct route_result r;

					assert_int_equal(fabric_route(f, source->row.lid,
								      (uint16_t)dlid, hops, 64, &r),
							 0);
					assert_int_equal(r.end, n.end);
					assert_int_equal(r.hops, n.hops);
					assert_int_equal(fabric_node(f, r.node)->node_guid,
							 n.where);
					assert_int_equal(hops[r.hops - 1].node, r.node);
					ends[r.end]++;
				}
			}
	}
	/* Each way to end was met, many times. */
	for (size_t i = 0; i < ELEMENTSOF(ends); i++)
		assert_true(ends[i] > 1000);
}

/* In a routed tree every host reaches every other, by a shortest way. */
static void reaches_all_in_a_tree(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree3(4);
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	size_t by_hops[8] = {0};

	(void)state;
	assert_int_equal(fabric_counts(f)->cas, 16);
	for (uint32_t slid = 1; slid < f->lids; slid++)
		for (uint32_t dlid = 1; dlid < f->lids; dlid++) {
			struct route_result r;

			assert_int_equal(
				fabric_route(f, (uint16_t)slid, (uint16_t)dlid, NULL, 0, &r), 0);
			assert_int_equal(r.end, ROUTE_DELIVERED);
			assert_true(r.hops <= 7);
			if (slid > 20 && dlid > 20)
				by_hops[r.hops]++;
		}
	/* Host to host: itself; same leaf; same pod; other pods. */
	assert_int_equal(by_hops[1], 16);
	assert_int_equal(by_hops[3], 16);
	assert_int_equal(by_hops[5], 32);
	assert_int_equal(by_hops[7], 192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(through_a_tree),	    cmocka_unit_test(hop_lids),
		cmocka_unit_test(ways_that_fail),	    cmocka_unit_test(loops),
		cmocka_unit_test(lmc_and_two_ports),	    cmocka_unit_test(back_to_back),
		cmocka_unit_test(agrees_with_a_naive_walk), cmocka_unit_test(reaches_all_in_a_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
