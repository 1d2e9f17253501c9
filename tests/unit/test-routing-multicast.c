// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Multicast trees against a flood from each member, and each way to be broken.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/routing-multicast.h"
#include "tests/lib/routing-build.h"

#define MLID 0xc010

static void set(struct routing_mft *entry, uint8_t port)
{
	entry->ports[port / 64] |= UINT64_C(1) << (port % 64);
}

static void unset(struct routing_mft *entry, uint8_t port)
{
	entry->ports[port / 64] &= ~(UINT64_C(1) << (port % 64));
}

/* Three leaves with two hosts each under two spines; the tree goes over the first spine. Entries:
 * the leaves, then the spine. All hosts are members. */
static struct builder *build(struct routing_mft entries[4])
{
	struct builder *b = build_tree2(3, 2, 2, 1);
	struct build_group *group = build_group(b, 0xff12401bffff0000, 0x10, MLID);

	for (size_t i = 0; i < b->node_count; i++)
		if (b->nodes[i].row.type == IBSM_NODE_CA)
			build_member(group, b->nodes[i].ports[0].row.port_guid);
	memset(entries, 0, 4 * sizeof(*entries));
	/* Rows stand by GUID, as the handles do. */
	for (uint32_t i = 0; i < 4; i++)
		entries[i] = (struct routing_mft){.node = i, .mlid = MLID};
	for (uint8_t leaf = 0; leaf < 3; leaf++) {
		set(&entries[leaf], 1);
		set(&entries[leaf], 2);
		set(&entries[leaf], 3);
		set(&entries[3], (uint8_t)(leaf + 1));
	}
	return b;
}

static struct routing_tree check(struct builder *b, const struct routing_mft *entries, size_t count)
{
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	_cleanup_(routing_trees_freep) struct routing_trees *trees = NULL;
	uint32_t broken = 0;

	assert_int_equal(routing_multicast(f, entries, count, &trees), 0);
	assert_int_equal(trees->tables, count > 0);
	for (uint32_t i = 0; i < trees->count; i++) {
		broken += routing_tree_broken(&trees->trees[i]);
		assert_true(i == 0 || trees->trees[i].mlid > trees->trees[i - 1].mlid);
	}
	assert_int_equal(trees->broken, count ? broken : 0);
	for (uint32_t i = 0; i < trees->count; i++)
		if (trees->trees[i].mlid == MLID)
			return trees->trees[i];
	fail();
	return (struct routing_tree){0};
}

static void test_good(void **state)
{
	struct routing_mft entries[4];
	struct builder *b = build(entries);
	struct routing_tree tree = check(b, entries, 4);

	(void)state;
	assert_false(routing_tree_broken(&tree));
	assert_int_equal(tree.members, 6);
	assert_int_equal(tree.reached, 6);
	assert_int_equal(tree.pieces, 1);
	assert_int_equal(tree.switches, 4);
	assert_int_equal(tree.cables, 3);
	assert_int_equal(tree.root, 3);
	assert_int_equal(tree.depth, 1);
	assert_int_equal(tree.groups, 1);
	assert_int_equal(tree.strays, 0);
	assert_int_equal(tree.missed_port, IBSM_NONE);
	/* Another group with the MLID, whose member is there already. */
	build_member(build_group(b, 0xff12401bffff0000, 0x11, MLID),
		     b->nodes[5].ports[0].row.port_guid);
	tree = check(b, entries, 4);
	assert_int_equal(tree.groups, 2);
	assert_int_equal(tree.members, 6);
	build_free(b);
}

static void test_no_tables(void **state)
{
	struct routing_mft entries[4];
	struct builder *b = build(entries);
	struct routing_tree tree = check(b, NULL, 0);

	(void)state;
	assert_int_equal(tree.members, 6);
	assert_int_equal(tree.reached, 0);
	build_free(b);
}

static void test_missed(void **state)
{
	struct routing_mft entries[4];
	struct builder *b = build(entries);
	struct routing_tree tree;

	(void)state;
	unset(&entries[1], 2);
	tree = check(b, entries, 4);
	assert_true(routing_tree_broken(&tree));
	assert_int_equal(tree.reached, 5);
	assert_int_not_equal(tree.missed_port, IBSM_NONE);
	/* It is send-only: it need not be reached. */
	for (size_t i = 0; i < b->group_count; i++)
		if (b->groups[i].row.mlid == MLID)
			b->groups[i].members[3].join_state = 4;
	tree = check(b, entries, 4);
	assert_false(routing_tree_broken(&tree));
	assert_int_equal(tree.members, 5);
	/* It has left: the entry is all that is left of it. */
	set(&entries[1], 2);
	tree = check(b, entries, 4);
	assert_false(routing_tree_broken(&tree));
	assert_int_equal(tree.strays, 1);
	build_free(b);
}

static void test_in_pieces(void **state)
{
	struct routing_mft entries[4];
	struct builder *b = build(entries);
	struct routing_tree tree;

	(void)state;
	unset(&entries[1], 3);
	unset(&entries[3], 2);
	tree = check(b, entries, 4);
	assert_true(routing_tree_broken(&tree));
	assert_int_equal(tree.reached, 4);
	assert_int_equal(tree.pieces, 2);
	assert_int_equal(tree.one_sided, 0);
	set(&entries[3], 2);
	tree = check(b, entries, 4);
	assert_int_equal(tree.one_sided, 1);
	assert_int_not_equal(tree.one_sided_port, IBSM_NONE);
	/* A port that is down cuts it, too. */
	set(&entries[1], 3);
	build_unlink(b, 1, 3);
	tree = check(b, entries, 4);
	assert_int_equal(tree.reached, 4);
	assert_int_equal(tree.dead, 2);
	build_free(b);
}

static void test_circle(void **state)
{
	struct routing_mft entries[5];
	struct builder *b = build(entries);
	struct routing_tree tree;

	(void)state;
	entries[4] = (struct routing_mft){.node = 4, .mlid = MLID};
	for (uint8_t leaf = 0; leaf < 2; leaf++) {
		set(&entries[leaf], 4);
		set(&entries[4], (uint8_t)(leaf + 1));
	}
	tree = check(b, entries, 5);
	assert_true(routing_tree_broken(&tree));
	assert_int_equal(tree.circles, 1);
	assert_int_not_equal(tree.circle_port, IBSM_NONE);
	assert_int_equal(tree.reached, 6);
	build_free(b);
}

static void test_bad_entry(void **state)
{
	struct builder *b = build_tree2(2, 1, 1, 1);
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	struct routing_trees *trees = NULL;
	struct routing_mft entry = {.node = 3, .mlid = MLID};

	(void)state;
	build_free(b);
	assert_int_equal(routing_multicast(f, &entry, 1, &trees), -EINVAL);
	entry.node = 99;
	assert_int_equal(routing_multicast(f, &entry, 1, &trees), -EINVAL);
	assert_null(trees);
}

/* Sends from one member; counts how often each port gets it. False: some switch got it twice. */
static bool flood(const struct fabric *f, const struct routing_mft *entries, size_t count,
		  uint32_t member, uint32_t *got)
{
	uint32_t queue[256], head = 0, tail = 0;
	bool entered[64] = {0};

	queue[tail++] = fabric_link_port(f, member);
	while (head < tail) {
		uint32_t in = queue[head++], node = fabric_port(f, in)->node;
		const struct ibsm_snap_node *row = fabric_node(f, node);

		if (entered[node])
			return false;
		entered[node] = true;
		for (size_t i = 0; i < count; i++)
			for (uint32_t p = row->first_port;
			     entries[i].node == node && p < row->first_port + row->ports; p++) {
				uint8_t number = fabric_port(f, p)->port;
				uint32_t remote = fabric_link_port(f, p);

				if (!(entries[i].ports[number / 64] >> (number % 64) & 1) ||
				    p == in || number == 0 || remote == IBSM_NONE)
					continue;
				got[remote]++;
				if (fabric_node(f, fabric_port(f, remote)->node)->type ==
				    IBSM_NODE_SWITCH)
					queue[tail++] = remote;
			}
	}
	return true;
}

/* Whether from each member each other one gets it once, and no switch twice. */
static bool floods_well(const struct fabric *f, const struct routing_mft *entries, size_t count,
			const uint32_t *members, size_t member_count)
{
	for (size_t i = 0; i < member_count; i++) {
		uint32_t got[512] = {0};
		uint32_t serving = fabric_link_port(f, members[i]);
		bool served = false;

		if (!flood(f, entries, count, members[i], got))
			return false;
		for (size_t k = 0; k < member_count; k++)
			if (k != i && got[members[k]] != 1)
				return false;
		/* Itself it would get from any other. */
		for (size_t k = 0; k < count; k++)
			served |= entries[k].node == fabric_port(f, serving)->node &&
				  entries[k].ports[0] >> fabric_port(f, serving)->port & 1;
		if (!served)
			return false;
	}
	return true;
}

/* Random trees on a fabric, with a few bits wrong. */
static void test_random(void **state)
{
	uint32_t good = 0, bad = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct builder *b = build_tree2(4, 3, 2, 1 + (int)(seed % 2));
		struct build_group *group = build_group(b, 0xff12401bffff0000, 0x10, MLID);
		struct routing_mft entries[7] = {0};
		uint32_t members[8], spine = (uint32_t)(seed % 3);
		_cleanup_(fabric_unrefp) struct fabric *f = NULL;
		_cleanup_(routing_trees_freep) struct routing_trees *trees = NULL;
		const struct routing_tree *tree = NULL;
		uint64_t random = seed;
		uint8_t links = 1 + (uint8_t)(seed % 2);
		size_t n = 0;
		bool well;

		for (size_t i = 7; i < b->node_count; i++)
			build_member(group, b->nodes[i].ports[0].row.port_guid);
		for (uint32_t i = 0; i < 7; i++)
			entries[i] = (struct routing_mft){.node = i, .mlid = MLID};
		for (uint8_t leaf = 0; leaf < 4; leaf++) {
			set(&entries[leaf], 1);
			set(&entries[leaf], 2);
			set(&entries[leaf], (uint8_t)(3 + spine * links));
			set(&entries[4 + spine], (uint8_t)(1 + leaf * links));
		}
		for (uint32_t wrong = build_random_below(&random, 4); wrong; wrong--)
			entries[build_random_below(&random, 7)].ports[0] ^=
				2u << build_random_below(&random, 8);
		f = build_fabric(b);
		build_free(b);
		for (uint32_t p = 0; p < fabric_ports(f); p++)
			if (fabric_node(f, fabric_port(f, p)->node)->type == IBSM_NODE_CA)
				members[n++] = p;
		well = floods_well(f, entries, 7, members, n);
		assert_int_equal(routing_multicast(f, entries, 7, &trees), 0);
		for (uint32_t i = 0; i < trees->count; i++)
			if (trees->trees[i].mlid == MLID)
				tree = &trees->trees[i];
		assert_non_null(tree);
		assert_int_equal(tree->members, 8);
		if (!routing_tree_broken(tree))
			assert_true(well);
		/* A circle, or an entry to one side, may lie where no member sends. */
		if (!well)
			assert_true(routing_tree_broken(tree));
		if (tree->reached < tree->members && !tree->one_sided)
			assert_false(well);
		good += well;
		bad += !well;
	}
	assert_true(good > 300 && bad > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),   cmocka_unit_test(test_no_tables),
		cmocka_unit_test(test_missed), cmocka_unit_test(test_in_pieces),
		cmocka_unit_test(test_circle), cmocka_unit_test(test_bad_entry),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
