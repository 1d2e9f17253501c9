// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Placement of SMs: the best place against a search from every switch, and each reason by itself.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect-build.h"
#include "fabric/sm-placement.h"
#include "ibsm/wire.h"

static const struct sm_placement_config config = SM_PLACEMENT_CONFIG_DEFAULT;

static uint64_t state64 = 88172645463325252;

static uint32_t random_below(uint32_t n)
{
	state64 ^= state64 << 13;
	state64 ^= state64 >> 7;
	state64 ^= state64 << 17;
	return (uint32_t)(state64 % n);
}

static struct sm_placement *find_with(struct build *build, const struct sm_placement_config *c)
{
	struct sm_placement *placement = calloc(1, sizeof(*placement));
	struct fabric *fabric = build_fabric(build);

	assert_int_equal(sm_placement_find(fabric, c, placement), 0);
	fabric_unref(fabric);
	return placement;
}

static struct sm_placement *find(struct build *build)
{
	return find_with(build, &config);
}

static const struct sm_place *place_of(const struct sm_placement *placement, uint64_t guid)
{
	for (size_t i = 0; i < placement->count; i++)
		if (placement->places[i].port_guid == guid)
			return &placement->places[i];
	fail_msg("no place of 0x%llx", (unsigned long long)guid);
	return NULL;
}

/* A chain of `n` switches 1…n, host i + 1 on switch i + 1. */
static struct build *chain(unsigned int n)
{
	struct build *build = build_new();
	char name[16];

	for (unsigned int i = 1; i <= n; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		build_switch(build, i, 8, name);
		snprintf(name, sizeof(name), "h%u", i);
		build_ca(build, 0x10000 + i * 0x100, 1, name);
		build_link(build, i, 3, 0x10000 + i * 0x100, 1);
		if (i > 1)
			build_link(build, i - 1, 2, i, 1);
	}
	return build;
}

#define CHAIN_HOST(i) (UINT64_C(0x10000) + (i)*0x100 + 1)

/* Distances by Floyd and Warshall, of a graph given as a matrix. */
#define MATRIX_MAX 40

static void test_best_place_against_naive(void **state)
{
	(void)state;
	for (int round = 0; round < 60; round++) {
		uint32_t n = 2 + random_below(MATRIX_MAX - 2);
		unsigned int distance[MATRIX_MAX][MATRIX_MAX];
		uint8_t next_port[MATRIX_MAX];
		struct build *build = build_new();
		struct sm_placement *placement;
		unsigned int best = UINT32_MAX, own = 0;
		uint32_t edges = n - 1 + random_below(n);
		char name[16];

		memset(distance, 0x3f, sizeof(distance));
		for (uint32_t i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "s%u", i);
			build_switch(build, i + 1, 100, name);
			distance[i][i] = 0;
			next_port[i] = 2;
		}
		/* A tree, then further edges, doubles among them. */
		for (uint32_t e = 0; e < edges; e++) {
			uint32_t a = e < n - 1 ? e + 1 : random_below(n);
			uint32_t b = e < n - 1 ? random_below(e + 1) : random_below(n);

			if (a == b)
				continue;
			build_link(build, a + 1, next_port[a]++, b + 1, next_port[b]++);
			distance[a][b] = distance[b][a] = 1;
		}
		for (uint32_t k = 0; k < n; k++)
			for (uint32_t i = 0; i < n; i++)
				for (uint32_t j = 0; j < n; j++)
					if (distance[i][k] + distance[k][j] < distance[i][j])
						distance[i][j] = distance[i][k] + distance[k][j];
		for (uint32_t i = 0; i < n; i++) {
			unsigned int farthest = 0;

			for (uint32_t j = 0; j < n; j++)
				if (distance[i][j] > farthest)
					farthest = distance[i][j];
			if (i == 0)
				own = farthest;
			if (farthest < best)
				best = farthest;
		}
		build_ca(build, 0x10000, 1, "h");
		build_link(build, 1, 1, 0x10000, 1);
		build_sm(build, 0x10001, IBSM_SM_MASTER, 1, true);
		placement = find(build);
		assert_true(placement->best_is_exact);
		assert_int_equal(placement->best_hops, best);
		assert_int_equal(placement->places[0].hops, own);
		assert_int_equal(!!(placement->places[0].reasons & SM_PLACED_FAR), own >= best + 2);
		free(placement);
		build_free(build);
	}
}

static void test_far(void **state)
{
	struct build *build = chain(7);
	struct sm_placement *placement;

	(void)state;
	/* The middle is 3 from either end, one beside it 4, two 5. */
	build_sm(build, CHAIN_HOST(4), IBSM_SM_MASTER, 9, true);
	build_sm(build, CHAIN_HOST(3), IBSM_SM_STANDBY, 8, false);
	build_sm(build, CHAIN_HOST(2), IBSM_SM_STANDBY, 7, false);
	build_sm(build, CHAIN_HOST(1), IBSM_SM_STANDBY, 6, false);
	placement = find(build);
	assert_int_equal(placement->best_hops, 3);
	assert_string_equal(placement->best_switch_name, "s4");
	assert_int_equal(place_of(placement, CHAIN_HOST(4))->hops, 3);
	assert_int_equal(place_of(placement, CHAIN_HOST(3))->reasons, 0);
	assert_int_equal(place_of(placement, CHAIN_HOST(2))->reasons, SM_PLACED_FAR);
	assert_int_equal(place_of(placement, CHAIN_HOST(1))->hops, 6);
	assert_true(place_of(placement, CHAIN_HOST(1))->mean_hops == 3.5);
	assert_string_equal(place_of(placement, CHAIN_HOST(1))->switch_name, "s1");
	assert_int_equal(place_of(placement, CHAIN_HOST(1))->switch_port, 3);
	free(placement);
	build_free(build);
}

static void test_tree_has_no_far_place(void **state)
{
	struct build *build = build_new();
	struct sm_placement *placement;

	(void)state;
	build_tree(build, 6, 3, 4);
	build_sm(build, BUILD_HOST(0) + 1, IBSM_SM_MASTER, 9, true);
	placement = find(build);
	assert_int_equal(placement->best_hops, 2);
	assert_int_equal(placement->places[0].hops, 2);
	assert_int_equal(placement->places[0].reasons, 0);
	assert_int_equal(placement->usual_mbps, 100000);
	free(placement);
	build_free(build);
}

static void test_slow_and_degraded(void **state)
{
	struct build *build = build_new();
	struct ibsm_snap_port *port;
	struct sm_placement *placement;

	(void)state;
	build_tree(build, 2, 1, 4);
	build_sm(build, BUILD_HOST(0) + 1, IBSM_SM_MASTER, 9, true);
	port = build_port(build, BUILD_HOST(0), 1);

	/* Runs at 1x though both ends could do 4x. */
	port->width_active = 1;
	build_port(build, BUILD_LEAF(0), 1)->width_active = 1;
	placement = find(build);
	assert_int_equal(placement->places[0].reasons,
			 SM_PLACED_SLOW_LINK | SM_PLACED_DEGRADED_LINK);
	assert_int_equal(placement->places[0].rate_mbps, 25000);
	assert_int_equal(placement->places[0].best_mbps, 100000);
	free(placement);

	/* It can do no more: slow, but nothing is broken. */
	port->width_supported = port->width_enabled = 1;
	placement = find(build);
	assert_int_equal(placement->places[0].reasons, SM_PLACED_SLOW_LINK);
	free(placement);

	/* Everybody is that slow. */
	for (unsigned int i = 1; i < 8; i++) {
		port = build_port(build, BUILD_HOST(i), 1);
		port->width_active = port->width_enabled = port->width_supported = 1;
	}
	placement = find(build);
	assert_int_equal(placement->places[0].reasons, 0);
	free(placement);

	/* One that is faster than the usual is no finding. */
	port = build_port(build, BUILD_HOST(0), 1);
	port->width_active = port->width_enabled = port->width_supported = 2;
	placement = find(build);
	assert_int_equal(placement->places[0].reasons, 0);
	free(placement);
	build_free(build);
}

static void test_same_switch(void **state)
{
	struct build *build = build_new();
	struct sm_placement *placement;

	(void)state;
	build_tree(build, 3, 2, 4);
	build_sm(build, BUILD_HOST(0) + 1, IBSM_SM_MASTER, 9, true);
	build_sm(build, BUILD_HOST(1) + 1, IBSM_SM_STANDBY, 8, false);
	placement = find(build);
	assert_int_equal(place_of(placement, BUILD_HOST(0) + 1)->reasons, 0);
	assert_int_equal(place_of(placement, BUILD_HOST(1) + 1)->reasons, SM_PLACED_SAME_SWITCH);
	free(placement);

	/* A second standby elsewhere: one switch no longer takes them all. */
	build_sm(build, BUILD_HOST(4) + 1, IBSM_SM_STANDBY, 7, false);
	placement = find(build);
	assert_int_equal(place_of(placement, BUILD_HOST(1) + 1)->reasons, 0);
	free(placement);
	/* One that is not active does not count. */
	build_sm(build, BUILD_HOST(4) + 1, IBSM_SM_NOT_ACTIVE, 7, false);
	placement = find(build);
	assert_int_equal(place_of(placement, BUILD_HOST(1) + 1)->reasons, SM_PLACED_SAME_SWITCH);
	assert_int_equal(place_of(placement, BUILD_HOST(4) + 1)->reasons, 0);
	free(placement);
	build_free(build);
}

static void test_embedded(void **state)
{
	struct sm_placement_config small = config;
	struct build *build = build_new();
	struct sm_placement *placement;

	(void)state;
	build_tree(build, 2, 1, 3); /* nine nodes */
	build_sm(build, BUILD_SPINE(0), IBSM_SM_MASTER, 9, true);
	small.embedded_nodes_max = 9;
	placement = find_with(build, &small);
	assert_true(placement->places[0].embedded);
	assert_int_equal(placement->places[0].hops, 1);
	assert_int_equal(placement->places[0].reasons, 0);
	free(placement);
	small.embedded_nodes_max = 8;
	placement = find_with(build, &small);
	assert_int_equal(placement->places[0].reasons, SM_PLACED_EMBEDDED);
	free(placement);
	build_free(build);
}

static void test_odd_fabrics(void **state)
{
	struct build *build = build_new();
	struct sm_placement *placement;

	(void)state;
	/* Nothing at all. */
	placement = find(build);
	assert_int_equal(placement->count, 0);
	assert_int_equal(placement->best_hops, SM_HOPS_UNKNOWN);
	free(placement);

	/* Two hosts back to back: no switch to stand at. */
	build_ca(build, 0x100, 1, "a");
	build_ca(build, 0x200, 1, "b");
	build_link(build, 0x100, 1, 0x200, 1);
	build_sm(build, 0x101, IBSM_SM_MASTER, 9, true);
	build_sm(build, 0x999, IBSM_SM_STANDBY, 9, false); /* a port that nobody knows */
	placement = find(build);
	assert_int_equal(placement->count, 1);
	assert_int_equal(placement->places[0].hops, SM_HOPS_UNKNOWN);
	assert_int_equal(placement->places[0].reasons, 0);
	free(placement);

	/* One switch. */
	build_switch(build, 0x300, 4, "s");
	build_ca(build, 0x400, 1, "c");
	build_link(build, 0x300, 1, 0x400, 1);
	build_sm(build, 0x401, IBSM_SM_MASTER, 9, true);
	placement = find(build);
	assert_int_equal(place_of(placement, 0x401)->hops, 0);
	assert_int_equal(placement->best_hops, 0);
	assert_int_equal(place_of(placement, 0x401)->reasons, 0);
	free(placement);
	build_free(build);
}

static void test_absent_switches_do_not_count(void **state)
{
	struct build *build = chain(7);
	struct sm_placement *placement;

	(void)state;
	build_sm(build, CHAIN_HOST(1), IBSM_SM_MASTER, 9, true);
	build_node(build, 4)->present = 0;
	placement = find(build);
	assert_int_equal(placement->places[0].hops, 2);
	assert_int_equal(placement->best_hops, 1);
	free(placement);
	build_free(build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_best_place_against_naive),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_tree_has_no_far_place),
		cmocka_unit_test(test_slow_and_degraded),
		cmocka_unit_test(test_same_switch),
		cmocka_unit_test(test_embedded),
		cmocka_unit_test(test_odd_fabrics),
		cmocka_unit_test(test_absent_switches_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
