// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The fabric model: counts, look-ups, names, links, options, engines.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/fabric.h"
#include "fabric/names.h"
#include "ibsm/wire.h"
#include "tests/lib/fabric-walk.h"
#include "tests/lib/snapshot-build.h"

static void counts_a_tree(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(18, 18, 18, 1);
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	const struct fabric_counts *n = fabric_counts(f);

	(void)state;
	assert_int_equal(n->switches, 36);
	assert_int_equal(n->cas, 324);
	assert_int_equal(n->routers, 0);
	assert_int_equal(n->nodes, 360);
	assert_int_equal(n->links, 18 * 18 + 324);
	assert_int_equal(n->lids, 360);
	assert_int_equal(n->ports, 18 * 37 + 18 * 19 + 324);
	assert_int_equal(n->lid_conflicts, 0);
	assert_int_equal(n->lft_mismatches, 0);
	fabric_walk(f);
}

/* A CA, two switches with two cables between them, a loopback cable, a loopback plug. */
static struct builder *small(void)
{
	struct builder *b = build_new();
	int s1 = build_node(b, IBSM_NODE_SWITCH, 0x20, "switch", 8);
	int s2 = build_node(b, IBSM_NODE_SWITCH, 0x10, "switch", 8);
	int ca = build_node(b, IBSM_NODE_CA, 0x500, "host HCA-1", 2);
	int router = build_node(b, IBSM_NODE_ROUTER, 0x05, "", 1);

	build_link(b, s1, 1, s2, 1);
	build_link(b, s1, 2, s2, 2);
	build_link(b, s1, 3, s1, 4);
	build_link(b, s2, 5, s2, 5);
	build_link(b, ca, 2, s1, 7);
	build_link(b, router, 1, s2, 7);
	build_lid(b, s1, 0, 1, 0);
	build_lid(b, s2, 0, 2, 0);
	build_lid(b, ca, 2, 8, 2);
	build_settings(b);
	return b;
}

static void counts_links_once(void **state)
{
	_cleanup_(build_freep) struct builder *b = small();
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	const struct fabric_counts *n = fabric_counts(f);

	(void)state;
	assert_int_equal(n->switches, 2);
	assert_int_equal(n->cas, 1);
	assert_int_equal(n->routers, 1);
	assert_int_equal(n->links, 6);
	assert_int_equal(n->lids, 1 + 1 + 4);
	fabric_walk(f);
}

static void end_is(const struct fabric *f, uint32_t port, uint64_t guid, uint8_t number)
{
	assert_int_equal(fabric_node(f, fabric_port(f, port)->node)->node_guid, guid);
	assert_int_equal(fabric_port(f, port)->port, number);
}

static void walks_links_in_order(void **state)
{
	/* By the name and GUID of the `a` end: two switches of one name, 0x10 before 0x20. The
	 * switch goes before the CA, the smaller GUID before the greater one. */
	static const struct {
		uint64_t a, b;
		uint8_t port_a, port_b;
	} expected[] = {
		{0x10, 0x20, 1, 1}, {0x10, 0x20, 2, 2}, {0x10, 0x10, 5, 5},
		{0x10, 0x05, 7, 1}, {0x20, 0x20, 3, 4}, {0x20, 0x500, 7, 2},
	};
	_cleanup_(build_freep) struct builder *b = small();
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	struct fabric_link_iterator iterator = {0};
	struct fabric_link link;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(expected); i++) {
		assert_true(fabric_link_next(f, &iterator, &link));
		end_is(f, link.a, expected[i].a, expected[i].port_a);
		end_is(f, link.b, expected[i].b, expected[i].port_b);
		assert_true(fabric_link_is_a(f, link.a));
		if (link.a != link.b)
			assert_false(fabric_link_is_a(f, link.b));
	}
	assert_false(fabric_link_next(f, &iterator, &link));
	assert_false(fabric_link_next(f, &iterator, &link));
}

/* Rows of neighbouring nodes stand side by side: each cable is its own node's. */
static void links_of_neighbouring_rows(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_new();
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	struct fabric_link_iterator iterator = {0};
	struct fabric_link link;

	(void)state;
	for (uint64_t guid = 0x100; guid <= 0x500; guid += 0x100)
		build_node(b, IBSM_NODE_CA, guid, "ca", 1);
	build_port(b, 0, 1);
	build_link(b, 1, 1, 4, 1);
	build_link(b, 2, 1, 3, 1);
	f = build_fabric(b);
	assert_int_equal(fabric_counts(f)->links, 2);
	assert_true(fabric_link_next(f, &iterator, &link));
	end_is(f, link.a, 0x200, 1);
	end_is(f, link.b, 0x500, 1);
	assert_true(fabric_link_next(f, &iterator, &link));
	end_is(f, link.a, 0x300, 1);
	end_is(f, link.b, 0x400, 1);
	assert_false(fabric_link_next(f, &iterator, &link));
}

static void leaves_out_the_absent(void **state)
{
	_cleanup_(build_freep) struct builder *b = small();
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;

	(void)state;
	b->nodes[1].row.present = 0; /* the switch 0x10 */
	f = build_fabric(b);
	assert_int_equal(fabric_counts(f)->switches, 1);
	assert_int_equal(fabric_counts(f)->links, 2);
	assert_int_equal(fabric_counts(f)->lids, 5);
	assert_int_not_equal(fabric_node_by_guid(f, 0x10), IBSM_NONE);
	fabric_walk(f);
}

static void finds_by_guid_and_lid(void **state)
{
	_cleanup_(build_freep) struct builder *b = small();
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	uint32_t ca = fabric_node_by_guid(f, 0x500);
	uint32_t s2 = fabric_node_by_guid(f, 0x10);
	uint32_t port, matches;

	(void)state;
	assert_string_equal(fabric_node_name(f, ca), "host HCA-1");
	assert_int_equal(fabric_node_by_guid(f, 0x501), IBSM_NONE);
	/* Port GUIDs: a CA's port; a switch's port 0, not its external ones. */
	end_is(f, fabric_port_by_guid(f, 0x502), 0x500, 2);
	end_is(f, fabric_port_by_guid(f, 0x10), 0x10, 0);
	assert_int_equal(fabric_port_by_guid(f, 0x999), IBSM_NONE);
	/* All four LIDs of LMC 2, and no more. */
	for (uint16_t lid = 8; lid < 12; lid++)
		end_is(f, fabric_port_by_lid(f, lid), 0x500, 2);
	assert_int_equal(fabric_port_by_lid(f, 7), IBSM_NONE);
	assert_int_equal(fabric_port_by_lid(f, 12), IBSM_NONE);
	assert_int_equal(fabric_port_by_lid(f, 0), IBSM_NONE);
	assert_int_equal(fabric_port_by_lid(f, 0xffff), IBSM_NONE);
	end_is(f, fabric_port_by_lid(f, 2), 0x10, 0);
	assert_int_equal(fabric_node_lid(f, ca), 8);
	assert_int_equal(fabric_node_lid(f, s2), 2);
	assert_int_equal(fabric_node_lid(f, fabric_node_by_guid(f, 5)), 0);
	assert_int_equal(fabric_port_lid(f, fabric_node_port(f, s2, 5)), 2);
	assert_int_equal(fabric_node_port(f, s2, 3), IBSM_NONE);
	/* Any GUID. */
	assert_int_equal(fabric_node_by_any_guid(f, 0x500, &port, &matches), ca);
	assert_int_equal(matches, 1);
	assert_int_equal(fabric_node_by_any_guid(f, 0x502, &port, NULL), ca);
	end_is(f, port, 0x500, 2);
	assert_int_equal(fabric_node_by_any_guid(f, 0x100000500, &port, &matches), ca);
	assert_int_equal(port, IBSM_NONE);
	assert_int_equal(matches, 1);
	assert_int_equal(fabric_node_by_any_guid(f, 0x7777, NULL, &matches), IBSM_NONE);
	assert_int_equal(matches, 0);
	assert_int_equal(fabric_node_by_any_guid(f, 0, NULL, NULL), IBSM_NONE);
}

static void system_images_repeat(void **state)
{
	_cleanup_(build_freep) struct builder *b = small();
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	uint32_t matches;

	(void)state;
	b->nodes[0].row.system_image_guid = b->nodes[1].row.system_image_guid = 0xabc;
	f = build_fabric(b);
	assert_int_equal(fabric_node_by_any_guid(f, 0xabc, NULL, &matches),
			 fabric_node_by_guid(f, 0x10));
	assert_int_equal(matches, 2);
}

static void lid_conflicts(void **state)
{
	_cleanup_(build_freep) struct builder *b = small();
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;

	(void)state;
	/* The router claims two of the CA's LIDs, but SA does not know it; then a LID of no range.
	 */
	build_lid(b, 3, 1, 8, 1);
	build_port(b, 3, 1)->row.flags = 0;
	f = build_fabric(b);
	assert_int_equal(fabric_counts(f)->lid_conflicts, 2);
	assert_int_equal(fabric_counts(f)->lids, 6);
	end_is(f, fabric_port_by_lid(f, 8), 0x500, 2);
	fabric_unref(f);
	build_lid(b, 3, 1, 0xffff, 0);
	f = build_fabric(b);
	assert_int_equal(fabric_port_by_lid(f, 0xffff), IBSM_NONE);
	assert_int_equal(fabric_counts(f)->lids, 6);
	fabric_unref(f);
	/* A range that begins below the last unicast LID and ends past it. */
	build_lid(b, 3, 1, 0xbfff, 3);
	f = build_fabric(b);
	end_is(f, fabric_port_by_lid(f, 0xbfff), 0x05, 1);
	assert_int_equal(fabric_port_by_lid(f, 0xc000), IBSM_NONE);
}

static void names(void **state)
{
	static const char map_text[] = "0x20 \"spine\"\n0x5 \"rt\"\n";
	_cleanup_(build_freep) struct builder *b = small();
	_cleanup_(node_name_map_freep) struct node_name_map *map = NULL;
	_cleanup_(snapshot_unrefp) struct snapshot *s = NULL;
	_cleanup_(fabric_unrefp) struct fabric *plain = build_fabric(b);
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	const uint32_t *found;

	(void)state;
	assert_int_equal(node_name_map_parse(map_text, strlen(map_text), NULL, NULL, &map), 0);
	build_node(b, IBSM_NODE_CA, 0x600, "host HCA-2", 1);
	build_node(b, IBSM_NODE_CA, 0x700, "host", 1);
	build_node(b, IBSM_NODE_CA, 0x800, "hostile\x1b HCA-1", 1);
	build_node(b, IBSM_NODE_CA, 0x900, "host-x HCA-1  ", 1);
	s = build_snapshot(b, NULL, 0);
	assert_int_equal(fabric_new(s, map, &f), 0);
	/* No description: the GUID. */
	assert_string_equal(fabric_node_name(plain, fabric_node_by_guid(plain, 5)),
			    "0x0000000000000005");
	assert_string_equal(fabric_node_description(plain, fabric_node_by_guid(plain, 5)), "");
	/* A name from the map, the description beside it. */
	assert_string_equal(fabric_node_name(f, fabric_node_by_guid(f, 0x20)), "spine");
	assert_string_equal(fabric_node_description(f, fabric_node_by_guid(f, 0x20)), "switch");
	assert_string_equal(fabric_node_name(f, fabric_node_by_guid(f, 5)), "rt");
	assert_string_equal(fabric_node_name(f, fabric_node_by_guid(f, 0x800)),
			    "hostile\\x1b HCA-1");
	assert_string_equal(fabric_node_name(f, fabric_node_by_guid(f, 0x900)), "host-x HCA-1");
	/* Look-ups: whole names, repeated ones, first words. */
	assert_int_equal(fabric_nodes_by_name(plain, "switch", &found), 2);
	assert_int_equal(fabric_node(plain, found[0])->node_guid, 0x10);
	assert_int_equal(fabric_node(plain, found[1])->node_guid, 0x20);
	assert_int_equal(fabric_nodes_by_name(f, "switch", &found), 1);
	assert_int_equal(fabric_nodes_by_name(f, "host", &found), 1);
	assert_int_equal(fabric_node(f, found[0])->node_guid, 0x700);
	assert_int_equal(fabric_nodes_by_name(f, "hos", &found), 0);
	assert_int_equal(fabric_nodes_by_name(f, "zzz", &found), 0);
	assert_int_equal(fabric_nodes_by_first_word(f, "host", &found), 2);
	assert_int_equal(fabric_node(f, found[0])->node_guid, 0x500);
	assert_int_equal(fabric_node(f, found[1])->node_guid, 0x600);
	assert_int_equal(fabric_nodes_by_first_word(f, "host-x", &found), 1);
	assert_int_equal(fabric_nodes_by_first_word(f, "hos", &found), 0);
	assert_int_equal(fabric_nodes_by_first_word(f, "", &found), 0);
}

static void a_description_of_64_bytes(void **state)
{
	static const char text[] =
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	_cleanup_(build_freep) struct builder *b = build_new();
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;

	(void)state;
	build_node(b, IBSM_NODE_CA, 1, text, 1);
	memset(&b->nodes[0].row.description, 0xff, IBSM_DESCRIPTION_BYTES);
	build_node(b, IBSM_NODE_CA, 2, text, 1);
	f = build_fabric(b);
	assert_string_equal(fabric_node_name(f, 1), text);
	assert_int_equal(strlen(fabric_node_name(f, 0)), 4 * IBSM_DESCRIPTION_BYTES);
}

static void an_empty_fabric(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_new();
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);

	(void)state;
	assert_int_equal(fabric_counts(f)->nodes, 0);
	assert_null(fabric_engine_used(f));
	assert_null(fabric_own_sm(f));
	assert_null(fabric_option(f, "sweep_interval"));
	assert_false(fabric_routing_fell_back(f));
	fabric_walk(f);
}

static void asymmetric_remotes_are_no_links(void **state)
{
	_cleanup_(build_freep) struct builder *b = small();
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;

	(void)state;
	/* Port 6 of a switch still names the CA's port, whose own neighbour is another. */
	build_port(b, 0, 6)->remote_node = 2;
	build_port(b, 0, 6)->remote_port = 2;
	f = build_fabric(b);
	assert_int_equal(f->snapshot->warnings.asymmetric_remotes, 1);
	assert_int_equal(fabric_counts(f)->links, 6);
	assert_int_equal(fabric_link_port(f, fabric_node_port(f, fabric_node_by_guid(f, 0x20), 6)),
			 IBSM_NONE);
	fabric_walk(f);
}

static void options(void **state)
{
	static const struct {
		const char *name, *value;
	} expected[] = {{"sweep_interval", "10"},
			{"daemon", "FALSE"},
			{"guid", "0x0000000000000502"},
			{"routing_engine", "ftree"},
			{"sm_key", "default"},
			{"log_file", "(null)"},
			{"m_key", "set"},
			{"verbose", "TRUE"},
			{"odd", "a\\x1bb"}};
	_cleanup_(build_freep) struct builder *b = small();
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	char text[64];

	(void)state;
	build_option(b, "log_file", IBSM_OPTION_STRING, 0, NULL);
	build_option(b, "m_key", IBSM_OPTION_SECRET, 1, NULL);
	build_option(b, "verbose", IBSM_OPTION_BOOLEAN, 1, NULL);
	build_option(b, "odd", IBSM_OPTION_STRING, 1,
		     "a\x1b"
		     "b");
	f = build_fabric(b);
	for (size_t i = 0; i < ELEMENTSOF(expected); i++) {
		const struct ibsm_snap_option *option = fabric_option(f, expected[i].name);

		assert_non_null(option);
		assert_string_equal(fabric_option_format(f, option, text, sizeof(text)),
				    expected[i].value);
	}
	assert_null(fabric_option(f, ""));
	assert_null(fabric_option(f, "sweep"));
	assert_null(fabric_option(f, "zzz"));
	assert_string_equal(fabric_option_format(f, fabric_option(f, "guid"), text, 5), "0x00");
}

static void engines(void **state)
{
	_cleanup_(build_freep) struct builder *b = small();
	struct fabric *f;

	(void)state;
	f = build_fabric(b);
	assert_string_equal(fabric_engine_used(f), "ftree");
	assert_false(fabric_routing_fell_back(f));
	fabric_unref(f);
	build_engine(b, "ftree", IBSM_ENGINE_ASKED | IBSM_ENGINE_LOADED);
	build_engine(b, "minhop", IBSM_ENGINE_LOADED | IBSM_ENGINE_USED | IBSM_ENGINE_DEFAULT);
	f = build_fabric(b);
	assert_string_equal(fabric_engine_used(f), "minhop");
	assert_true(fabric_routing_fell_back(f));
	fabric_unref(f);
	/* minhop itself was asked for, second in line. */
	build_engine(b, "minhop", IBSM_ENGINE_ASKED | IBSM_ENGINE_USED);
	f = build_fabric(b);
	assert_false(fabric_routing_fell_back(f));
	fabric_unref(f);
	/* Nothing was asked for: the default is no fallback. */
	build_engine(b, "ftree", IBSM_ENGINE_LOADED);
	build_engine(b, "minhop", IBSM_ENGINE_USED | IBSM_ENGINE_DEFAULT);
	f = build_fabric(b);
	assert_false(fabric_routing_fell_back(f));
	fabric_unref(f);
	/* All failed. */
	build_engine(b, "ftree", IBSM_ENGINE_ASKED);
	build_engine(b, "minhop", 0);
	f = build_fabric(b);
	assert_null(fabric_engine_used(f));
	assert_false(fabric_routing_fell_back(f));
	fabric_unref(f);
}

static void lft_mismatches(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 3, 1);
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	uint8_t *computed;

	(void)state;
	computed = build_new_lft(b, 1);
	computed[2] ^= 1;
	computed[5] = 255;
	b->nodes[1].switch_row.lft_top = 4;
	f = build_fabric(b);
	assert_int_equal(fabric_counts(f)->lft_mismatches, 1);
	assert_int_equal(fabric_lft_mismatch(f, fabric_switch(f, 1)), 2);
	assert_int_equal(fabric_lft_mismatch(f, fabric_switch(f, 0)), 0);
	assert_int_equal(fabric_lft_entries(f, fabric_switch(f, 0)), 10);
	/* Up to LinearFDBTop. */
	assert_int_equal(fabric_lft_entries(f, fabric_switch(f, 1)), 4);
	assert_null(fabric_switch(f, 9));
}

static void own_sm(void **state)
{
	_cleanup_(build_freep) struct builder *b = small();
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);

	(void)state;
	assert_int_equal(fabric_own_sm(f)->port_guid, 0x502);
	assert_int_equal(fabric_own_sm(f)->priority, 14);
	assert_int_equal(fabric_port(f, fabric_own_sm(f)->port)->lid, 8);
}

/* Look-ups on random fabrics against the plainest searches. */
static void agrees_with_plain_searches(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		_cleanup_(build_freep) struct builder *b = build_random(seed, seed % 2);
		_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
		uint32_t links = 0;

		fabric_walk(f);
		for (uint32_t lid = 0; lid < 300; lid++) {
			uint32_t expected = IBSM_NONE;

			for (uint32_t i = fabric_ports(f); i-- > 0;) {
				const struct ibsm_snap_port *p = fabric_port(f, i);
				bool end = p->port == 0 || fabric_node(f, p->node)->type != 2;

				if (end && p->lid && lid >= p->lid && lid < p->lid + (1u << p->lmc))
					expected = i;
			}
			assert_int_equal(fabric_port_by_lid(f, (uint16_t)lid), expected);
		}
		for (uint32_t a = 0; a < fabric_ports(f); a++)
			for (uint32_t c = a; c < fabric_ports(f); c++)
				links += fabric_port(f, a)->remote == c &&
					 fabric_port(f, c)->remote == a &&
					 fabric_node_present(f, fabric_port(f, a)->node) &&
					 fabric_node_present(f, fabric_port(f, c)->node);
		assert_int_equal(fabric_counts(f)->links, links);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_a_tree),
		cmocka_unit_test(counts_links_once),
		cmocka_unit_test(walks_links_in_order),
		cmocka_unit_test(links_of_neighbouring_rows),
		cmocka_unit_test(leaves_out_the_absent),
		cmocka_unit_test(finds_by_guid_and_lid),
		cmocka_unit_test(system_images_repeat),
		cmocka_unit_test(lid_conflicts),
		cmocka_unit_test(names),
		cmocka_unit_test(a_description_of_64_bytes),
		cmocka_unit_test(an_empty_fabric),
		cmocka_unit_test(asymmetric_remotes_are_no_links),
		cmocka_unit_test(options),
		cmocka_unit_test(engines),
		cmocka_unit_test(lft_mismatches),
		cmocka_unit_test(own_sm),
		cmocka_unit_test(agrees_with_plain_searches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
