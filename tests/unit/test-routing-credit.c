// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Credit loops where they are known to be: rings, and what service levels make of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/routing.h"
#include "tests/lib/routing-build.h"

#define RING 6

/* Switches in a ring, with LIDs 1 … 6; one host each, with LIDs 7 … 12. */
static struct builder *build_ring(void)
{
	struct builder *b = build_new();

	for (int i = 0; i < RING; i++)
		build_node(b, IBSM_NODE_SWITCH, 0x1000 + (uint64_t)i, "switch", 3);
	for (int i = 0; i < RING; i++)
		build_link(b, i, 1, (i + 1) % RING, 2);
	for (int i = 0; i < RING; i++)
		build_link(b, build_node(b, IBSM_NODE_CA, 0x2000 + (uint64_t)i * 16, "host", 1), 1,
			   i, 3);
	build_lids(b);
	build_route(b);
	build_settings(b);
	return b;
}

/* Level 1 for ways over the cable between the last and the first switch. */
static uint8_t level_by_wrap(void *userdata, uint16_t slid, uint16_t dlid)
{
	const struct fabric *f = userdata;
	struct route_hop hops[RING + 2];
	struct route_result route;

	assert_int_equal(fabric_route(f, slid, dlid, hops, ELEMENTSOF(hops), &route), 0);
	for (size_t i = 0; i + 1 < route.hops; i++) {
		uint32_t a = hops[i].node, b = hops[i + 1].node;

		if ((a == 0 && b == RING - 1) || (a == RING - 1 && b == 0))
			return 1;
	}
	return 0;
}

static void use_engine(struct builder *b, const char *name)
{
	for (size_t i = 0; i < b->engine_count; i++)
		b->engines[i].flags &= ~(uint32_t)IBSM_ENGINE_USED;
	build_engine(b, name, IBSM_ENGINE_ASKED | IBSM_ENGINE_LOADED | IBSM_ENGINE_USED);
}

static struct routing_result *analyze(struct builder *b, bool levels)
{
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	const struct routing_config config = {.path_sl = levels ? level_by_wrap : NULL,
					      .path_sl_userdata = f};
	struct routing_result *result = NULL;

	build_free(b);
	assert_int_equal(routing_analyze(f, &config, &result), 0);
	return result;
}

/* One loop each way around. */
static void expect_two(const struct routing_result *r, uint8_t vl)
{
	assert_int_equal(r->credit.loop_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct routing_credit_loop *loop = &r->credit.loops[i];
		const uint32_t *cycle = r->credit.cycles + loop->cycle_first;

		assert_int_equal(loop->vl, vl);
		assert_int_equal(loop->channels, RING);
		assert_int_equal(loop->dependencies, RING);
		assert_int_equal(loop->cycle_length, RING);
		for (uint32_t k = 0; k < RING; k++) {
			const struct routing_channel *here = &r->channels[cycle[k]];
			const struct routing_channel *next = &r->channels[cycle[(k + 1) % RING]];

			assert_int_equal(fabric_port(r->fabric, here->remote)->node,
					 fabric_port(r->fabric, next->port)->node);
		}
	}
}

static void test_ring(void **state)
{
	struct builder *b = build_ring();
	_cleanup_(routing_result_freep) struct routing_result *r = NULL;

	(void)state;
	use_engine(b, "minhop");
	r = analyze(b, false);
	assert_int_equal(r->credit.state, ROUTING_CREDIT_LOOPS);
	assert_int_equal(r->credit.dependencies + r->credit.end_dependencies, 36);
	assert_false(r->shape.tree);
	expect_two(r, ROUTING_VL_ANY);
}

static void test_level_not_known(void **state)
{
	static const char *const engines[] = {"dfsssp", "lash", "torus-2QoS", "nue"};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(engines); i++) {
		struct builder *b = build_ring();
		_cleanup_(routing_result_freep) struct routing_result *r = NULL;

		use_engine(b, engines[i]);
		r = analyze(b, false);
		assert_int_equal(r->credit.state, ROUTING_CREDIT_SL_UNKNOWN);
		expect_two(r, ROUTING_VL_ANY);
	}
}

static void test_levels(void **state)
{
	static const struct {
		const char *map; /* NULL: opensm's default */
		bool qos;
		uint8_t vls;
		enum routing_credit_state expected;
	} cases[] = {
		{NULL, true, 8, ROUTING_CREDIT_FREE},
		{"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7", true, 8, ROUTING_CREDIT_FREE},
		/* Both levels in one lane; one lane is all there is; nobody set lanes up. */
		{"3,3,2,3,4,5,6,7,8,9,10,11,12,13,14,7", true, 8, ROUTING_CREDIT_LOOPS},
		{NULL, true, 1, ROUTING_CREDIT_LOOPS},
		{NULL, false, 8, ROUTING_CREDIT_SL_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct builder *b = build_ring();
		_cleanup_(routing_result_freep) struct routing_result *r = NULL;

		b->subnet.min_data_vls = cases[i].vls;
		build_option(b, "qos", IBSM_OPTION_BOOLEAN, cases[i].qos, NULL);
		if (cases[i].map)
			build_option(b, "qos_sl2vl", IBSM_OPTION_STRING, 1, cases[i].map);
		use_engine(b, "dfsssp");
		r = analyze(b, true);
		assert_int_equal(r->credit.state, cases[i].expected);
		if (cases[i].expected == ROUTING_CREDIT_LOOPS)
			expect_two(r, cases[i].map ? 3 : 0);
	}
}

/* A tree whose ways all go up, then down, has no loops, and needs no search to know it; one entry
 * that sends traffic down and up again is told. */
static void test_turn(void **state)
{
	struct builder *b = build_tree2(3, 3, 2, 1);
	_cleanup_(routing_result_freep) struct routing_result *r = NULL;
	uint16_t lid = build_port(b, 6 + 4, 1)->row.lid; /* first host of the third leaf */

	(void)state;
	/* From the first leaf over the first spine to the second leaf, and there up again. */
	b->nodes[0].lft[lid] = 3;
	b->nodes[3].lft[lid] = 2;
	b->nodes[1].lft[lid] = 4;
	b->nodes[4].lft[lid] = 3;
	r = analyze(b, false);
	assert_true(r->shape.tree);
	assert_int_equal(r->credit.turn_count, 1);
	assert_int_equal(r->channels[r->credit.turns[0].in].direction, ROUTING_DOWN);
	assert_int_equal(r->channels[r->credit.turns[0].out].direction, ROUTING_UP);
	assert_int_equal(fabric_port(r->fabric, r->channels[r->credit.turns[0].out].port)->node, 1);
	assert_int_equal(r->credit.state, ROUTING_CREDIT_FREE);
	assert_int_equal(r->ends.detours, 2);
	assert_int_equal(r->ends.detour_extra, 2);
	assert_int_equal(r->ends.detour_dlid, lid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_level_not_known),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
