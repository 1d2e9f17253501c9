// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The routing analysis against a walk of each pair, on random fabrics, and on trees whose figures
// are known.
#include <errno.h>
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

static uint32_t count_true(const bool *array, uint32_t count)
{
	uint32_t n = 0;

	for (uint32_t i = 0; array && i < count; i++)
		n += array[i];
	return n;
}

static void compare_validity(const struct routing_validity *a, const struct routing_validity *b)
{
	assert_int_equal(a->lids, b->lids);
	assert_int_equal(a->pairs, b->pairs);
	assert_int_equal(a->delivered, b->delivered);
	assert_int_equal(a->unreachable, b->unreachable);
	assert_int_equal(a->looping, b->looping);
	assert_int_equal(a->detours, b->detours);
	assert_int_equal(a->detour_extra, b->detour_extra);
	assert_int_equal(a->detour_slid, b->detour_slid);
	assert_int_equal(a->detour_dlid, b->detour_dlid);
	for (int i = 0; i < ROUTING_HOPS_MAX; i++)
		assert_int_equal(a->hops[i], b->hops[i]);
}

static uint32_t own_sources(const struct fabric *f, uint32_t node)
{
	const struct ibsm_snap_node *row = fabric_node(f, node);
	uint32_t n = 0;

	for (uint32_t p = row->first_port; p < row->first_port + row->ports; p++) {
		uint32_t remote = fabric_link_port(f, p);
		const struct ibsm_snap_port *there;

		if (remote == IBSM_NONE || fabric_port(f, p)->port == 0)
			continue;
		there = fabric_port(f, remote);
		n += fabric_node(f, there->node)->type != IBSM_NODE_SWITCH &&
		     fabric_node_present(f, there->node) && there->lid &&
		     (there->state == 4 || there->state == 0);
	}
	return n;
}

static void compare_channels(const struct routing_result *result, const struct reference *ref)
{
	const struct fabric *f = ref->fabric;

	for (uint32_t p = 0; p < fabric_ports(f); p++) {
		const struct reference_loads *loads = &ref->loads[p];
		uint32_t c = routing_channel_by_port(result, p), sources = 0;
		const struct routing_channel *channel;

		if (c == IBSM_NONE) {
			assert_int_equal(loads->pairs, 0);
			continue;
		}
		channel = &result->channels[c];
		assert_int_equal(channel->port, p);
		assert_int_equal(channel->remote, fabric_link_port(f, p));
		assert_int_equal(channel->pairs, loads->pairs);
		assert_int_equal(channel->io_pairs, loads->io_pairs);
		assert_int_equal(channel->lids, count_true(loads->lids, f->lids));
		assert_int_equal(channel->destinations, count_true(loads->ports, fabric_ports(f)));
		if (channel->direction == ROUTING_TO_END) {
			for (uint32_t lid = 0; loads->by_lid && lid < f->lids; lid++)
				if (loads->by_lid[lid] > sources)
					sources = loads->by_lid[lid];
		} else {
			for (uint32_t n = 0; loads->switches && n < fabric_nodes(f); n++)
				if (loads->switches[n])
					sources += own_sources(f, n);
		}
		assert_int_equal(channel->sources, sources);
	}
}

static const struct routing_fault *find_fault(const struct routing_result *result,
					      const struct reference_cause *cause)
{
	for (uint32_t i = 0; i < result->fault_count; i++) {
		const struct routing_fault *fault = &result->faults[i];

		if (fault->end == cause->fault.end && fault->node == cause->fault.node &&
		    fault->port == cause->fault.port &&
		    fault->to_switches == cause->fault.to_switches &&
		    fault->loop_length == cause->fault.loop_length &&
		    memcmp(result->loop_switches + fault->loop_first, cause->loop,
			   fault->loop_length * sizeof(uint32_t)) == 0)
			return fault;
	}
	return NULL;
}

static void compare_faults(const struct routing_result *result, const struct reference *ref)
{
	uint32_t loops = 0;

	assert_int_equal(result->fault_count, ref->cause_count);
	assert_int_equal(result->faults_left_out, 0);
	for (size_t i = 0; i < ref->cause_count; i++) {
		const struct reference_cause *cause = ref->causes[i];
		const struct routing_fault *fault = find_fault(result, cause);
		uint32_t first = 0, last = ref->fabric->lids - 1;

		assert_non_null(fault);
		while (!cause->lids[first])
			first++;
		while (!cause->lids[last])
			last--;
		assert_int_equal(fault->pairs, cause->fault.pairs);
		assert_int_equal(fault->lids, count_true(cause->lids, ref->fabric->lids));
		assert_int_equal(fault->lid_first, first);
		assert_int_equal(fault->lid_last, last);
		assert_int_equal(fault->dlid, cause->fault.dlid);
		assert_int_equal(fault->slid, cause->fault.slid);
		loops += fault->end == ROUTE_LOOP;
	}
	assert_int_equal(result->loops, loops);
	for (uint32_t i = 1; i < result->fault_count; i++)
		if (result->faults[i].to_switches == result->faults[i - 1].to_switches)
			assert_true(result->faults[i].pairs <= result->faults[i - 1].pairs);
}

/* Fewest channels on a way from a port's channel back to itself. */
static uint32_t shortest_circle(const struct reference *ref, uint32_t port)
{
	uint32_t ports = fabric_ports(ref->fabric), length = 1;
	bool *here = calloc(ports, sizeof(*here)), *next = calloc(ports, sizeof(*next));

	assert_true(here && next);
	here[port] = true;
	for (;; length++) {
		memset(next, 0, ports * sizeof(*next));
		for (uint32_t a = 0; a < ports; a++)
			for (uint32_t b = 0; here[a] && b < ports; b++)
				next[b] |= reference_depends(ref, a, b);
		if (next[port])
			break;
		memcpy(here, next, ports * sizeof(*here));
	}
	free(here);
	free(next);
	return length;
}

/* The loops of one lane. */
static uint32_t compare_loops(const struct routing_result *result, const struct reference *ref,
			      uint8_t vl)
{
	const struct routing_credit *credit = &result->credit;
	uint32_t ports = fabric_ports(ref->fabric), loops = 0;
	bool *closure = reference_closure(ref);

	for (uint32_t p = 0; p < ports; p++) {
		uint32_t size = 0, inside = 0, shortest = UINT32_MAX;
		bool first = closure[p * ports + p], listed = false;

		for (uint32_t q = 0; q < ports && first; q++)
			if (closure[p * ports + q] && closure[q * ports + p] && q < p)
				first = false;
		if (!first)
			continue;
		loops++;
		for (uint32_t q = 0; q < ports; q++) {
			uint32_t length;

			if (!closure[p * ports + q] || !closure[q * ports + p])
				continue;
			size++;
			for (uint32_t z = 0; z < ports; z++)
				inside += closure[p * ports + z] && closure[z * ports + p] &&
					  reference_depends(ref, q, z);
			length = shortest_circle(ref, q);
			if (length < shortest)
				shortest = length;
		}
		for (uint32_t i = 0; i < credit->loop_count && !listed; i++) {
			const struct routing_credit_loop *loop = &credit->loops[i];
			const uint32_t *cycle = credit->cycles + loop->cycle_first;
			uint32_t port = result->channels[cycle[0]].port;

			if (loop->vl != vl || !closure[p * ports + port] ||
			    !closure[port * ports + p])
				continue;
			listed = true;
			assert_int_equal(loop->channels, size);
			assert_int_equal(loop->dependencies, inside);
			assert_int_equal(loop->cycle_length, shortest);
			assert_true(loop->shortest);
			for (uint32_t k = 0; k < loop->cycle_length; k++)
				assert_true(reference_depends(
					ref, result->channels[cycle[k]].port,
					result->channels[cycle[(k + 1) % loop->cycle_length]]
						.port));
		}
		assert_true(listed);
	}
	free(closure);
	return loops;
}

static void compare_credit(const struct routing_result *result, const struct reference *ref)
{
	const struct fabric *f = ref->fabric;
	uint32_t loops = compare_loops(result, ref, ROUTING_VL_ANY);
	uint64_t dependencies = 0;

	for (uint32_t p = 0; p < fabric_ports(f); p++) {
		uint32_t remote = fabric_link_port(f, p);

		if (remote != IBSM_NONE &&
		    fabric_node(f, fabric_port(f, remote)->node)->type == IBSM_NODE_SWITCH)
			dependencies += count_true(ref->loads[p].in, fabric_ports(f));
	}
	assert_int_equal(result->credit.loop_count, loops);
	assert_int_equal(result->credit.dependencies, dependencies);
	assert_int_equal(result->credit.state, loops ? ROUTING_CREDIT_LOOPS : ROUTING_CREDIT_FREE);
}

static void compare(const struct fabric *f, unsigned int threads, enum routing_tables tables,
		    const uint8_t *io_nodes)
{
	const struct routing_config config = {
		.threads = threads, .tables = tables, .io_nodes = io_nodes};
	_cleanup_(routing_result_freep) struct routing_result *result = NULL;
	_cleanup_(reference_freep) struct reference *ref = reference_new(f, tables, io_nodes, NULL);

	assert_int_equal(routing_analyze(f, &config, &result), 0);
	assert_int_equal(result->source_ports, ref->source_ports);
	compare_validity(&result->ends, &ref->ends);
	compare_validity(&result->to_switches, &ref->to_switches);
	compare_channels(result, ref);
	compare_faults(result, ref);
	/* The closure takes the cube of the ports. */
	if (fabric_ports(f) < 500)
		compare_credit(result, ref);
}

/* A few entries of good tables made bad: most destinations go the quick way, and some of them begin
 * on it. */
static void break_some(struct builder *b, uint64_t *seed)
{
	for (uint32_t n = build_random_below(seed, 8); n; n--) {
		struct build_node *node =
			&b->nodes[build_random_below(seed, (uint32_t)b->node_count)];
		uint32_t lid;

		if (!node->lft || !node->lft_lids)
			continue;
		lid = build_random_below(seed, node->lft_lids);
		node->lft[lid] =
			build_random_below(seed, 2)
				? (uint8_t)build_random_next(seed)
				: node->ports[build_random_below(seed, (uint32_t)node->port_count)]
					  .row.port;
	}
}

static void random_fabrics(uint64_t first, int count, bool routed, bool broken)
{
	for (uint64_t seed = first; seed < first + (uint64_t)count; seed++) {
		struct builder *b = build_random(seed, routed);
		_cleanup_(fabric_unrefp) struct fabric *f = NULL;
		uint64_t state = seed + 1;
		uint8_t io[64];

		if (broken)
			break_some(b, &state);
		for (size_t i = 0; i < sizeof(io); i++)
			io[i] = (uint8_t)build_random_below(&state, 2);
		f = build_fabric(b);
		build_free(b);
		compare(f, seed % 3 == 0 ? 3 : 1,
			seed % 2 ? ROUTING_ACKNOWLEDGED : ROUTING_COMPUTED, seed % 5 ? NULL : io);
	}
}

static void test_random_tables(void **state)
{
	(void)state;
	random_fabrics(1, 1500, false, false);
}

static void test_random_routed(void **state)
{
	(void)state;
	random_fabrics(10000, 1000, true, false);
}

static void test_random_broken(void **state)
{
	(void)state;
	random_fabrics(20000, 1500, true, true);
}

/* More switches than bits in a word, and one of them with more cables to others than that. */
static struct builder *build_large(uint64_t seed)
{
	struct builder *b = build_new();
	int switches = 70 + (int)build_random_below(&seed, 20);

	for (int i = 0; i < switches; i++)
		build_node(b, IBSM_NODE_SWITCH, 0x1000 + (uint64_t)i * 16, "switch", 120);
	for (int i = 1; i < switches; i++) {
		build_link(b, i, 1, 0, (uint8_t)i);
		build_link(b, i, 2, 1 + (int)build_random_below(&seed, (uint32_t)i),
			   (uint8_t)(10 + build_random_below(&seed, 20)));
		for (int n = (int)build_random_below(&seed, 3); n; n--) {
			int ca = build_node(b, IBSM_NODE_CA,
					    0x100000 + (uint64_t)b->node_count * 16, "ca", 1);

			build_link(b, ca, 1, i, (uint8_t)(100 + n));
		}
	}
	build_lids(b);
	build_route(b);
	build_settings(b);
	return b;
}

static void test_large(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct builder *b = build_large(seed * 977);
		_cleanup_(fabric_unrefp) struct fabric *f = NULL;
		uint64_t random = seed;

		for (int i = 0; i < (int)seed % 4 * 10; i++)
			break_some(b, &random);
		f = build_fabric(b);
		build_free(b);
		compare(f, 1 + seed % 2, ROUTING_ACKNOWLEDGED, NULL);
	}
}

/* A tree with several hundred hosts, some entries bad: sets of sources that came deep. */
static void test_broken_tree(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct builder *b = routing_build_tree3(seed % 2 ? 6 : 8, seed - 1);
		_cleanup_(fabric_unrefp) struct fabric *f = NULL;
		uint64_t random = seed;

		for (int i = 0; i < 3; i++)
			break_some(b, &random);
		f = build_fabric(b);
		build_free(b);
		compare(f, 2, ROUTING_ACKNOWLEDGED, NULL);
	}
}

/* Lanes by pair: three of them, at random. */
static uint8_t random_level(void *userdata, uint16_t slid, uint16_t dlid)
{
	(void)userdata;
	return (uint8_t)((slid * 7u + dlid * 13u) % 3);
}

static bool level_0(uint16_t slid, uint16_t dlid)
{
	return random_level(NULL, slid, dlid) == 0;
}

static bool level_1(uint16_t slid, uint16_t dlid)
{
	return random_level(NULL, slid, dlid) == 1;
}

static bool level_2(uint16_t slid, uint16_t dlid)
{
	return random_level(NULL, slid, dlid) == 2;
}

static void test_lanes(void **state)
{
	static bool (*const levels[])(uint16_t, uint16_t) = {level_0, level_1, level_2};
	static const uint8_t lanes[16] = {2, 0, 1};
	const struct routing_config config = {.path_sl = random_level, .sl_to_vl = lanes};
	uint32_t total = 0, free_of_loops = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct builder *b = build_random(seed, seed % 3 != 0);
		_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
		_cleanup_(routing_result_freep) struct routing_result *result = NULL;
		uint32_t loops = 0;

		build_free(b);
		assert_int_equal(routing_analyze(f, &config, &result), 0);
		for (size_t i = 0; i < ELEMENTSOF(levels); i++) {
			_cleanup_(reference_freep) struct reference *ref =
				reference_new(f, ROUTING_ACKNOWLEDGED, NULL, levels[i]);

			loops += compare_loops(result, ref, lanes[i]);
		}
		assert_int_equal(result->credit.loop_count, loops);
		assert_int_equal(result->credit.state,
				 loops ? ROUTING_CREDIT_LOOPS : ROUTING_CREDIT_FREE);
		total += loops;
		free_of_loops += !loops;
	}
	assert_true(total > 20 && free_of_loops > 20);
}

static struct routing_result *analyze(struct builder *b)
{
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	const struct routing_config config = {.threads = 2};
	struct routing_result *result = NULL;

	build_free(b);
	assert_int_equal(routing_analyze(f, &config, &result), 0);
	return result;
}

/* The figures of opensm's ftree as ibdmchk counts them. */
static void test_known_trees(void **state)
{
	static const struct {
		int k; /* 0: two levels of 18 */
		uint64_t hops[7];
		uint32_t lids_1, lids_half, lids_top; /* channels with so many LIDs */
		uint64_t max, cut;
	} trees[] = {
		{.k = 0, .hops = {[2] = 5508, [4] = 99144}, .max = 306, .cut = 306},
		{.k = 16,
		 .hops = {[2] = 7168, [4] = 57344, [6] = 983040},
		 .max = 1016,
		 .cut = 1016},
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(trees); i++) {
		int k = trees[i].k;
		_cleanup_(routing_result_freep) struct routing_result *r =
			analyze(k ? routing_build_tree3(k, 0) : build_tree2(18, 18, 18, 1));

		for (size_t hops = 0; hops < ELEMENTSOF(trees[i].hops); hops++)
			assert_int_equal(r->ends.hops[hops], trees[i].hops[hops]);
		assert_int_equal(r->ends.delivered, r->ends.pairs);
		assert_int_equal(r->to_switches.delivered, r->to_switches.pairs);
		assert_int_equal(r->ends.detours, 0);
		assert_int_equal(r->fault_count, 0);
		assert_int_equal(r->idle, 0);
		assert_int_equal(r->max_load, trees[i].max);
		assert_int_equal(r->cut.bound, trees[i].cut);
		assert_int_equal(r->bound, trees[i].cut);
		assert_true(r->shape.tree);
		assert_null(r->shape.not_tree);
		assert_int_equal(r->shape.ranks, k ? 3 : 2);
		assert_int_equal(r->shape.lateral, 0);
		assert_int_equal(r->shape.uneven, 0);
		if (k == 16) {
			uint32_t with[128] = {0};

			for (uint32_t c = 0; c < r->channel_count; c++)
				if (r->channels[c].direction != ROUTING_TO_END)
					with[r->channels[c].lids]++;
			assert_int_equal(with[1], 2048);
			assert_int_equal(with[15], 1024);
			assert_int_equal(with[127], 1024);
		}
	}
}

/* Storage on one leaf: even in all, but what goes there is not; and the bound for it. */
static void test_io(void **state)
{
	struct builder *b = build_tree2(6, 6, 6, 1);
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	_cleanup_(routing_result_freep) struct routing_result *r = NULL;
	_cleanup_(routing_result_freep) struct routing_result *none = NULL;
	uint8_t io[64] = {0};
	struct routing_config config = {.threads = 2};

	(void)state;
	/* Three of the first leaf's: swap ways, so that two of them come by one spine. */
	for (int leaf = 1; leaf < 6; leaf++) {
		uint8_t *lft = b->nodes[leaf].lft;
		uint16_t first = b->nodes[12].ports[0].row.lid;
		uint8_t way = lft[first + 1];

		lft[first + 1] = lft[first];
		lft[first] = way;
		lft[first + 2] = lft[first + 1];
	}
	f = build_fabric(b);
	build_free(b);
	for (uint32_t node = 12; node < 15; node++)
		io[node] = 1;
	assert_int_equal(routing_analyze(f, &config, &none), 0);
	assert_int_equal(none->io_load, 0);
	assert_int_equal(none->io_hottest, IBSM_NONE);
	config.io_nodes = io;
	assert_int_equal(routing_analyze(f, &config, &r), 0);
	assert_int_equal(r->io_load, 3 * 30 * 2);
	assert_int_equal(r->io_max_load, 60);
	assert_int_equal(r->io_cut.bound, 15);
	assert_int_equal(r->io_cut.node, 0);
	assert_int_equal(r->cut.bound, 30);
	assert_int_equal(fabric_port(f, r->channels[r->io_hottest].remote)->node, 0);
}

/* Groups add up, and their figures are those of their channels. */
static void test_groups(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct builder *b = seed % 2 ? build_random(seed, true)
					     : build_tree2(4, 3, 4, 1 + (int)seed % 3);
		_cleanup_(routing_result_freep) struct routing_result *r = NULL;
		uint64_t levels = 0;
		uint32_t channels = 0;

		if (seed % 2 == 0)
			build_unlink(b, (int)seed % 4, 5);
		build_route(b);
		r = analyze(b);
		for (uint32_t i = 0; i < r->group_count; i++) {
			const struct routing_group *group = &r->groups[i];
			uint64_t pairs = 0, max = 0, min = UINT64_MAX;
			uint32_t count = 0, idle = 0;

			for (uint32_t c = 0; c < r->channel_count; c++) {
				const struct routing_channel *ch = &r->channels[c];
				uint32_t from = fabric_port(r->fabric, ch->port)->node;
				uint32_t to = fabric_port(r->fabric, ch->remote)->node;

				if (!ch->usable || ch->direction == ROUTING_TO_END || from == to)
					continue;
				if (group->kind == ROUTING_GROUP_NEIGHBOURS
					    ? from != group->node || to != group->peer
					    : ch->direction != group->direction ||
						      (group->kind == ROUTING_GROUP_LEVEL
							       ? ch->rank != group->rank
							       : from != group->node))
					continue;
				count++;
				idle += ch->pairs == 0;
				pairs += ch->pairs;
				max = ch->pairs > max ? ch->pairs : max;
				min = ch->pairs < min ? ch->pairs : min;
			}
			assert_int_equal(group->channels, count);
			assert_int_equal(group->idle, idle);
			assert_int_equal(group->pairs, pairs);
			assert_int_equal(group->max, max);
			assert_int_equal(group->min, min);
			assert_int_equal(group->bound, count ? (pairs + count - 1) / count : 0);
			assert_int_equal(r->channels[group->hottest].pairs, max);
			assert_true(count > 1 || group->kind != ROUTING_GROUP_NEIGHBOURS);
			assert_true((group->deviation > 1e-6) == (max != min));
			if (group->kind == ROUTING_GROUP_LEVEL) {
				levels += pairs;
				channels += count;
			}
		}
		assert_int_equal(levels, r->load);
		assert_int_equal(channels, r->links);
	}
}

static void test_stop(void **state)
{
	struct builder *b = build_tree2(6, 6, 6, 1);
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	atomic_bool stop = true;
	const struct routing_config config = {.threads = 2, .stop = &stop};
	struct routing_result *r = NULL;

	(void)state;
	build_free(b);
	assert_int_equal(routing_analyze(f, &config, &r), -ECANCELED);
	assert_null(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_tables), cmocka_unit_test(test_random_routed),
		cmocka_unit_test(test_random_broken), cmocka_unit_test(test_large),
		cmocka_unit_test(test_broken_tree),   cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_known_trees),   cmocka_unit_test(test_io),
		cmocka_unit_test(test_groups),	      cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
