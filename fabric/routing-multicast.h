// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Whether each multicast group's tree reaches each member once.
#pragma once

/*
 * A switch sends a multicast packet out of all ports that its table has for the MLID, but the one
 * that it came in by. Cables with such an entry at both ends make the tree: each member is reached
 * once from each other if all stand in one piece of it, and the piece has no circle. Several groups
 * may share an MLID, and with it the tree.
 *
 * A snapshot has the groups and members, but not the switches' multicast tables: these come from
 * dumps.
 */

#include "fabric.h"

/* One switch's entry for one MLID. */
struct routing_mft {
	uint32_t node;
	uint16_t mlid;
	uint64_t ports[4]; /* bit by port number */
};

struct routing_tree {
	uint16_t mlid;
	uint32_t group;	      /* the first of the groups with it; IBSM_NONE: nobody asked for it */
	uint32_t groups;      /* so many */
	uint32_t members;     /* ports that receive, each once, that are linked */
	uint32_t reached;     /* of these, in the piece with most */
	uint32_t pieces;      /* with members in them, or switches */
	uint32_t switches;    /* with an entry */
	uint32_t cables;      /* between switches, with an entry at both ends */
	uint32_t circles;     /* cables that close one */
	uint32_t one_sided;   /* entries that lead to a switch without an entry back */
	uint32_t dead;	      /* entries for ports that have no neighbour or are not active */
	uint32_t strays;      /* entries for end ports that are no member */
	uint32_t missed_port; /* the first member not reached; IBSM_NONE: none */
	uint32_t circle_port; /* a switch's port on a circle; IBSM_NONE */
	uint32_t one_sided_port; /* IBSM_NONE */
	uint32_t root;	/* the switch in the middle of the piece with most members; IBSM_NONE */
	uint32_t depth; /* cables between switches from there to the farthest */
};

static inline bool routing_tree_broken(const struct routing_tree *tree)
{
	return tree->reached < tree->members || tree->circles > 0 || tree->one_sided > 0;
}

struct routing_trees {
	struct routing_tree *trees; /* by MLID */
	uint32_t count;
	uint32_t broken;
	bool tables; /* false: there were none; only groups and members are filled in */
};

/**
 * routing_multicast - check the trees of all groups
 * @entries: in any order; NULL with count 0: there are none
 * @ret:     gets the trees
 *
 * Send-only members receive nothing, and need no way. Pure; any thread; linear in switches with an
 * entry, cables and members of each MLID.
 *
 * Returns 0; -ENOMEM; -EINVAL: an entry names a node that is no switch.
 */
int routing_multicast(const struct fabric *fabric, const struct routing_mft *entries, size_t count,
		      struct routing_trees **ret);

/* Accepts NULL, returns NULL. */
struct routing_trees *routing_trees_free(struct routing_trees *trees);
DEFINE_CLEANUP(struct routing_trees *, routing_trees_free);
