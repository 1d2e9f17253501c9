// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What moved between two routings, against a walk of each pair in both.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/routing-change.h"
#include "tests/lib/routing-build.h"
#include "tests/lib/routing-reference.h"

static struct routing_result *analyze(struct builder *b)
{
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	const struct routing_config config = {.threads = 1};
	struct routing_result *result = NULL;

	assert_int_equal(routing_analyze(f, &config, &result), 0);
	return result;
}

static uint64_t node_guid(const struct fabric *f, uint32_t node)
{
	return fabric_node(f, node)->node_guid;
}

static bool same_way(const struct fabric *a, uint32_t source_a, const struct fabric *b,
		     uint32_t source_b, uint32_t lid)
{
	static struct reference_way x, y;

	reference_walk(a, ROUTING_ACKNOWLEDGED, source_a, lid, &x);
	reference_walk(b, ROUTING_ACKNOWLEDGED, source_b, lid, &y);
	if (x.count != y.count || fabric_port(a, x.in[0])->port != fabric_port(b, y.in[0])->port ||
	    x.loop_from != y.loop_from || (x.end == ROUTE_LOOP) != (y.end == ROUTE_LOOP))
		return false;
	for (size_t i = 0; i < x.count; i++) {
		uint32_t to_a = x.out[i], to_b = y.out[i];

		if (node_guid(a, x.nodes[i]) != node_guid(b, y.nodes[i]) ||
		    x.entry[i] != y.entry[i] || (to_a == IBSM_NONE) != (to_b == IBSM_NONE))
			return false;
		if (to_a == IBSM_NONE)
			continue;
		to_a = fabric_link_port(a, to_a);
		to_b = fabric_link_port(b, to_b);
		if (fabric_port(a, to_a)->port_guid != fabric_port(b, to_b)->port_guid)
			return false;
	}
	return true;
}

/* The destination that a LID is in a fabric: an end port linked to a switch, or IBSM_NONE. */
static uint32_t dest(const struct fabric *f, uint32_t lid)
{
	uint32_t port = fabric_port_by_lid(f, (uint16_t)lid), remote;

	if (port == IBSM_NONE || !fabric_node_present(f, fabric_port(f, port)->node) ||
	    fabric_node(f, fabric_port(f, port)->node)->type == IBSM_NODE_SWITCH)
		return IBSM_NONE;
	remote = fabric_link_port(f, port);
	return remote != IBSM_NONE && fabric_node_present(f, fabric_port(f, remote)->node) &&
			       fabric_node(f, fabric_port(f, remote)->node)->type ==
				       IBSM_NODE_SWITCH
		       ? port
		       : IBSM_NONE;
}

static bool has_lid(const struct fabric *f, uint32_t port, uint32_t lid)
{
	const struct ibsm_snap_port *row = fabric_port(f, port);

	return lid >= row->lid && lid < row->lid + (1u << (row->lmc & 7));
}

static void compare(const struct routing_result *old, const struct routing_result *new)
{
	const struct fabric *a = old->fabric, *b = new->fabric;
	struct routing_change change;
	uint64_t pairs = 0, moved = 0;
	uint32_t come = 0, risen = 0;

	assert_int_equal(routing_compare(old, new, &change), 0);
	for (uint32_t lid = 1; lid < 0xc000; lid++) {
		uint32_t was = dest(a, lid), is = dest(b, lid);

		if (is == IBSM_NONE)
			continue;
		if (was == IBSM_NONE ||
		    fabric_port(a, was)->port_guid != fabric_port(b, is)->port_guid) {
			come++;
			continue;
		}
		for (uint32_t p = 0; p < fabric_ports(b); p++) {
			uint32_t q = reference_is_source(b, p)
					     ? fabric_port_by_guid(a, fabric_port(b, p)->port_guid)
					     : IBSM_NONE;

			if (q == IBSM_NONE || !reference_is_source(a, q) || has_lid(b, p, lid))
				continue;
			pairs++;
			moved += !same_way(a, q, b, p, lid);
		}
	}
	assert_int_equal(change.pairs, pairs);
	assert_int_equal(change.moved, moved);
	assert_int_equal(change.lids_come, come);
	for (uint32_t i = 0; i < new->channel_count; i++) {
		const struct routing_channel *channel = &new->channels[i];
		const struct ibsm_snap_port *row = fabric_port(b, channel->port);
		uint32_t node = fabric_node_by_guid(a, node_guid(b, row->node));
		uint32_t port =
			node == IBSM_NONE ? IBSM_NONE : fabric_node_port(a, node, row->port);
		uint32_t c = port == IBSM_NONE ? IBSM_NONE : routing_channel_by_port(old, port);
		uint64_t before = c == IBSM_NONE ? 0 : old->channels[c].pairs;
		bool listed = false;

		/* A loopback plug is no way to anywhere. */
		if (channel->direction == ROUTING_TO_END || channel->pairs <= before ||
		    fabric_port(b, channel->remote)->node == row->node)
			continue;
		risen++;
		for (uint32_t k = 0; k < change.risen_count; k++)
			if (change.risen[k].channel == i) {
				listed = true;
				assert_int_equal(change.risen[k].before, before);
				assert_int_equal(change.risen[k].after, channel->pairs);
			}
		if (!listed) {
			assert_int_equal(change.risen_count, ROUTING_RISEN_MAX);
			assert_true(change.risen[ROUTING_RISEN_MAX - 1].after -
					    change.risen[ROUTING_RISEN_MAX - 1].before >=
				    channel->pairs - before);
		}
	}
	assert_int_equal(change.risen_channels, risen);
	for (uint32_t k = 1; k < change.risen_count; k++)
		assert_true(change.risen[k].after - change.risen[k].before <=
			    change.risen[k - 1].after - change.risen[k - 1].before);
}

static void change_something(struct builder *b, uint64_t *seed)
{
	for (uint32_t n = build_random_below(seed, 4); n; n--) {
		int handle = (int)build_random_below(seed, (uint32_t)b->node_count);
		struct build_node *node = &b->nodes[handle];
		struct build_port *port;

		if (!node->port_count || node->removed)
			continue;
		port = &node->ports[build_random_below(seed, (uint32_t)node->port_count)];
		switch (build_random_below(seed, 6)) {
		case 0:
			if (node->row.type == IBSM_NODE_CA)
				build_remove(b, handle);
			break;
		case 1:
			if (port->row.port)
				build_unlink(b, handle, port->row.port);
			break;
		case 2:
			if (port->row.lid && node->row.type == IBSM_NODE_CA)
				port->row.lid = (uint16_t)(1 + build_random_below(seed, 60));
			break;
		case 3:
			build_route(b);
			break;
		default:
			if (node->lft && node->lft_lids)
				node->lft[build_random_below(seed, node->lft_lids)] =
					port->row.port;
		}
	}
}

static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 800; seed++) {
		struct builder *b = build_random(seed, seed % 2 != 0);
		_cleanup_(routing_result_freep) struct routing_result *old = analyze(b);
		_cleanup_(routing_result_freep) struct routing_result *new = NULL;
		uint64_t random = seed;

		change_something(b, &random);
		new = analyze(b);
		build_free(b);
		compare(old, new);
		compare(new, old);
	}
}

/* One entry of a tree: what depends on it moved, and nothing else. */
static void test_one_entry(void **state)
{
	struct builder *b = build_tree2(4, 4, 4, 1);
	_cleanup_(routing_result_freep) struct routing_result *old = analyze(b);
	_cleanup_(routing_result_freep) struct routing_result *new = NULL;
	uint16_t lid = build_port(b, 8 + 4, 1)->row.lid; /* first host of the second leaf */
	struct routing_change change;

	(void)state;
	assert_int_equal(routing_compare(old, old, &change), 0);
	assert_int_equal(change.pairs, 16 * 15);
	assert_int_equal(change.moved, 0);
	assert_int_equal(change.entries, 0);
	assert_int_equal(change.risen_channels, 0);
	b->nodes[0].lft[lid] = b->nodes[0].lft[lid] == 8 ? 5 : (uint8_t)(b->nodes[0].lft[lid] + 1);
	new = analyze(b);
	build_free(b);
	assert_int_equal(routing_compare(old, new, &change), 0);
	assert_int_equal(change.entries, 1);
	assert_int_equal(change.switches, 1);
	assert_int_equal(change.lids, 1);
	assert_int_equal(change.moved, 4);
	/* Up to another spine, and down from there. */
	assert_int_equal(change.risen_channels, 2);
	assert_int_equal(change.risen[0].after - change.risen[0].before, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_one_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
