// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which row of PORTS is meant: neighbours, members and SMs of a copied snapshot, found on the
// sender.

/*
 * Neighbours come as addresses of opensm's osm_physp_t. Each node's lie in one array, whose place
 * was noted under the lock, so an address tells node and port number by comparison and division.
 * The memory behind it may be gone by now: it is never touched. An address in no node's array
 * (opensm cut the node off, or never had one) is "no neighbour".
 */

#include "snapshot-resolve.h"

#include <errno.h>
#include <stdlib.h>

#include "util/cleanup.h"

struct base {
	uintptr_t first;
	uintptr_t end;
	uint32_t stride;
	uint32_t node;
};

struct bases {
	struct base *list; /* ascending by address */
	size_t n;
};

static void *table(struct snapshot_buffer *b, int area)
{
	return b->areas[area].data;
}

static size_t entries(const struct snapshot_buffer *b, int area, size_t bytes)
{
	return b->areas[area].used / bytes;
}

static int compare_bases(const void *a, const void *b)
{
	uintptr_t x = ((const struct base *)a)->first, y = ((const struct base *)b)->first;

	return (x > y) - (x < y);
}

static int bases_build(struct snapshot_buffer *b, struct bases *ret_bases)
{
	const struct snapshot_node_base *from = table(b, SNAPSHOT_NODE_BASES);
	size_t n = entries(b, SNAPSHOT_NODE_BASES, sizeof(*from));
	struct base *list = calloc(n ? n : 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		list[i] = (struct base){
			.first = from[i].first,
			.end = from[i].first + (uintptr_t)from[i].slots * from[i].stride,
			.stride = from[i].stride,
			.node = (uint32_t)i,
		};
	qsort(list, n, sizeof(*list), compare_bases);
	*ret_bases = (struct bases){.list = list, .n = n};
	return 0;
}

/* A node's row of PORTS for a port number. Mostly every port of a node is there, so the first guess
 * is right. */
static uint32_t row_by_number(struct snapshot_buffer *b, uint32_t node, uint32_t number)
{
	const struct ibsm_snap_node *n = (const struct ibsm_snap_node *)table(b, IBSM_TABLE_NODES);
	const struct ibsm_snap_port *ports = table(b, IBSM_TABLE_PORTS);
	uint32_t guess;

	n += node;
	if (n->ports == 0)
		return IBSM_NONE;
	guess = number - ports[n->first_port].port;
	if (guess < n->ports && ports[n->first_port + guess].port == number)
		return n->first_port + guess;
	for (uint32_t i = 0; i < n->ports; i++)
		if (ports[n->first_port + i].port == number)
			return n->first_port + i;
	return IBSM_NONE;
}

static uint32_t row_by_address(struct snapshot_buffer *b, const struct bases *bases,
			       uintptr_t address)
{
	size_t low = 0, high = bases->n;
	const struct base *base;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (bases->list[middle].first <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return IBSM_NONE;
	base = &bases->list[low - 1];
	if (address >= base->end || (address - base->first) % base->stride != 0)
		return IBSM_NONE;
	return row_by_number(b, base->node, (uint32_t)((address - base->first) / base->stride));
}

static void resolve_ports(struct snapshot_buffer *b, const struct bases *bases)
{
	struct ibsm_snap_port *ports = table(b, IBSM_TABLE_PORTS);
	const uintptr_t *remotes = table(b, SNAPSHOT_REMOTES);
	const uintptr_t *in_service = table(b, SNAPSHOT_IN_SERVICE);
	size_t n = entries(b, IBSM_TABLE_PORTS, sizeof(*ports));

	for (size_t i = 0; i < n; i++)
		ports[i].remote = row_by_address(b, bases, remotes[i]);
	for (size_t i = 0; i < entries(b, SNAPSHOT_IN_SERVICE, sizeof(*in_service)); i++) {
		uint32_t row = row_by_address(b, bases, in_service[i]);

		if (row != IBSM_NONE)
			ports[row].flags |= IBSM_PORT_IN_SERVICE;
	}
}

static int compare_entries(const void *a, const void *b)
{
	const struct port_index_entry *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid > y->guid ? 1 : -1;
	return (x->row > y->row) - (x->row < y->row);
}

static int index_build(struct snapshot_buffer *b, struct port_index *ret_index)
{
	const struct ibsm_snap_node *nodes = table(b, IBSM_TABLE_NODES);
	const struct ibsm_snap_port *ports = table(b, IBSM_TABLE_PORTS);
	size_t rows = entries(b, IBSM_TABLE_PORTS, sizeof(*ports));
	struct port_index_entry *list;
	size_t n = 0;

	for (size_t i = 0; i < rows; i++)
		if (nodes[ports[i].node].type != IBSM_NODE_SWITCH || ports[i].port == 0)
			n++;
	list = calloc(n ? n : 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < rows; i++)
		if (nodes[ports[i].node].type != IBSM_NODE_SWITCH || ports[i].port == 0)
			list[n++] = (struct port_index_entry){
				.guid = ports[i].port_guid,
				.row = (uint32_t)i,
				.lid = ports[i].lid,
				.node = ports[i].node,
			};
	qsort(list, n, sizeof(*list), compare_entries);
	*ret_index = (struct port_index){.entries = list, .n = n};
	return 0;
}

void port_index_clear(struct port_index *index)
{
	free(index->entries);
	*index = (struct port_index){0};
}

const struct port_index_entry *port_index_find(const struct port_index *index, uint64_t guid)
{
	size_t low = 0, high = index->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->entries[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == index->n || index->entries[low].guid != guid)
		return NULL;
	return &index->entries[low];
}

static uint32_t row_by_guid(const struct port_index *index, uint64_t guid)
{
	const struct port_index_entry *entry = port_index_find(index, guid);

	return entry ? entry->row : IBSM_NONE;
}

static void resolve_members(struct snapshot_buffer *b, const struct port_index *index)
{
	struct ibsm_snap_group_member *members = table(b, IBSM_TABLE_GROUP_MEMBERS);
	const uint64_t *guids = table(b, SNAPSHOT_MEMBER_PORTS);

	for (size_t i = 0; i < entries(b, IBSM_TABLE_GROUP_MEMBERS, sizeof(*members)); i++)
		members[i].port = row_by_guid(index, guids[i]);
}

static void resolve_others(struct snapshot_buffer *b, const struct port_index *index)
{
	const struct ibsm_snap_node *nodes = table(b, IBSM_TABLE_NODES);
	struct ibsm_snap_subnet *subnet = table(b, IBSM_TABLE_SUBNET);
	struct ibsm_snap_sm *sms = table(b, IBSM_TABLE_SMS);
	struct ibsm_snap_partition_member *members = table(b, IBSM_TABLE_PARTITION_MEMBERS);
	const struct port_index_entry *self = port_index_find(index, subnet->sm_port_guid);

	if (self)
		subnet->sm_node_guid = nodes[self->node].node_guid;
	for (size_t i = 0; i < entries(b, IBSM_TABLE_SMS, sizeof(*sms)); i++) {
		const struct port_index_entry *entry = port_index_find(index, sms[i].port_guid);

		if (!entry)
			continue;
		sms[i].port = entry->row;
		if (sms[i].lid == 0)
			sms[i].lid = entry->lid;
	}
	for (size_t i = 0; i < entries(b, IBSM_TABLE_PARTITION_MEMBERS, sizeof(*members)); i++)
		members[i].port = row_by_guid(index, members[i].port_guid);
}

int snapshot_resolve(struct snapshot_buffer *b, const struct port_index *last,
		     struct port_index *ret_built)
{
	struct port_index built = {0};
	struct bases bases;
	int r;

	if (b->reason == IBSM_SNAPSHOT_GROUPS) {
		resolve_members(b, last);
		*ret_built = built;
		return 0;
	}
	r = bases_build(b, &bases);
	if (r < 0)
		return r;
	resolve_ports(b, &bases);
	free(bases.list);
	r = index_build(b, &built);
	if (r < 0)
		return r;
	resolve_members(b, &built);
	resolve_others(b, &built);
	*ret_built = built;
	return 0;
}
