// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Changes of nodes (come, gone, renamed) and of ports by themselves (state, LID, LMC).
#include <string.h>

#include "diff-internal.h"
#include "names.h"

static void add_node(struct diff *diff, enum fabric_change_kind kind, const struct fabric *f,
		     uint32_t node)
{
	const struct ibsm_snap_node *row = fabric_node(f, node);
	struct fabric_change *change = diff_add(diff, kind);

	change->a = diff_node_end(diff, f, node);
	for (uint32_t i = 0; i < row->ports; i++)
		change->count += fabric_link_port(f, row->first_port + i) != IBSM_NONE;
}

static void match(struct diff *diff, uint32_t old, uint32_t new)
{
	const char *old_name = fabric_node_name(diff->old, old);
	const char *new_name = fabric_node_name(diff->new, new);
	struct fabric_change *change;

	diff->new_of_old[old] = new;
	diff->old_of_new[new] = old;
	if (strcmp(old_name, new_name) == 0)
		return;
	change = diff_add(diff, FABRIC_CHANGE_NODE_RENAMED);
	change->a = diff_node_end(diff, diff->new, new);
	change->old_text = diff_string(diff, old_name);
	change->new_text = diff_string(diff, new_name);
}

static uint32_t next_present(const struct fabric *f, uint32_t node)
{
	while (node < fabric_nodes(f) && !fabric_node_present(f, node))
		node++;
	return node;
}

void diff_nodes(struct diff *diff)
{
	const struct fabric *of = diff->old, *nf = diff->new;
	uint32_t o = next_present(of, 0), n = next_present(nf, 0);

	while (o < fabric_nodes(of) || n < fabric_nodes(nf)) {
		bool old_left = o < fabric_nodes(of), new_left = n < fabric_nodes(nf);
		uint64_t og = old_left ? fabric_node(of, o)->node_guid : 0;
		uint64_t ng = new_left ? fabric_node(nf, n)->node_guid : 0;
		bool take_old = old_left && (!new_left || og <= ng);
		bool take_new = new_left && (!old_left || ng <= og);

		if (take_old && take_new)
			match(diff, o, n);
		else if (take_old)
			add_node(diff, FABRIC_CHANGE_NODE_REMOVED, of, o);
		else
			add_node(diff, FABRIC_CHANGE_NODE_ADDED, nf, n);
		if (take_old)
			o = next_present(of, o + 1);
		if (take_new)
			n = next_present(nf, n + 1);
	}
}

static uint32_t counterpart(const struct fabric *from, const struct fabric *to, uint32_t port,
			    uint32_t to_node)
{
	const struct ibsm_snap_port *row = fabric_port(from, port);
	const struct ibsm_snap_node *node;
	uint32_t place;

	if (to_node == IBSM_NONE)
		return IBSM_NONE;
	/* Most often it has kept its place among the node's ports. */
	node = fabric_node(to, to_node);
	place = port - fabric_node(from, row->node)->first_port;
	if (place < node->ports && fabric_port(to, node->first_port + place)->port == row->port)
		return node->first_port + place;
	return fabric_node_port(to, to_node, row->port);
}

uint32_t diff_new_port(const struct diff *diff, uint32_t old_port)
{
	return counterpart(diff->old, diff->new, old_port,
			   diff->new_of_old[fabric_port(diff->old, old_port)->node]);
}

uint32_t diff_old_port(const struct diff *diff, uint32_t new_port)
{
	return counterpart(diff->new, diff->old, new_port,
			   diff->old_of_new[fabric_port(diff->new, new_port)->node]);
}

static struct fabric_change *add_number(struct diff *diff, enum fabric_change_kind kind,
					uint32_t port, uint64_t old, uint64_t new)
{
	struct fabric_change *change = diff_add(diff, kind);

	change->a = diff_port_end(diff, diff->new, port);
	change->old = old;
	change->new = new;
	return change;
}

static void diff_port(struct diff *diff, uint32_t old_index, uint32_t new_index)
{
	const struct ibsm_snap_port *old = fabric_port(diff->old, old_index);
	const struct ibsm_snap_port *new = fabric_port(diff->new, new_index);
	struct fabric_change *change;

	/* A port gets its LID, and loses it, with its link. */
	if (old->lid != new->lid && old->lid &&new->lid)
		add_number(diff, FABRIC_CHANGE_LID, new_index, old->lid, new->lid);
	if (old->lmc != new->lmc && old->lid &&new->lid)
		add_number(diff, FABRIC_CHANGE_LMC, new_index, old->lmc, new->lmc);
	if (old->state == new->state || !old->state || !new->state)
		return;
	/* What a link does to its ports is told with the link. */
	if (fabric_link_port(diff->old, old_index) != IBSM_NONE ||
	    fabric_link_port(diff->new, new_index) != IBSM_NONE)
		return;
	change = add_number(diff, FABRIC_CHANGE_PORT_STATE, new_index, old->state, new->state);
	change->old_text = diff_string(diff, port_state_name(old->state));
	change->new_text = diff_string(diff, port_state_name(new->state));
}

void diff_ports(struct diff *diff)
{
	const struct fabric *nf = diff->new;

	if (snapshot_same_table(diff->old->snapshot, nf->snapshot, IBSM_TABLE_NODES) &&
	    snapshot_same_table(diff->old->snapshot, nf->snapshot, IBSM_TABLE_PORTS))
		return;
	for (uint32_t n = 0; n < fabric_nodes(nf); n++) {
		const struct ibsm_snap_node *node = fabric_node(nf, n);

		if (diff->old_of_new[n] == IBSM_NONE)
			continue;
		for (uint32_t i = 0; i < node->ports; i++) {
			uint32_t old = diff_old_port(diff, node->first_port + i);

			if (old != IBSM_NONE)
				diff_port(diff, old, node->first_port + i);
		}
	}
}
