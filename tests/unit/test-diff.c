// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The diff: each kind of change, and random changes against a plain comparison.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/diff.h"
#include "fabric/names.h"
#include "ibsm/wire.h"
#include "tests/lib/snapshot-build.h"

/* A fabric that changes: what the builder says now is compared with what it said before. */
struct watched {
	struct builder *b;
	struct fabric *old;
};

static struct watched watch(struct builder *b)
{
	return (struct watched){b, build_fabric(b)};
}

static struct fabric_changes *look(struct watched *w)
{
	struct fabric *new = build_fabric(w->b);
	struct fabric_changes *changes = NULL;

	assert_int_equal(fabric_diff(w->old, new, &changes), 0);
	/* Both fabrics go: changes outlive them. */
	fabric_unref(w->old);
	w->old = new;
	return changes;
}

/* "kind severity text\n", in order. */
static void expect(struct watched *w, const char *expected)
{
	_cleanup_(fabric_changes_freep) struct fabric_changes *changes = look(w);
	char text[8192] = "", line[FABRIC_CHANGE_TEXT_BYTES];
	size_t used = 0, total = 0;

	for (size_t i = 0; i < changes->count && used < sizeof(text); i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s %s: %s\n",
			changes->changes[i].flags & FABRIC_CHANGE_WITH_NODE ? "  " : "",
			fabric_change_kind_name(changes->changes[i].kind),
			fabric_severity_name(fabric_change_severity(&changes->changes[i])),
			fabric_change_text(&changes->changes[i], line, sizeof(line)));
	assert_string_equal(text, expected);
	for (size_t kind = 0; kind < FABRIC_CHANGE_KINDS; kind++)
		total += changes->by_kind[kind];
	assert_int_equal(total, changes->count);
}

static void unwatch(struct watched *w)
{
	fabric_unref(w->old);
	build_free(w->b);
}
#define _cleanup_watched_ _cleanup_(unwatch)

/* Handles: leaves 0, 1; spines 2, 3; hosts 4 … 7. LFT lines are left out by build_route() not being
 * called again. */
static struct watched tree(void)
{
	return watch(build_tree2(2, 2, 2, 1));
}

static void nothing(void **state)
{
	_cleanup_watched_ struct watched w = tree();

	(void)state;
	expect(&w, "");
}

static void first_seen(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 2, 1);
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	_cleanup_(fabric_changes_freep) struct fabric_changes *changes = NULL;
	char text[FABRIC_CHANGE_TEXT_BYTES];

	(void)state;
	build_engine(b, "ftree", IBSM_ENGINE_ASKED);
	build_engine(b, "minhop", IBSM_ENGINE_USED);
	build_new_lft(b, 1)[3] ^= 1;
	f = build_fabric(b);
	assert_int_equal(fabric_diff(NULL, f, &changes), 0);
	assert_int_equal(changes->count, 3);
	assert_string_equal(
		fabric_change_text(&changes->changes[0], text, sizeof(text)),
		"fabric seen for the first time: 4 switches, 4 CAs, 0 routers, 8 links");
	assert_int_equal(changes->changes[1].kind, FABRIC_CHANGE_ROUTING_FELL_BACK);
	assert_int_equal(changes->changes[2].kind, FABRIC_CHANGE_LFT_MISMATCH);
}

static void a_cable_pulled_and_put_back(void **state)
{
	_cleanup_watched_ struct watched w = tree();

	(void)state;
	build_unlink(w.b, 0, 3);
	expect(&w, "link-removed warning: link leaf00-00[3] – spine000[1] is gone\n");
	build_link(w.b, 0, 3, 2, 1);
	expect(&w, "link-added notice: link leaf00-00[3] – spine000[1] is new\n");
	/* The switch's end is named first. */
	build_unlink(w.b, 4, 1);
	expect(&w, "link-removed warning: link leaf00-00[1] – node00000 HCA-1[1] is gone\n");
}

static void cables_moved(void **state)
{
	_cleanup_watched_ struct watched w = tree();

	(void)state;
	build_link(w.b, 0, 3, 2, 8);
	expect(&w,
	       "link-moved notice: link of leaf00-00[3] moved from spine000[1] to spine000[8]\n");
	/* Two cables swapped: two moves, nothing lost. */
	build_link(w.b, 0, 3, 3, 1);
	build_link(w.b, 0, 4, 2, 8);
	expect(&w,
	       "link-moved notice: link of leaf00-00[3] moved from spine000[8] to spine001[1]\n"
	       "link-moved notice: link of leaf00-00[4] moved from spine001[1] to spine000[8]\n");
	/* A host to another leaf's port: what stayed is the host. */
	build_unlink(w.b, 4, 1);
	build_link(w.b, 4, 1, 1, 9);
	expect(&w, "link-moved notice: link of node00000 HCA-1[1] moved from leaf00-00[1] to "
		   "leaf01-00[9]\n");
	/* One cable takes the place of another: one moved, one is gone. */
	build_link(w.b, 0, 3, 1, 3);
	expect(&w,
	       "link-removed warning: link leaf01-00[3] – spine000[2] is gone\n"
	       "link-moved notice: link of leaf00-00[3] moved from spine001[1] to leaf01-00[3]\n");
}

static void nodes_come_and_go(void **state)
{
	_cleanup_watched_ struct watched w = tree();

	(void)state;
	build_remove(w.b, 2);
	expect(&w, "node-removed warning: switch spine000 is gone, with 2 links\n"
		   "  link-removed info: link leaf00-00[3] – spine000[1] is gone\n"
		   "  link-removed info: link leaf01-00[3] – spine000[2] is gone\n");
	build_restore(w.b, 2);
	build_link(w.b, 2, 1, 0, 3);
	build_link(w.b, 2, 2, 1, 3);
	build_unlink(w.b, 3, 1);
	expect(&w, "node-added notice: switch spine000 is new, with 2 links\n"
		   "link-removed warning: link leaf00-00[4] – spine001[1] is gone\n"
		   "  link-added info: link leaf00-00[3] – spine000[1] is new\n"
		   "  link-added info: link leaf01-00[3] – spine000[2] is new\n");
	/* An HCA exchanged is another node, not a cable moved. */
	build_node(w.b, IBSM_NODE_CA, 0x400000, "other HCA-1", 1);
	build_remove(w.b, 7);
	build_link(w.b, 8, 1, 1, 2);
	expect(&w, "node-removed warning: ca node00003 HCA-1 is gone, with 1 link\n"
		   "node-added notice: ca other HCA-1 is new, with 1 link\n"
		   "  link-removed info: link leaf01-00[2] – node00003 HCA-1[1] is gone\n"
		   "  link-added info: link leaf01-00[2] – other HCA-1[1] is new\n");
}

static void absent_nodes_are_gone(void **state)
{
	_cleanup_watched_ struct watched w = tree();

	(void)state;
	w.b->nodes[4].row.present = 0;
	expect(&w, "node-removed warning: ca node00000 HCA-1 is gone, with 1 link\n"
		   "  link-removed info: link leaf00-00[1] – node00000 HCA-1[1] is gone\n");
	w.b->nodes[4].row.present = 1;
	expect(&w, "node-added notice: ca node00000 HCA-1 is new, with 1 link\n"
		   "  link-added info: link leaf00-00[1] – node00000 HCA-1[1] is new\n");
}

static void set_both(struct watched *w, int a, uint8_t pa, int c, uint8_t pc,
		     void (*set)(struct ibsm_snap_port *port, uint8_t value), uint8_t value)
{
	set(&build_port(w->b, a, pa)->row, value);
	set(&build_port(w->b, c, pc)->row, value);
}

static void set_width(struct ibsm_snap_port *port, uint8_t value)
{
	port->width_active = value;
}

static void set_speed(struct ibsm_snap_port *port, uint8_t value)
{
	port->speed_ext_active = value;
}

static void set_state(struct ibsm_snap_port *port, uint8_t value)
{
	port->state = value;
}

static void widths_speeds_states(void **state)
{
	_cleanup_watched_ struct watched w = tree();

	(void)state;
	set_both(&w, 0, 3, 2, 1, set_width, 1);
	set_both(&w, 0, 4, 3, 1, set_speed, 1);
	expect(&w, "link-width warning: link leaf00-00[3] – spine000[1] changed its width from 4x "
		   "to 1x\n"
		   "link-speed warning: link leaf00-00[4] – spine001[1] changed its speed from EDR "
		   "to FDR\n");
	set_both(&w, 0, 3, 2, 1, set_width, 2);
	set_both(&w, 0, 4, 3, 1, set_speed, 4);
	expect(&w, "link-width notice: link leaf00-00[3] – spine000[1] changed its width from 1x "
		   "to 4x\n"
		   "link-speed notice: link leaf00-00[4] – spine001[1] changed its speed from FDR "
		   "to HDR\n");
	/* 2x and 4x compare by lanes, not by code. */
	set_both(&w, 0, 3, 2, 1, set_width, 16);
	expect(&w, "link-width warning: link leaf00-00[3] – spine000[1] changed its width from 4x "
		   "to 2x\n");
	set_both(&w, 0, 3, 2, 1, set_state, 2);
	expect(&w,
	       "port-state warning: link leaf00-00[3] – spine000[1] went from active to init\n");
	set_both(&w, 0, 3, 2, 1, set_state, 4);
	expect(&w, "port-state notice: link leaf00-00[3] – spine000[1] went from init to active\n");
	/* Only the far end saw it: it is named first. */
	build_port(w.b, 2, 1)->row.state = 3;
	expect(&w,
	       "port-state warning: link spine000[1] – leaf00-00[3] went from active to armed\n");
	/* A port without a neighbour. */
	build_port(w.b, 0, 9);
	expect(&w, "");
	build_port(w.b, 0, 9)->row.state = 2;
	expect(&w, "port-state notice: port leaf00-00[9] went from down to init\n");
	/* 0 is not known: nothing to tell. */
	build_port(w.b, 0, 9)->row.state = 0;
	set_both(&w, 0, 3, 2, 1, set_width, 0);
	expect(&w, "");
}

static void lids_and_names(void **state)
{
	_cleanup_watched_ struct watched w = tree();

	(void)state;
	build_lid(w.b, 4, 1, 40, 0);
	build_lid(w.b, 0, 0, 41, 0);
	expect(&w, "lid notice: leaf00-00[0] changed its LID from 1 to 41\n"
		   "lid notice: node00000 HCA-1[1] changed its LID from 5 to 40\n");
	build_lid(w.b, 4, 1, 40, 3);
	expect(&w, "lmc notice: node00000 HCA-1[1] changed its LMC from 0 to 3\n");
	memcpy(w.b->nodes[4].row.description, "renamed\x1b", 9);
	memset(w.b->nodes[4].row.description + 8, 0, IBSM_DESCRIPTION_BYTES - 8);
	expect(&w, "node-renamed info: ca node00000 HCA-1 was renamed to renamed\\x1b\n");
}

static void sms(void **state)
{
	_cleanup_watched_ struct watched w = tree();
	uint64_t self = w.b->sms[0].port_guid, other = w.b->sms[1].port_guid;

	(void)state;
	build_sm(w.b, self, 3, 12, true);
	build_sm(w.b, other, 0, 5, false);
	expect(&w, "sm-state notice: SM at node00001 HCA-1[1] went from standby to not-active\n"
		   "sm-priority notice: SM at node00000 HCA-1[1] changed its priority from 14 to "
		   "12\n");
	w.b->sm_count = 1;
	build_sm(w.b, 0xabc, 2, 1, false);
	expect(&w, "sm-appeared notice: SM at port 0x0000000000000abc appeared, state standby\n"
		   "sm-disappeared warning: SM at node00001 HCA-1[1] is gone, its state was "
		   "not-active\n");
}

static void engines(void **state)
{
	_cleanup_watched_ struct watched w = tree();

	(void)state;
	build_engine(w.b, "ftree", IBSM_ENGINE_ASKED | IBSM_ENGINE_LOADED);
	build_engine(w.b, "minhop", IBSM_ENGINE_LOADED | IBSM_ENGINE_DEFAULT | IBSM_ENGINE_USED);
	expect(&w, "routing-engine notice: routing engine changed from ftree to minhop\n"
		   "routing-fell-back warning: routing fell back to minhop: every engine asked for "
		   "failed\n");
	build_engine(w.b, "minhop", IBSM_ENGINE_LOADED | IBSM_ENGINE_DEFAULT);
	expect(&w, "routing-engine warning: routing engine changed from minhop to none\n"
		   "routing-fall-back-over notice: routing is no longer a fallback: none\n");
	build_engine(w.b, "ftree", IBSM_ENGINE_ASKED | IBSM_ENGINE_LOADED | IBSM_ENGINE_USED);
	expect(&w, "routing-engine notice: routing engine changed from none to ftree\n");
}

static void lfts(void **state)
{
	_cleanup_watched_ struct watched w = {0};
	struct builder *b = build_tree2(2, 2, 2, 1);

	(void)state;
	for (int i = 0; i < 4; i++)
		memset(build_lft(b, i, 200), 1, 200);
	w = watch(b);
	b->nodes[0].lft[0] = 2;
	b->nodes[0].lft[63] = 2;
	b->nodes[0].lft[64] = 2;
	b->nodes[0].lft[199] = 2; /* in a block of 8 entries */
	b->nodes[3].lft[128] = 2;
	expect(&w, "lft info: LFT of leaf00-00 changed in 3 blocks, 4 LIDs\n"
		   "lft info: LFT of spine001 changed in 1 block, 1 LID\n");
	build_new_lft(b, 2)[5] = 9;
	build_new_lft(b, 2)[6] = 9;
	expect(&w,
	       "lft-mismatch warning: spine000 holds another LFT than opensm computed, in 2 LIDs "
	       "(0 before)\n");
	build_new_lft(b, 2)[6] = 1;
	expect(&w,
	       "lft-mismatch warning: spine000 holds another LFT than opensm computed, in 1 LID "
	       "(2 before)\n");
	free(b->nodes[2].new_lft);
	b->nodes[2].new_lft = NULL;
	expect(&w, "lft-mismatch-over notice: spine000 holds the LFT that opensm computed again\n");
	/* Longer: what is past the end was "no path". */
	memset(build_lft(b, 1, 300), 1, 300);
	expect(&w, "lft info: LFT of leaf01-00 changed in 2 blocks, 100 LIDs\n");
	/* Gone altogether. */
	free(b->nodes[1].lft);
	b->nodes[1].lft = NULL;
	expect(&w, "lft info: LFT of leaf01-00 changed in 5 blocks, 300 LIDs\n");
}

static void totals_of_lfts(void **state)
{
	_cleanup_watched_ struct watched w = tree();
	struct fabric_changes *changes;

	(void)state;
	w.b->nodes[0].lft[1] ^= 1;
	w.b->nodes[1].lft[2] ^= 1;
	changes = look(&w);
	assert_int_equal(changes->lft_blocks, 2);
	assert_int_equal(changes->lft_switches, 2);
	fabric_changes_free(changes);
}

static void options(void **state)
{
	_cleanup_watched_ struct watched w = tree();

	(void)state;
	build_option(w.b, "sweep_interval", IBSM_OPTION_INTEGER, 0, NULL);
	build_option(w.b, "routing_engine", IBSM_OPTION_STRING, 1, "updn");
	build_option(w.b, "sm_key", IBSM_OPTION_SECRET, 1, NULL);
	build_option(w.b, "aguid", IBSM_OPTION_BOOLEAN, 1, NULL);
	expect(&w, "option notice: option aguid changed from none to TRUE\n"
		   "option notice: option routing_engine changed from ftree to updn\n"
		   "option notice: option sm_key changed from default to set\n"
		   "option notice: option sweep_interval changed from 10 to 0\n");
	build_option(w.b, "routing_engine", IBSM_OPTION_STRING, 0, NULL);
	w.b->option_count--; /* the last by name */
	expect(&w, "option notice: option routing_engine changed from updn to (null)\n"
		   "option notice: option sweep_interval changed from 0 to none\n");
}

static void groups(void **state)
{
	_cleanup_watched_ struct watched w = tree();
	struct build_group *group = &w.b->groups[0];
	struct ibsm_snap_group_member member;

	(void)state;
	/* Another order is no change. */
	member = group->members[0];
	group->members[0] = group->members[3];
	group->members[3] = member;
	expect(&w, "");
	group->members[1].gid_guid = 0x77;
	expect(&w,
	       "group-members info: multicast group ff12:401b:ffff:0000:0000:0000:ffff:ffff (MLID "
	       "0xc000) went from 4 to 4 members, 2 joined or left\n");
	group->member_count = 1;
	expect(&w,
	       "group-members info: multicast group ff12:401b:ffff:0000:0000:0000:ffff:ffff (MLID "
	       "0xc000) went from 4 to 1 member, 3 joined or left\n");
	group->members[0].join_state = 2;
	expect(&w,
	       "group-members info: multicast group ff12:401b:ffff:0000:0000:0000:ffff:ffff (MLID "
	       "0xc000) went from 1 to 1 member, 2 joined or left\n");
	build_group(w.b, 0xff12401bffff0000, 1, 0xc001);
	expect(&w,
	       "group-added info: multicast group ff12:401b:ffff:0000:0000:0000:0000:0001 (MLID "
	       "0xc001) is new, with 0 members\n");
	free(w.b->groups[0].members);
	w.b->groups[0] = w.b->groups[1];
	w.b->group_count--;
	expect(&w,
	       "group-removed info: multicast group ff12:401b:ffff:0000:0000:0000:0000:0001 (MLID "
	       "0xc001) is gone\n");
}

static void partitions(void **state)
{
	_cleanup_watched_ struct watched w = tree();

	(void)state;
	w.b->partitions[0].members[1].full = 1;
	expect(&w, "partition-members info: partition Default (0x7fff) went from 4 to 4 members, 2 "
		   "joined or left\n");
	build_partition_member(build_partition(w.b, "jobs", 0x12), 0x300001, true);
	expect(&w, "partition-added notice: partition jobs (0x0012) is new, with 1 member\n");
	free(w.b->partitions[0].members);
	w.b->partitions[0] = w.b->partitions[1];
	w.b->partition_count--;
	expect(&w, "partition-removed warning: partition jobs (0x0012) is gone\n");
}

static void the_ends_of_a_change(void **state)
{
	_cleanup_watched_ struct watched w = tree();
	_cleanup_(fabric_changes_freep) struct fabric_changes *changes = NULL;
	const struct fabric_change *change;

	(void)state;
	build_unlink(w.b, 4, 1);
	changes = look(&w);
	change = &changes->changes[0];
	assert_int_equal(change->a.node_guid, 0x100000);
	assert_int_equal(change->a.port_guid, 0x100000);
	assert_int_equal(change->a.port, 1);
	assert_int_equal(change->a.lid, 1); /* the switch's */
	assert_int_equal(change->a.type, IBSM_NODE_SWITCH);
	assert_int_equal(change->b.node_guid, 0x300000);
	assert_int_equal(change->b.port_guid, 0x300001);
	assert_int_equal(change->b.port, 1);
	assert_int_equal(change->b.lid, 5);
	assert_int_equal(change->b.type, IBSM_NODE_CA);
	assert_null(change->c.name);
}

static void copies_and_appends(void **state)
{
	_cleanup_watched_ struct watched w = tree();
	_cleanup_(fabric_changes_freep) struct fabric_changes *changes = NULL;
	_cleanup_(fabric_changes_freep) struct fabric_changes *copy = NULL;
	char a[FABRIC_CHANGE_TEXT_BYTES], c[FABRIC_CHANGE_TEXT_BYTES];

	(void)state;
	build_remove(w.b, 2);
	build_option(w.b, "daemon", IBSM_OPTION_BOOLEAN, 1, NULL);
	changes = look(&w);
	assert_int_equal(changes->count, 4);
	assert_int_equal(fabric_changes_copy(changes, 2, &copy), 0);
	assert_int_equal(copy->count, 2);
	assert_int_equal(copy->by_kind[FABRIC_CHANGE_LINK_REMOVED], 2);
	assert_int_equal(fabric_changes_append(copy, changes, 100), 0);
	assert_int_equal(copy->count, 6);
	for (size_t i = 0; i < copy->count; i++) {
		const struct fabric_change *from = &changes->changes[i < 2 ? i : i - 2];

		assert_string_equal(fabric_change_text(&copy->changes[i], a, sizeof(a)),
				    fabric_change_text(from, c, sizeof(c)));
		if (from->a.name)
			assert_ptr_not_equal(copy->changes[i].a.name, from->a.name);
	}
	changes = fabric_changes_free(changes);
	assert_string_equal(fabric_change_text(&copy->changes[2], a, sizeof(a)),
			    "switch spine000 is gone, with 2 links");
	assert_int_equal(fabric_changes_append(copy, copy, 0), 0);
	assert_int_equal(copy->count, 6);
	assert_int_equal(strlen(fabric_change_text(&copy->changes[2], a, 10)), 9);
}

/* Tables that both snapshots share are skipped: told by what would otherwise be found. */
static void shared_tables_are_the_same(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 2, 1);
	_cleanup_(snapshot_unrefp) struct snapshot *first = build_snapshot(b, NULL, 0);
	_cleanup_(snapshot_unrefp) struct snapshot *second = NULL;
	_cleanup_(fabric_unrefp) struct fabric *old = NULL;
	_cleanup_(fabric_unrefp) struct fabric *new = NULL;
	_cleanup_(fabric_changes_freep) struct fabric_changes *changes = NULL;

	(void)state;
	build_option(b, "daemon", IBSM_OPTION_BOOLEAN, 1, NULL);
	second = build_snapshot(b, first, ~(1u << IBSM_TABLE_OPTIONS));
	assert_int_equal(second->tables_taken, IBSM_TABLE_MAX - 2);
	assert_int_equal(fabric_new(first, NULL, &old), 0);
	assert_int_equal(fabric_new(second, NULL, &new), 0);
	assert_int_equal(fabric_diff(old, new, &changes), 0);
	assert_int_equal(changes->count, 1);
	assert_int_equal(changes->changes[0].kind, FABRIC_CHANGE_OPTION);
}

static void all_kinds_have_names(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < FABRIC_CHANGE_KINDS; i++) {
		struct fabric_change change = {.kind = (enum fabric_change_kind)i};
		char text[FABRIC_CHANGE_TEXT_BYTES];

		assert_non_null(fabric_change_kind_name(change.kind));
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(
				fabric_change_kind_name(change.kind),
				fabric_change_kind_name((enum fabric_change_kind)j));
		assert_true(strlen(fabric_change_text(&change, text, sizeof(text))) > 0);
		assert_non_null(fabric_severity_name(fabric_change_severity(&change)));
	}
	assert_null(fabric_change_kind_name(FABRIC_CHANGE_KINDS));
}

/* ---- random changes against a plain comparison ---- */

static struct build_port *some_port(struct builder *b, uint64_t *seed)
{
	struct build_node *n = &b->nodes[build_random_below(seed, (uint32_t)b->node_count)];

	return n->port_count ? &n->ports[build_random_below(seed, (uint32_t)n->port_count)] : NULL;
}

static void change_nodes(struct builder *b, uint64_t *seed)
{
	int node = (int)build_random_below(seed, (uint32_t)b->node_count);

	switch (build_random_below(seed, 4)) {
	case 0:
		build_remove(b, node);
		break;
	case 1:
		for (size_t i = 0; i < b->node_count; i++)
			build_restore(b, (int)i);
		break;
	case 2:
		b->nodes[node].row.description[0] ^= 1;
		break;
	default:
		node = build_node(b, IBSM_NODE_SWITCH, build_random_next(seed) | 1, "new", 12);
		for (int i = 0; i < 3; i++)
			if (!b->nodes[i % (int)b->node_count].removed)
				build_link(b, node, (uint8_t)(i + 1), i % (int)b->node_count,
					   (uint8_t)(1 + build_random_below(seed, 2)));
		break;
	}
}

static void change_links(struct builder *b, uint64_t *seed)
{
	int a = (int)build_random_below(seed, (uint32_t)b->node_count);
	int c = (int)build_random_below(seed, (uint32_t)b->node_count);
	struct build_port *port = some_port(b, seed);
	uint8_t pa = (uint8_t)(1 + build_random_below(seed, b->nodes[a].row.num_ports));
	uint8_t pc = (uint8_t)(1 + build_random_below(seed, b->nodes[c].row.num_ports));

	switch (build_random_below(seed, 5)) {
	case 0:
		build_unlink(b, a, pa);
		break;
	case 1:
		if (!b->nodes[a].removed && !b->nodes[c].removed)
			build_link(b, a, pa, c, pc);
		break;
	case 2:
		if (port)
			port->row.width_active = (uint8_t)(1u << build_random_below(seed, 6));
		break;
	case 3:
		if (port)
			port->row.speed_ext_active = (uint8_t)(1u << build_random_below(seed, 6));
		break;
	default:
		if (port)
			port->row.state = (uint8_t)build_random_below(seed, 5);
		break;
	}
}

static void change_rest(struct builder *b, uint64_t *seed)
{
	struct build_node *n = &b->nodes[build_random_below(seed, (uint32_t)b->node_count)];

	switch (build_random_below(seed, 3)) {
	case 0:
		if (n->lft && n->lft_lids)
			n->lft[build_random_below(seed, n->lft_lids)] ^= 1;
		break;
	case 1:
		if (n->lft && n->lft_lids)
			build_new_lft(
				b, (int)(n - b->nodes))[build_random_below(seed, n->lft_lids)] ^= 1;
		break;
	default:
		if (n->port_count)
			n->ports[0].row.lid = (uint16_t)build_random_below(seed, 100);
		break;
	}
}

/* One end as "guid:port". */
struct place {
	uint64_t guid;
	unsigned int port;
};

static struct place place_of(const struct fabric *f, uint32_t port)
{
	return (struct place){fabric_node(f, fabric_port(f, port)->node)->node_guid,
			      fabric_port(f, port)->port};
}

static uint32_t find_place(const struct fabric *f, struct place place)
{
	for (uint32_t i = 0; i < fabric_ports(f); i++)
		if (fabric_port(f, i)->port == place.port &&
		    fabric_node(f, fabric_port(f, i)->node)->node_guid == place.guid &&
		    fabric_node(f, fabric_port(f, i)->node)->present)
			return i;
	return IBSM_NONE;
}

static bool has_node(const struct fabric *f, uint64_t guid)
{
	for (uint32_t i = 0; i < fabric_nodes(f); i++)
		if (fabric_node(f, i)->node_guid == guid && fabric_node(f, i)->present)
			return true;
	return false;
}

/* Whether the cable between the ports at `a` of one fabric is in the other, too. */
static bool has_link(const struct fabric *f, struct place x, struct place y)
{
	uint32_t a = find_place(f, x), b = find_place(f, y);

	return a != IBSM_NONE && b != IBSM_NONE && fabric_port(f, a)->remote == b &&
	       fabric_port(f, b)->remote == a;
}

static struct place end_place(const struct fabric_end *end)
{
	return (struct place){end->node_guid, end->port};
}

static size_t count_kind(const struct fabric_changes *c, enum fabric_change_kind kind,
			 uint64_t guid, unsigned int port)
{
	size_t count = 0;

	for (size_t i = 0; i < c->count; i++)
		count += c->changes[i].kind == kind && c->changes[i].a.node_guid == guid &&
			 (port == FABRIC_NO_PORT || c->changes[i].a.port == port);
	return count;
}

/* Cables of `f` that `other` does not have. */
static size_t missing_links(const struct fabric *f, const struct fabric *other)
{
	size_t count = 0;

	for (uint32_t a = 0; a < fabric_ports(f); a++)
		if (fabric_link_is_a(f, a))
			count += !has_link(other, place_of(f, a),
					   place_of(f, fabric_link_port(f, a)));
	return count;
}

static void check_nodes(const struct fabric *old, const struct fabric *new,
			const struct fabric_changes *c)
{
	size_t added = 0, removed = 0;

	for (uint32_t i = 0; i < fabric_nodes(new); i++) {
		uint64_t guid = fabric_node(new, i)->node_guid;
		bool came = fabric_node(new, i)->present && !has_node(old, guid);

		added += came;
		assert_int_equal(count_kind(c, FABRIC_CHANGE_NODE_ADDED, guid, FABRIC_NO_PORT),
				 came);
	}
	for (uint32_t i = 0; i < fabric_nodes(old); i++) {
		uint64_t guid = fabric_node(old, i)->node_guid;
		bool went = fabric_node(old, i)->present && !has_node(new, guid);

		removed += went;
		assert_int_equal(count_kind(c, FABRIC_CHANGE_NODE_REMOVED, guid, FABRIC_NO_PORT),
				 went);
	}
	assert_int_equal(c->by_kind[FABRIC_CHANGE_NODE_ADDED], added);
	assert_int_equal(c->by_kind[FABRIC_CHANGE_NODE_REMOVED], removed);
}

/* Each cable that went or came is in exactly one change, and each change is true. */
static void check_links(const struct fabric *old, const struct fabric *new,
			const struct fabric_changes *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct fabric_change *x = &c->changes[i];
		struct place a = end_place(&x->a), b = end_place(&x->b), d = end_place(&x->c);
		bool with_node = x->flags & FABRIC_CHANGE_WITH_NODE;

		if (x->kind == FABRIC_CHANGE_LINK_ADDED) {
			assert_true(has_link(new, a, b) && !has_link(old, a, b));
			assert_int_equal(with_node,
					 !has_node(old, a.guid) || !has_node(old, b.guid));
		} else if (x->kind == FABRIC_CHANGE_LINK_REMOVED) {
			assert_true(has_link(old, a, b) && !has_link(new, a, b));
			assert_int_equal(with_node,
					 !has_node(new, a.guid) || !has_node(new, b.guid));
		} else if (x->kind == FABRIC_CHANGE_LINK_MOVED) {
			assert_true(has_link(new, a, b) && !has_link(old, a, b));
			assert_true(has_link(old, a, d) && !has_link(new, a, d));
			assert_false(with_node);
		} else {
			assert_false(with_node);
		}
	}
	assert_int_equal(c->by_kind[FABRIC_CHANGE_LINK_ADDED] +
				 c->by_kind[FABRIC_CHANGE_LINK_MOVED],
			 missing_links(new, old));
	assert_int_equal(c->by_kind[FABRIC_CHANGE_LINK_REMOVED] +
				 c->by_kind[FABRIC_CHANGE_LINK_MOVED],
			 missing_links(old, new));
}

static bool differs(uint64_t old, uint64_t new)
{
	return old && new &&old != new;
}

/* How often a value of a cable that stayed must be told: once, unless its ends saw different
 * things. */
static size_t value_changes(uint64_t oa, uint64_t na, uint64_t ob, uint64_t nb, bool same_port)
{
	if (same_port)
		return differs(oa, na);
	if (oa == ob && na == nb)
		return differs(oa, na);
	return (size_t)differs(oa, na) + differs(ob, nb);
}

static void check_values(const struct fabric *old, const struct fabric *new,
			 const struct fabric_changes *c)
{
	size_t widths = 0, speeds = 0, states = 0, lids = 0;

	for (uint32_t n = 0; n < fabric_ports(new); n++) {
		uint32_t o = find_place(old, place_of(new, n)), m, p;
		const struct ibsm_snap_port *na = fabric_port(new, n), *oa, *nb, *ob;

		if (o == IBSM_NONE || !fabric_node(new, na->node)->present)
			continue;
		oa = fabric_port(old, o);
		lids += differs(oa->lid, na->lid);
		m = fabric_link_port(new, n);
		if (m == IBSM_NONE && fabric_link_port(old, o) == IBSM_NONE)
			states += differs(oa->state, na->state);
		if (!fabric_link_is_a(new, n) || !has_link(old, place_of(new, n), place_of(new, m)))
			continue;
		p = find_place(old, place_of(new, m));
		nb = fabric_port(new, m);
		ob = fabric_port(old, p);
		widths += value_changes(oa->width_active, na->width_active, ob->width_active,
					nb->width_active, n == m);
		speeds += value_changes(port_speed(oa), port_speed(na), port_speed(ob),
					port_speed(nb), n == m);
		states += value_changes(oa->state, na->state, ob->state, nb->state, n == m);
	}
	assert_int_equal(c->by_kind[FABRIC_CHANGE_LINK_WIDTH], widths);
	assert_int_equal(c->by_kind[FABRIC_CHANGE_LINK_SPEED], speeds);
	assert_int_equal(c->by_kind[FABRIC_CHANGE_PORT_STATE], states);
	assert_int_equal(c->by_kind[FABRIC_CHANGE_LID], lids);
}

static void check_lfts(const struct fabric *old, const struct fabric *new,
		       const struct fabric_changes *c)
{
	uint64_t blocks = 0;

	for (uint32_t n = 0; n < fabric_nodes(new); n++) {
		uint32_t o = fabric_node_by_guid(old, fabric_node(new, n)->node_guid);
		const struct ibsm_snap_switch *ns, *os;
		const uint8_t *nl, *ol;
		uint32_t last = IBSM_NONE;

		if (o == IBSM_NONE || !fabric_node_present(new, n) || !fabric_node_present(old, o))
			continue;
		ns = fabric_switch(new, n);
		os = fabric_switch(old, o);
		if (!ns || !os)
			continue;
		nl = snapshot_lft(new->snapshot, ns);
		ol = snapshot_lft(old->snapshot, os);
		for (uint32_t lid = 0; lid < 0xc000; lid++) {
			uint8_t x = nl && lid < ns->lft_lids ? nl[lid] : 255;
			uint8_t y = ol && lid < os->lft_lids ? ol[lid] : 255;

			if (x != y && last != lid / 64) {
				last = lid / 64;
				blocks++;
			}
		}
	}
	assert_int_equal(c->lft_blocks, blocks);
}

static void agrees_with_a_plain_comparison(void **state)
{
	size_t seen[FABRIC_CHANGE_KINDS] = {0};

	(void)state;
	for (uint64_t n = 1; n <= 500; n++) {
		_cleanup_(build_freep) struct builder *b = build_random(n, n % 2);
		_cleanup_(fabric_unrefp) struct fabric *old = build_fabric(b);
		uint64_t seed = n * 7919;

		for (int step = 0; step < 3; step++) {
			_cleanup_(fabric_changes_freep) struct fabric_changes *c = NULL;
			_cleanup_(fabric_changes_freep) struct fabric_changes *back = NULL;
			struct fabric *new;

			for (uint32_t i = build_random_below(&seed, 8); i; i--) {
				uint32_t what = build_random_below(&seed, 8);

				if (what == 0)
					change_nodes(b, &seed);
				else if (what < 6)
					change_links(b, &seed);
				else
					change_rest(b, &seed);
			}
			new = build_fabric(b);
			assert_int_equal(fabric_diff(old, new, &c), 0);
			check_nodes(old, new, c);
			check_links(old, new, c);
			check_values(old, new, c);
			check_lfts(old, new, c);
			/* The way back is as long. */
			assert_int_equal(fabric_diff(new, old, &back), 0);
			check_links(new, old, back);
			assert_int_equal(back->by_kind[FABRIC_CHANGE_NODE_ADDED],
					 c->by_kind[FABRIC_CHANGE_NODE_REMOVED]);
			for (size_t kind = 0; kind < FABRIC_CHANGE_KINDS; kind++)
				seen[kind] += c->by_kind[kind];
			fabric_unref(old);
			old = new;
		}
	}
	assert_true(seen[FABRIC_CHANGE_NODE_ADDED] > 50);
	assert_true(seen[FABRIC_CHANGE_NODE_REMOVED] > 50);
	assert_true(seen[FABRIC_CHANGE_LINK_ADDED] > 50);
	assert_true(seen[FABRIC_CHANGE_LINK_MOVED] > 50);
	assert_true(seen[FABRIC_CHANGE_LINK_REMOVED] > 50);
	assert_true(seen[FABRIC_CHANGE_LINK_WIDTH] > 50);
	assert_true(seen[FABRIC_CHANGE_LINK_SPEED] > 50);
	assert_true(seen[FABRIC_CHANGE_PORT_STATE] > 50);
	assert_true(seen[FABRIC_CHANGE_LID] > 50);
	assert_true(seen[FABRIC_CHANGE_LFT] > 50);
	assert_true(seen[FABRIC_CHANGE_LFT_MISMATCH] > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(first_seen),
		cmocka_unit_test(a_cable_pulled_and_put_back),
		cmocka_unit_test(cables_moved),
		cmocka_unit_test(nodes_come_and_go),
		cmocka_unit_test(absent_nodes_are_gone),
		cmocka_unit_test(widths_speeds_states),
		cmocka_unit_test(lids_and_names),
		cmocka_unit_test(sms),
		cmocka_unit_test(engines),
		cmocka_unit_test(lfts),
		cmocka_unit_test(totals_of_lfts),
		cmocka_unit_test(options),
		cmocka_unit_test(groups),
		cmocka_unit_test(partitions),
		cmocka_unit_test(the_ends_of_a_change),
		cmocka_unit_test(copies_and_appends),
		cmocka_unit_test(shared_tables_are_the_same),
		cmocka_unit_test(all_kinds_have_names),
		cmocka_unit_test(agrees_with_a_plain_comparison),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
