// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Puts each MLID's entries together as a graph of switches, and looks for pieces and circles.
#include "routing-multicast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_RECEIVES 3 /* full or non member */

struct checker {
	const struct fabric *fabric;
	const struct routing_mft *entries; /* of one MLID */
	uint32_t count;
	uint32_t *at;	   /* by node: place in entries; IBSM_NONE */
	uint32_t *parent;  /* by place: pieces */
	uint32_t *members; /* by place: of the piece whose root it is */
	uint32_t *distance;
	uint32_t *queue;
	uint8_t *is_member;   /* by PORTS row: 1 receives, 2 and was visited */
	uint32_t *next_group; /* by group: the next with its MLID; IBSM_NONE */
};

static bool has_port(const struct routing_mft *entry, uint8_t port)
{
	return entry->ports[port / 64] >> (port % 64) & 1;
}

static int compare_entries(const void *a, const void *b)
{
	const struct routing_mft *x = a, *y = b;

	if (x->mlid != y->mlid)
		return x->mlid < y->mlid ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static uint32_t find(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

/* The neighbour of a switch's port that carries data, or IBSM_NONE. */
static uint32_t neighbour(const struct fabric *f, uint32_t port)
{
	const struct ibsm_snap_port *row = fabric_port(f, port);
	uint32_t remote = fabric_link_port(f, port);

	if (remote == IBSM_NONE || (row->state != 4 && row->state != 0) ||
	    !fabric_node_present(f, fabric_port(f, remote)->node))
		return IBSM_NONE;
	return remote;
}

/* Where a switch's entry for this port leads to the entry of another switch that leads back: its
 * place, else IBSM_NONE. */
static uint32_t tree_neighbour(const struct checker *c, uint32_t place, uint32_t port)
{
	const struct fabric *f = c->fabric;
	uint32_t remote, other;

	if (!has_port(&c->entries[place], fabric_port(f, port)->port))
		return IBSM_NONE;
	remote = neighbour(f, port);
	if (remote == IBSM_NONE)
		return IBSM_NONE;
	other = c->at[fabric_port(f, remote)->node];
	return other != IBSM_NONE && has_port(&c->entries[other], fabric_port(f, remote)->port) &&
			       neighbour(f, remote) != IBSM_NONE
		       ? other
		       : IBSM_NONE;
}

/* One port of a switch's entry. */
static void look_at_port(struct checker *c, struct routing_tree *tree, uint32_t place,
			 uint32_t port)
{
	const struct fabric *f = c->fabric;
	uint32_t remote = neighbour(f, port), other;

	if (fabric_port(f, port)->port == 0) {
		tree->strays += !c->is_member[port];
		return;
	}
	if (remote == IBSM_NONE ||
	    (fabric_node(f, fabric_port(f, remote)->node)->type == IBSM_NODE_SWITCH &&
	     c->at[fabric_port(f, remote)->node] == IBSM_NONE)) {
		tree->dead++;
		return;
	}
	if (fabric_node(f, fabric_port(f, remote)->node)->type != IBSM_NODE_SWITCH) {
		tree->strays += !c->is_member[remote];
		return;
	}
	other = tree_neighbour(c, place, port);
	if (other == IBSM_NONE) {
		tree->one_sided++;
		if (tree->one_sided_port == IBSM_NONE)
			tree->one_sided_port = port;
		return;
	}
	/* Each cable from its first end only. */
	if (port > remote)
		return;
	tree->cables++;
	place = find(c->parent, place);
	other = find(c->parent, other);
	if (place == other) {
		tree->circles++;
		if (tree->circle_port == IBSM_NONE)
			tree->circle_port = port;
	} else if (place < other) {
		c->parent[other] = place;
	} else {
		c->parent[place] = other;
	}
}

/* The place of the entry that hands packets to a member, or IBSM_NONE. */
static uint32_t served_by(const struct checker *c, uint32_t port)
{
	const struct fabric *f = c->fabric;
	uint32_t at;

	if (fabric_node(f, fabric_port(f, port)->node)->type != IBSM_NODE_SWITCH) {
		port = fabric_link_port(f, port);
		if (neighbour(f, port) == IBSM_NONE)
			return IBSM_NONE;
	}
	at = c->at[fabric_port(f, port)->node];
	return at != IBSM_NONE && has_port(&c->entries[at], fabric_port(f, port)->port) ? at
											: IBSM_NONE;
}

/* Breadth first from a place. Returns the last one reached, and how far it is. */
static uint32_t farthest(struct checker *c, uint32_t start, uint32_t *ret_distance)
{
	const struct fabric *f = c->fabric;
	uint32_t tail = 0, place = start;

	memset(c->distance, 0xff, c->count * sizeof(*c->distance));
	c->distance[start] = 0;
	c->queue[tail++] = start;
	for (uint32_t head = 0; head < tail; head++) {
		const struct ibsm_snap_node *node = fabric_node(f, c->entries[c->queue[head]].node);

		place = c->queue[head];
		for (uint32_t i = 0; i < node->ports; i++) {
			uint32_t other = fabric_port(f, node->first_port + i)->port
						 ? tree_neighbour(c, place, node->first_port + i)
						 : IBSM_NONE;

			if (other == IBSM_NONE || c->distance[other] != IBSM_NONE)
				continue;
			c->distance[other] = c->distance[place] + 1;
			c->queue[tail++] = other;
		}
	}
	*ret_distance = c->distance[place];
	return place;
}

/* The middle of a piece: half way between the two ends of its longest way (exact in a tree). */
static void find_root(struct checker *c, struct routing_tree *tree, uint32_t start)
{
	const struct fabric *f = c->fabric;
	uint32_t length, at = farthest(c, start, &length);
	uint32_t end = farthest(c, at, &length);

	at = end;
	for (uint32_t steps = length / 2; steps > 0; steps--) {
		const struct ibsm_snap_node *node = fabric_node(f, c->entries[at].node);

		for (uint32_t i = 0; i < node->ports; i++) {
			uint32_t other = fabric_port(f, node->first_port + i)->port
						 ? tree_neighbour(c, at, node->first_port + i)
						 : IBSM_NONE;

			if (other != IBSM_NONE && c->distance[other] + 1 == c->distance[at]) {
				at = other;
				break;
			}
		}
	}
	tree->root = c->entries[at].node;
	farthest(c, at, &tree->depth);
}

/* Members of the groups with this MLID into is_member; or out of it. */
static void mark_members(struct checker *c, const struct routing_tree *tree, bool member)
{
	const struct snapshot *s = c->fabric->snapshot;

	for (uint32_t i = tree->group; i != IBSM_NONE; i = c->next_group[i]) {
		const struct ibsm_snap_group *group = snapshot_group(s, i);

		for (uint32_t m = 0; m < group->members; m++) {
			const struct ibsm_snap_group_member *row =
				snapshot_group_member(s, group->first_member + m);

			if (row->port != IBSM_NONE && row->join_state & JOIN_RECEIVES)
				c->is_member[row->port] = member;
		}
	}
}

/* A member that is there: an end port with a cable, or a switch itself. */
static bool is_linked(const struct fabric *f, uint32_t port)
{
	uint32_t remote;

	if (!fabric_node_present(f, fabric_port(f, port)->node))
		return false;
	if (fabric_node(f, fabric_port(f, port)->node)->type == IBSM_NODE_SWITCH)
		return fabric_port(f, port)->port == 0;
	remote = fabric_link_port(f, port);
	return remote != IBSM_NONE && fabric_node_present(f, fabric_port(f, remote)->node) &&
	       fabric_node(f, fabric_port(f, remote)->node)->type == IBSM_NODE_SWITCH;
}

/* Visits the members of a tree's groups, each port once. */
static void each_member(struct checker *c, struct routing_tree *tree, uint32_t best)
{
	const struct snapshot *s = c->fabric->snapshot;

	for (uint32_t i = tree->group; i != IBSM_NONE; i = c->next_group[i]) {
		const struct ibsm_snap_group *group = snapshot_group(s, i);

		for (uint32_t m = 0; m < group->members; m++) {
			uint32_t port = snapshot_group_member(s, group->first_member + m)->port, at;

			if (port == IBSM_NONE || c->is_member[port] != 1)
				continue;
			c->is_member[port] = 2;
			if (!is_linked(c->fabric, port))
				continue;
			at = served_by(c, port);
			if (best == IBSM_NONE) {
				tree->members++;
				if (at != IBSM_NONE)
					c->members[find(c->parent, at)]++;
			} else if (at == IBSM_NONE || find(c->parent, at) != best) {
				if (tree->missed_port == IBSM_NONE || port < tree->missed_port)
					tree->missed_port = port;
			}
		}
	}
}

static void check(struct checker *c, struct routing_tree *tree)
{
	const struct fabric *f = c->fabric;
	uint32_t best = 0;

	for (uint32_t i = 0; i < c->count; i++) {
		c->at[c->entries[i].node] = i;
		c->parent[i] = i;
		c->members[i] = 0;
	}
	mark_members(c, tree, true);
	tree->switches = c->count;
	for (uint32_t i = 0; i < c->count; i++) {
		const struct ibsm_snap_node *node = fabric_node(f, c->entries[i].node);

		for (uint32_t p = 0; p < node->ports; p++)
			if (has_port(&c->entries[i], fabric_port(f, node->first_port + p)->port))
				look_at_port(c, tree, i, node->first_port + p);
	}
	each_member(c, tree, IBSM_NONE);
	for (uint32_t i = 0; i < c->count; i++) {
		tree->pieces += c->parent[i] == i;
		if (c->members[i] > c->members[best])
			best = i;
	}
	tree->reached = c->count ? c->members[best] : 0;
	mark_members(c, tree, true);
	if (tree->reached < tree->members)
		each_member(c, tree, c->count ? best : 0);
	if (c->count)
		find_root(c, tree, best);
	mark_members(c, tree, false);
	for (uint32_t i = 0; i < c->count; i++)
		c->at[c->entries[i].node] = IBSM_NONE;
}

struct routing_trees *routing_trees_free(struct routing_trees *trees)
{
	if (!trees)
		return NULL;
	free(trees->trees);
	free(trees);
	return NULL;
}

static int compare_mlids(const void *a, const void *b)
{
	uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;

	return (x > y) - (x < y);
}

/* One tree for each MLID that a group or an entry has. */
static int list_trees(const struct fabric *f, const struct routing_mft *entries, size_t count,
		      uint32_t *next_group, struct routing_trees *trees)
{
	uint32_t groups = snapshot_groups(f->snapshot);
	_cleanup_free_ uint16_t *mlids = calloc(groups + count + 1, sizeof(*mlids));
	size_t n = 0;

	if (!mlids)
		return -ENOMEM;
	for (uint32_t i = 0; i < groups; i++)
		mlids[n++] = snapshot_group(f->snapshot, i)->mlid;
	for (size_t i = 0; i < count; i++)
		mlids[n++] = entries[i].mlid;
	qsort(mlids, n, sizeof(*mlids), compare_mlids);
	trees->trees = calloc(n + 1, sizeof(*trees->trees));
	if (!trees->trees)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (i == 0 || mlids[i] != mlids[i - 1])
			trees->trees[trees->count++] =
				(struct routing_tree){.mlid = mlids[i],
						      .group = IBSM_NONE,
						      .missed_port = IBSM_NONE,
						      .circle_port = IBSM_NONE,
						      .one_sided_port = IBSM_NONE,
						      .root = IBSM_NONE};
	for (uint32_t i = groups; i > 0; i--) {
		uint16_t mlid = snapshot_group(f->snapshot, i - 1)->mlid;
		struct routing_tree *tree =
			bsearch(&mlid, trees->trees, trees->count, sizeof(*tree), compare_mlids);

		next_group[i - 1] = tree->group;
		tree->group = i - 1;
		tree->groups++;
	}
	return 0;
}

int routing_multicast(const struct fabric *fabric, const struct routing_mft *entries, size_t count,
		      struct routing_trees **ret)
{
	_cleanup_(routing_trees_freep) struct routing_trees *trees = calloc(1, sizeof(*trees));
	_cleanup_free_ struct routing_mft *sorted = calloc(count + 1, sizeof(*sorted));
	_cleanup_free_ uint32_t *at = calloc(fabric_nodes(fabric) + 1, sizeof(*at));
	_cleanup_free_ uint32_t *parent = calloc(fabric_nodes(fabric) + 1, sizeof(*parent));
	_cleanup_free_ uint32_t *members = calloc(fabric_nodes(fabric) + 1, sizeof(*members));
	_cleanup_free_ uint32_t *distance = calloc(fabric_nodes(fabric) + 1, sizeof(*distance));
	_cleanup_free_ uint32_t *queue = calloc(fabric_nodes(fabric) + 1, sizeof(*queue));
	_cleanup_free_ uint8_t *is_member = calloc(fabric_ports(fabric) + 1, sizeof(*is_member));
	_cleanup_free_ uint32_t *next_group =
		calloc(snapshot_groups(fabric->snapshot) + 1, sizeof(*next_group));
	struct checker c = {.fabric = fabric,
			    .next_group = next_group,
			    .at = at,
			    .parent = parent,
			    .members = members,
			    .distance = distance,
			    .queue = queue,
			    .is_member = is_member};
	size_t kept = 0, first = 0;
	int r;

	if (!trees || !sorted || !at || !parent || !members || !distance || !queue || !is_member ||
	    !next_group)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (entries[i].node >= fabric_nodes(fabric) ||
		    fabric_node(fabric, entries[i].node)->type != IBSM_NODE_SWITCH)
			return -EINVAL;
		if (fabric_node_present(fabric, entries[i].node))
			sorted[kept++] = entries[i];
	}
	qsort(sorted, kept, sizeof(*sorted), compare_entries);
	memset(at, 0xff, fabric_nodes(fabric) * sizeof(*at));
	r = list_trees(fabric, sorted, kept, next_group, trees);
	if (r < 0)
		return r;
	trees->tables = count > 0;
	for (uint32_t i = 0; i < trees->count; i++) {
		struct routing_tree *tree = &trees->trees[i];

		c.entries = &sorted[first];
		c.count = 0;
		while (first < kept && sorted[first].mlid == tree->mlid) {
			/* A switch that is told twice: both together. */
			if (c.count && sorted[first].node == c.entries[c.count - 1].node) {
				for (uint32_t k = 0; k < ELEMENTSOF(sorted[first].ports); k++)
					sorted[(size_t)(c.entries - sorted) + c.count - 1]
						.ports[k] |= sorted[first].ports[k];
			} else {
				sorted[(size_t)(c.entries - sorted) + c.count] = sorted[first];
				c.count++;
			}
			first++;
		}
		check(&c, tree);
		trees->broken += trees->tables && routing_tree_broken(tree);
	}
	*ret = TAKE_PTR(trees);
	return 0;
}
