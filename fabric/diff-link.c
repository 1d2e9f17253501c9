// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Changes of cables: gone, come, moved to another port, slower, faster, other state.
#include <stdlib.h>
#include <string.h>

#include "diff-internal.h"
#include "names.h"

/* One cable at both times: port indexes of its ends in the old and the new fabric. */
struct pair {
	uint32_t old_a, old_b;
	uint32_t new_a, new_b;
};

static bool is_link(const struct fabric *f, uint32_t a, uint32_t b)
{
	return a != IBSM_NONE && b != IBSM_NONE && fabric_link_port(f, a) == b;
}

/* Reports a value of a link that differs at end a; `from_b` swaps the ends. */
static void add_value(struct diff *diff, enum fabric_change_kind kind, const struct pair *pair,
		      bool from_b, uint64_t old, uint64_t new, const char *old_text,
		      const char *new_text)
{
	struct fabric_change *change = diff_add(diff, kind);

	change->a = diff_port_end(diff, diff->new, from_b ? pair->new_b : pair->new_a);
	change->b = diff_port_end(diff, diff->new, from_b ? pair->new_a : pair->new_b);
	change->old = old;
	change->new = new;
	change->old_text = diff_string(diff, old_text);
	change->new_text = diff_string(diff, new_text);
}

/* A value as both ends had and have it; 0 is "not known". */
struct values {
	uint64_t old_a, new_a;
	uint64_t old_b, new_b;
};

typedef const char *(*value_name_fn)(uint64_t value);

static void diff_value(struct diff *diff, enum fabric_change_kind kind, const struct pair *pair,
		       const struct values *v, value_name_fn name)
{
	bool a = v->old_a != v->new_a && v->old_a && v->new_a;
	bool b = v->old_b != v->new_b && v->old_b && v->new_b;

	if (a)
		add_value(diff, kind, pair, false, v->old_a, v->new_a, name(v->old_a),
			  name(v->new_a));
	/* Both ends see the same change: one fact. */
	if (b && !(a && v->old_a == v->old_b && v->new_a == v->new_b))
		add_value(diff, kind, pair, true, v->old_b, v->new_b, name(v->old_b),
			  name(v->new_b));
}

static const char *width_value_name(uint64_t value)
{
	return width_name((uint8_t)value);
}

static const char *speed_value_name(uint64_t value)
{
	return speed_name((enum speed)value);
}

static const char *state_value_name(uint64_t value)
{
	return port_state_name((uint8_t)value);
}

static void diff_kept_link(struct diff *diff, const struct pair *pair)
{
	const struct ibsm_snap_port *oa = fabric_port(diff->old, pair->old_a);
	const struct ibsm_snap_port *ob = fabric_port(diff->old, pair->old_b);
	const struct ibsm_snap_port *na = fabric_port(diff->new, pair->new_a);
	const struct ibsm_snap_port *nb = fabric_port(diff->new, pair->new_b);
	struct values widths = {oa->width_active, na->width_active, ob->width_active,
				nb->width_active};
	struct values speeds = {port_speed(oa), port_speed(na), port_speed(ob), port_speed(nb)};
	struct values states = {oa->state, na->state, ob->state, nb->state};

	diff_value(diff, FABRIC_CHANGE_LINK_WIDTH, pair, &widths, width_value_name);
	diff_value(diff, FABRIC_CHANGE_LINK_SPEED, pair, &speeds, speed_value_name);
	diff_value(diff, FABRIC_CHANGE_PORT_STATE, pair, &states, state_value_name);
}

static void add_link(struct diff *diff, enum fabric_change_kind kind, const struct fabric *f,
		     uint32_t a, bool with_node)
{
	struct fabric_change *change = diff_add(diff, kind);

	change->a = diff_port_end(diff, f, a);
	change->b = diff_port_end(diff, f, fabric_link_port(f, a));
	if (with_node)
		change->flags |= FABRIC_CHANGE_WITH_NODE;
}

/* Whether a node at either end of the link at `port` is missing from the other fabric. */
static bool node_missing(const struct fabric *f, uint32_t port, const uint32_t *other)
{
	return other[fabric_port(f, port)->node] == IBSM_NONE ||
	       other[fabric_port(f, fabric_link_port(f, port))->node] == IBSM_NONE;
}

/* The `a` end of the old cable at `port`. */
static uint32_t a_end(const struct fabric *f, uint32_t port)
{
	return fabric_link_is_a(f, port) ? port : fabric_link_port(f, port);
}

/*
 * A new cable is a moved one if one of its ends held another cable before that is gone, no node
 * came or went for either, and no other new cable has claimed that old one. `claimed` is by old
 * port index of a cable's `a` end.
 */
static bool add_moved(struct diff *diff, uint32_t stayed, unsigned char *claimed)
{
	uint32_t old = diff_old_port(diff, stayed);
	uint32_t old_other, old_a;
	struct fabric_change *change;

	if (old == IBSM_NONE)
		return false;
	old_other = fabric_link_port(diff->old, old);
	if (old_other == IBSM_NONE ||
	    !fabric_node_present(diff->old, fabric_port(diff->old, old_other)->node) ||
	    node_missing(diff->old, old, diff->new_of_old))
		return false;
	old_a = a_end(diff->old, old);
	if (claimed[old_a])
		return false;
	claimed[old_a] = 1;
	change = diff_add(diff, FABRIC_CHANGE_LINK_MOVED);
	change->a = diff_port_end(diff, diff->new, stayed);
	change->b = diff_port_end(diff, diff->new, fabric_link_port(diff->new, stayed));
	change->c = diff_port_end(diff, diff->old, old_other);
	return true;
}

static void diff_new_link(struct diff *diff, uint32_t a, unsigned char *claimed)
{
	uint32_t b = fabric_link_port(diff->new, a);
	struct pair pair = {.new_a = a, .new_b = b};

	pair.old_a = diff_old_port(diff, a);
	pair.old_b = diff_old_port(diff, b);
	if (is_link(diff->old, pair.old_a, pair.old_b)) {
		claimed[a_end(diff->old, pair.old_a)] = 1;
		diff_kept_link(diff, &pair);
		return;
	}
	if (node_missing(diff->new, a, diff->old_of_new)) {
		add_link(diff, FABRIC_CHANGE_LINK_ADDED, diff->new, a, true);
		return;
	}
	if (!add_moved(diff, a, claimed) && !add_moved(diff, b, claimed))
		add_link(diff, FABRIC_CHANGE_LINK_ADDED, diff->new, a, false);
}

void diff_links(struct diff *diff)
{
	_cleanup_free_ unsigned char *claimed = NULL;

	if (snapshot_same_table(diff->old->snapshot, diff->new->snapshot, IBSM_TABLE_NODES) &&
	    snapshot_same_table(diff->old->snapshot, diff->new->snapshot, IBSM_TABLE_PORTS))
		return;
	claimed = calloc((size_t)fabric_ports(diff->old) + 1, 1);
	if (!claimed) {
		diff->no_memory = true;
		return;
	}
	for (uint32_t port = 0; port < fabric_ports(diff->new); port++)
		if (fabric_link_is_a(diff->new, port))
			diff_new_link(diff, port, claimed);
	for (uint32_t port = 0; port < fabric_ports(diff->old); port++)
		if (fabric_link_is_a(diff->old, port) && !claimed[port])
			add_link(diff, FABRIC_CHANGE_LINK_REMOVED, diff->old, port,
				 node_missing(diff->old, port, diff->new_of_old));
}
