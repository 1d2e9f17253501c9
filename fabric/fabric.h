// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The fabric model: one validated snapshot with indexes and printable names; never changes.
#pragma once

/*
 * A struct fabric is immutable and ref-counted: the next snapshot makes a new one, diff.h compares
 * the two, and a worker may go on with the old one meanwhile. Rows stay in the snapshot's mapping;
 * the model adds its indexes and one string a node (about 1 MB for 13,000 nodes).
 *
 * Nodes and ports are named by their row's index (uint32_t, IBSM_NONE: none) within one fabric.
 * Over two fabrics only GUIDs mean the same thing: see fabric_node_by_guid().
 *
 * Nodes that opensm did not reach in its last sweep (`present` 0) have rows, and look-ups find
 * them; they and their links do not count in struct fabric_counts, and a diff treats them as not
 * there.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ibsm/snapshot.h"
#include "snapshot-read.h"
#include "node-name-map.h"

struct fabric_counts {
	uint32_t nodes;
	uint32_t switches;
	uint32_t cas;
	uint32_t routers;
	uint32_t links;		 /* cables with both ends known, each once, loopbacks too */
	uint32_t ports;		 /* rows, port 0 of switches included */
	uint32_t lids;		 /* unicast LIDs in use, all of an LMC range counted */
	uint32_t lid_conflicts;	 /* LIDs that more than one port claims */
	uint32_t lft_mismatches; /* switches whose acknowledged LFT differs from the computed one */
};

/* Fields are for the functions here. */
struct fabric {
	atomic_uint refs;
	struct snapshot *snapshot;
	struct fabric_counts counts;
	uint32_t *names;	/* by node: offset of its name in `pool` */
	uint32_t *descriptions; /* by node: offset of its printable description */
	char *pool;
	uint32_t *by_name;	/* node indexes by name (strcmp), then GUID */
	uint32_t *by_port_guid; /* port indexes of end ports by port GUID */
	uint32_t end_ports;	/* entries there */
	uint32_t *by_lid;	/* port index, IBSM_NONE; lids entries */
	uint32_t lids;
};

/**
 * fabric_new - build the model on a snapshot
 * @snapshot: gets a reference of its own
 * @map:      names that go before descriptions; NULL for none. Not kept
 * @ret:      gets the fabric, one reference
 *
 * Returns 0; -ENOMEM. Reentrant; linear in nodes and ports, but for sorting nodes by name.
 */
int fabric_new(struct snapshot *snapshot, const struct node_name_map *map, struct fabric **ret);

/* References; any thread. fabric_unref() accepts NULL and returns NULL. */
struct fabric *fabric_ref(struct fabric *fabric);
struct fabric *fabric_unref(struct fabric *fabric);
DEFINE_CLEANUP(struct fabric *, fabric_unref);

/* Rows; indexes must be in range. All is valid as long as the fabric is. */
static inline const struct ibsm_snap_node *fabric_node(const struct fabric *f, uint32_t node)
{
	return snapshot_node(f->snapshot, node);
}
static inline const struct ibsm_snap_port *fabric_port(const struct fabric *f, uint32_t port)
{
	return snapshot_port(f->snapshot, port);
}
static inline uint32_t fabric_nodes(const struct fabric *f)
{
	return snapshot_nodes(f->snapshot);
}
static inline uint32_t fabric_ports(const struct fabric *f)
{
	return snapshot_ports(f->snapshot);
}
/* The switch row of a node; NULL for a node that is none, or of which opensm has no SwitchInfo. */
static inline const struct ibsm_snap_switch *fabric_switch(const struct fabric *f, uint32_t node)
{
	uint32_t index = fabric_node(f, node)->switch_index;

	return index == IBSM_NONE ? NULL : snapshot_switch(f->snapshot, index);
}
static inline const struct ibsm_snap_subnet *fabric_subnet(const struct fabric *f)
{
	return snapshot_subnet(f->snapshot);
}
static inline bool fabric_node_present(const struct fabric *f, uint32_t node)
{
	return fabric_node(f, node)->present;
}

/* Counts, made once. */
static inline const struct fabric_counts *fabric_counts(const struct fabric *f)
{
	return &f->counts;
}

/* A node's printable name: the map's, else its description, else, where that is empty, its GUID.
 * Names repeat. */
static inline const char *fabric_node_name(const struct fabric *f, uint32_t node)
{
	return f->pool + f->names[node];
}

/* Its NodeDescription, printable; "" where it has none. */
static inline const char *fabric_node_description(const struct fabric *f, uint32_t node)
{
	return f->pool + f->descriptions[node];
}

/* The node with this node GUID, or IBSM_NONE. Logarithmic. */
uint32_t fabric_node_by_guid(const struct fabric *fabric, uint64_t node_guid);

/* The end port (a CA's or router's port, or port 0 of a switch) with this port GUID, or IBSM_NONE.
 * External ports of switches carry their port 0's GUID: they are not meant. Logarithmic. */
uint32_t fabric_port_by_guid(const struct fabric *fabric, uint64_t port_guid);

/* The end port to which this unicast LID leads, all LIDs of its LMC range included, or IBSM_NONE.
 * Where two ports claim one LID: the one in service, else the first. Constant time. */
uint32_t fabric_port_by_lid(const struct fabric *fabric, uint16_t lid);

/* The port `number` of `node`, or IBSM_NONE when opensm does not know it. */
uint32_t fabric_node_port(const struct fabric *fabric, uint32_t node, uint8_t number);

/* The node's base LID: port 0's for a switch; else that of the first port that has one; 0: none. */
uint16_t fabric_node_lid(const struct fabric *fabric, uint32_t node);

/* The LID that reaches a port's owner: the port's own, or the switch's for its external ports. */
uint16_t fabric_port_lid(const struct fabric *fabric, uint32_t port);

/* The port at the other end of the cable, or IBSM_NONE: no neighbour, or one that does not name
 * this port as its own (see snapshot-read.h). A loopback plug leads to the port itself. */
uint32_t fabric_link_port(const struct fabric *fabric, uint32_t port);

/**
 * fabric_nodes_by_name - all nodes with a name
 * @name:     whole name, printable form
 * @ret:      gets the first of the returned number of node indexes, by ascending GUID; they belong
 *            to the fabric
 *
 * Returns how many; 0: none. Logarithmic.
 */
size_t fabric_nodes_by_name(const struct fabric *fabric, const char *name, const uint32_t **ret);

/* The same for nodes whose name begins with `word` and a blank: "node1" finds "node1 HCA-1"; by
 * name, then GUID. The name "node1" itself is not among them. */
size_t fabric_nodes_by_first_word(const struct fabric *fabric, const char *word,
				  const uint32_t **ret);

/* All nodes by name, then GUID: fabric_nodes() indexes. */
static inline const uint32_t *fabric_nodes_in_name_order(const struct fabric *f)
{
	return f->by_name;
}

/* The node with this GUID as its node GUID, else as one of its ports' GUIDs, else as its system
 * image GUID, or IBSM_NONE. Of several nodes with one system image the first; `ret_matches`, which
 * may be NULL, gets their number. `ret_port`, which may be NULL, gets the port if it was a port
 * GUID, else IBSM_NONE. */
uint32_t fabric_node_by_any_guid(const struct fabric *fabric, uint64_t guid, uint32_t *ret_port,
				 uint32_t *ret_matches);

/* One cable: `a` is the switch's end; between two of a kind, the end with the smaller node GUID,
 * then port number. A loopback plug has a == b. */
struct fabric_link {
	uint32_t a; /* port indexes */
	uint32_t b;
};

struct fabric_link_iterator {
	uint32_t node_rank;
	uint32_t port;
};

/**
 * fabric_link_next - walk all cables, each once
 * @iterator: zeroed before the first call
 * @ret:      gets the link
 *
 * By the name and GUID of the `a` end's node, then its port number. Cables of nodes that are not
 * present are left out. Linear over all.
 *
 * Returns false at the end.
 */
bool fabric_link_next(const struct fabric *fabric, struct fabric_link_iterator *iterator,
		      struct fabric_link *ret);

/* Whether `port` is the `a` end of its link. False where it has none. */
bool fabric_link_is_a(const struct fabric *fabric, uint32_t port);

/* opensm's option under its name in opensm.conf, or NULL. Logarithmic. */
const struct ibsm_snap_option *fabric_option(const struct fabric *fabric, const char *name);

/**
 * fabric_option_format - an option's value as opensm.conf would have it, printable
 * @buffer: gets it: a number, TRUE or FALSE, a GUID, a string ("(null)" where opensm has none); for
 *          a secret "default" or "set", never more
 *
 * Returns `buffer`.
 */
const char *fabric_option_format(const struct fabric *fabric, const struct ibsm_snap_option *option,
				 char *buffer, size_t size);

/* The routing engine in use, not yet printable; NULL: every engine failed, or none was run yet. */
const char *fabric_engine_used(const struct fabric *fabric);

/* Whether the engine in use is none of those asked for: all of them failed, and opensm took its
 * default one (minhop) without a word. False where nothing was asked for, or none is in use. */
bool fabric_routing_fell_back(const struct fabric *fabric);

/* The SM that carries the plugin, or NULL. */
const struct ibsm_snap_sm *fabric_own_sm(const struct fabric *fabric);

/* Entries in which a switch's acknowledged LFT differs from the computed one. */
uint32_t fabric_lft_mismatch(const struct fabric *fabric, const struct ibsm_snap_switch *sw);

/* LIDs that a switch's LFT has an out-port for, up to its LinearFDBTop. */
uint32_t fabric_lft_entries(const struct fabric *fabric, const struct ibsm_snap_switch *sw);
