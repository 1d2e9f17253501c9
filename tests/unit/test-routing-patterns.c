// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Effective bisection bandwidth against all bisections there are; shifts on good and broken trees.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/routing.h"
#include "tests/lib/routing-build.h"
#include "tests/lib/routing-reference.h"

#define HOSTS_MAX 8

static struct routing_result *analyze(struct builder *b, const struct routing_config *config)
{
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	struct routing_result *result = NULL;

	assert_int_equal(routing_analyze(f, config, &result), 0);
	return result;
}

/* One matching: order[i] sends to order[n + i]. */
static double bisection(const struct fabric *f, const uint32_t *order, uint32_t n)
{
	static struct reference_way ways[HOSTS_MAX];
	uint32_t *on = calloc(fabric_ports(f) + 1, sizeof(*on));
	double sum = 0;

	assert_non_null(on);
	for (uint32_t i = 0; i < n; i++) {
		reference_walk(f, ROUTING_ACKNOWLEDGED, order[i], fabric_port(f, order[n + i])->lid,
			       &ways[i]);
		for (size_t k = 0; k < ways[i].count; k++)
			if (ways[i].out[k] != IBSM_NONE)
				on[ways[i].out[k]]++;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t most = 1;

		if (ways[i].end != ROUTE_DELIVERED)
			continue;
		for (size_t k = 0; k < ways[i].count; k++)
			if (on[ways[i].out[k]] > most)
				most = on[ways[i].out[k]];
		sum += 1.0 / most;
	}
	free(on);
	return sum / n;
}

/* The mean over all orders. */
static double all_bisections(const struct fabric *f, uint32_t *order, uint32_t at, uint32_t count,
			     uint32_t *n)
{
	double sum = 0;

	if (at == count) {
		(*n)++;
		return bisection(f, order, count / 2);
	}
	for (uint32_t i = at; i < count; i++) {
		uint32_t swap = order[i];

		order[i] = order[at];
		order[at] = swap;
		sum += all_bisections(f, order, at + 1, count, n);
		order[at] = order[i];
		order[i] = swap;
	}
	return sum;
}

static void test_exact(void **state)
{
	(void)state;
	for (int spines = 1; spines <= 3; spines++)
		for (int broken = 0; broken < 2; broken++) {
			struct builder *b = build_tree2(3, spines, 2, 1);
			const struct routing_config config = {.ebb_trials_max = 20000, .seed = 7};
			_cleanup_(fabric_unrefp) struct fabric *f = NULL;
			_cleanup_(routing_result_freep) struct routing_result *r = NULL;
			uint32_t hosts[HOSTS_MAX], count = 0, n = 0;
			double expected;

			if (broken)
				b->nodes[0].lft[b->nodes[3 + spines + 2].ports[0].row.lid] = 255;
			f = build_fabric(b);
			for (uint32_t p = 0; p < fabric_ports(f); p++)
				if (reference_is_source(f, p))
					hosts[count++] = p;
			assert_int_equal(count, 6);
			expected = all_bisections(f, hosts, 0, count, &n);
			expected /= n;
			r = analyze(b, &config);
			build_free(b);
			assert_int_equal(r->ebb.trials, 20000);
			assert_int_equal(r->ebb.flows, 3);
			assert_true(fabs(r->ebb.mean - expected) <
				    4 * r->ebb.stderr_of_mean + 1e-9);
			assert_true(r->ebb.stderr_of_mean < 0.005);
		}
}

static void test_known_ebb(void **state)
{
	const struct routing_config config = {
		.ebb_trials_max = 1000, .ebb_stderr = 0.002, .seed = 1};
	struct builder *b = routing_build_tree3(16, 0);
	_cleanup_(routing_result_freep) struct routing_result *r = analyze(b, &config);
	_cleanup_(routing_result_freep) struct routing_result *again = analyze(b, &config);

	(void)state;
	build_free(b);
	assert_true(fabs(r->ebb.mean - 0.703) < 0.008);
	assert_true(r->ebb.stderr_of_mean <= 0.002);
	assert_true(r->ebb.trials >= 8 && r->ebb.trials < 1000);
	assert_true(r->ebb.mean == again->ebb.mean && r->ebb.trials == again->ebb.trials);
	assert_int_equal(r->shift.shifts, 0);
}

static void test_few_hosts(void **state)
{
	const struct routing_config config = {.ebb_trials_max = 10, .shifts_max = 10};
	struct builder *b = build_tree2(1, 1, 1, 1);
	_cleanup_(routing_result_freep) struct routing_result *r = analyze(b, &config);

	(void)state;
	build_free(b);
	assert_int_equal(r->ebb.trials, 0);
	assert_int_equal(r->shift.shifts, 0);
}

/* GUIDs, and so the order of rows, as a factory would give them. */
static void scatter_guids(struct builder *b)
{
	for (size_t i = 0; i < b->node_count; i++) {
		struct build_node *n = &b->nodes[i];

		n->row.node_guid = (uint64_t)(i * 2654435761u % 1000003) * 0x100 + 0x10000000;
		n->row.port_guid = n->row.node_guid;
		for (size_t p = 0; p < n->port_count; p++)
			n->ports[p].row.port_guid =
				n->row.node_guid +
				(n->row.type == IBSM_NODE_SWITCH ? 0 : n->ports[p].row.port);
	}
}

static void test_shifts(void **state)
{
	const struct routing_config all = {.shifts_max = 100000};
	const struct routing_config some = {.shifts_max = 10};

	(void)state;
	for (int k = 0; k <= 12; k += 6)
		for (int scattered = 0; scattered < 2; scattered++) {
			struct builder *b = k ? routing_build_tree3(k, (uint64_t)scattered * 5)
					      : build_tree2(18, 18, 18, 1);
			_cleanup_(routing_result_freep) struct routing_result *r = NULL;
			_cleanup_(routing_result_freep) struct routing_result *sampled = NULL;
			uint32_t hosts = k ? (uint32_t)(k * k * k / 4) : 324;

			if (scattered)
				scatter_guids(b);
			r = analyze(b, &all);
			sampled = analyze(b, &some);
			build_free(b);
			assert_int_equal(r->shift.contention, 1);
			assert_int_equal(r->shift.all, hosts - 1);
			assert_int_equal(r->shift.shifts, hosts - 1);
			assert_int_equal(sampled->shift.shifts, 10);
			assert_int_equal(sampled->shift.all, hosts - 1);
		}
}

/* A spine less: two neighbours share an uplink. All over one spine: all of a leaf's do. */
static void test_bad_shifts(void **state)
{
	const struct routing_config all = {.shifts_max = 100000};
	struct builder *b = build_tree2(6, 6, 6, 1);
	_cleanup_(routing_result_freep) struct routing_result *r = NULL;
	_cleanup_(routing_result_freep) struct routing_result *one = NULL;

	(void)state;
	build_remove(b, 6 + 2);
	build_route(b);
	r = analyze(b, &all);
	assert_true(r->shift.contention >= 2 && r->shift.contention <= 3);
	assert_int_not_equal(r->shift.channel, IBSM_NONE);
	for (int spine = 1; spine < 6; spine++)
		build_remove(b, 6 + spine);
	build_route(b);
	one = analyze(b, &all);
	build_free(b);
	assert_int_equal(one->shift.contention, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),	   cmocka_unit_test(test_known_ebb),
		cmocka_unit_test(test_few_hosts),  cmocka_unit_test(test_shifts),
		cmocka_unit_test(test_bad_shifts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
