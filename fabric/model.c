// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Builds the fabric model on a snapshot, and its look-ups by GUID, LID and name.
#include "fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "printable.h"

struct pool {
	char *bytes;
	size_t used;
	size_t room;
};

static int pool_add(struct pool *pool, const char *text, uint32_t *ret_offset)
{
	size_t size = strlen(text) + 1;

	if (pool->room - pool->used < size) {
		size_t room = pool->room + pool->room / 2 + 4096 + size;
		char *bytes = realloc(pool->bytes, room);

		if (!bytes)
			return -ENOMEM;
		pool->bytes = bytes;
		pool->room = room;
	}
	memcpy(pool->bytes + pool->used, text, size);
	*ret_offset = (uint32_t)pool->used;
	pool->used += size;
	return 0;
}

static int name_nodes(struct fabric *f, const struct node_name_map *map)
{
	struct pool pool = {0};
	uint32_t empty;
	int r = pool_add(&pool, "", &empty);

	for (uint32_t i = 0; i < fabric_nodes(f) && r == 0; i++) {
		const struct ibsm_snap_node *node = fabric_node(f, i);
		const char *mapped = node_name_map_get(map, node->node_guid);
		char text[PRINTABLE_BYTES(IBSM_DESCRIPTION_BYTES)];

		f->descriptions[i] = empty;
		if (printable(node->description, sizeof(node->description), text, sizeof(text)))
			r = pool_add(&pool, text, &f->descriptions[i]);
		if (r < 0)
			break;
		f->names[i] = f->descriptions[i];
		if (mapped)
			r = pool_add(&pool, mapped, &f->names[i]);
		else if (f->descriptions[i] == empty)
			r = pool_add(&pool, GUID_STRING(node->node_guid), &f->names[i]);
	}
	f->pool = pool.bytes;
	return r;
}

static int compare_names(const void *a, const void *b, void *userdata)
{
	const struct fabric *f = userdata;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int r = strcmp(fabric_node_name(f, x), fabric_node_name(f, y));

	/* Rows stand by ascending GUID. */
	return r ? r : x < y ? -1 : x > y;
}

static int compare_port_guids(const void *a, const void *b, void *userdata)
{
	const struct fabric *f = userdata;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t gx = fabric_port(f, x)->port_guid, gy = fabric_port(f, y)->port_guid;

	if (gx != gy)
		return gx < gy ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* A port that packets end at: any of a CA or router, port 0 of a switch. */
static bool is_end_port(const struct fabric *f, const struct ibsm_snap_port *port)
{
	return port->port == 0 || fabric_node(f, port->node)->type != IBSM_NODE_SWITCH;
}

/* Enters the LIDs of an end port; `in_service` ones go first, so that they win. */
static void enter_lids(struct fabric *f, uint32_t index)
{
	const struct ibsm_snap_port *port = fabric_port(f, index);
	uint32_t end = port->lid + (1u << (port->lmc & 7));

	if (port->lid == 0)
		return;
	for (uint32_t lid = port->lid; lid < end && lid < f->lids; lid++) {
		if (f->by_lid[lid] != IBSM_NONE) {
			f->counts.lid_conflicts++;
			continue;
		}
		f->by_lid[lid] = index;
		if (fabric_node_present(f, port->node))
			f->counts.lids++;
	}
}

static int index_ports(struct fabric *f)
{
	uint32_t end_ports = 0, last_lid = 0;

	for (uint32_t i = 0; i < fabric_ports(f); i++) {
		const struct ibsm_snap_port *port = fabric_port(f, i);
		uint32_t last = port->lid + (1u << (port->lmc & 7)) - 1;

		if (!is_end_port(f, port))
			continue;
		end_ports++;
		if (port->lid && port->lid <= IBSM_UNICAST_LID_MAX && last > last_lid)
			last_lid = last;
	}
	if (last_lid > IBSM_UNICAST_LID_MAX)
		last_lid = IBSM_UNICAST_LID_MAX;
	f->lids = last_lid + 1;
	f->by_lid = reallocarray(NULL, f->lids, sizeof(*f->by_lid));
	f->by_port_guid = reallocarray(NULL, end_ports + 1, sizeof(*f->by_port_guid));
	if (!f->by_lid || !f->by_port_guid)
		return -ENOMEM;
	for (uint32_t lid = 0; lid < f->lids; lid++)
		f->by_lid[lid] = IBSM_NONE;
	for (int in_service = 1; in_service >= 0; in_service--)
		for (uint32_t i = 0; i < fabric_ports(f); i++) {
			const struct ibsm_snap_port *port = fabric_port(f, i);

			if (is_end_port(f, port) &&
			    !!(port->flags & IBSM_PORT_IN_SERVICE) == in_service)
				enter_lids(f, i);
		}
	for (uint32_t i = 0; i < fabric_ports(f); i++)
		if (is_end_port(f, fabric_port(f, i)) && fabric_port(f, i)->port_guid)
			f->by_port_guid[f->end_ports++] = i;
	qsort_r(f->by_port_guid, f->end_ports, sizeof(*f->by_port_guid), compare_port_guids, f);
	return 0;
}

static void count(struct fabric *f)
{
	struct fabric_counts *c = &f->counts;

	for (uint32_t i = 0; i < fabric_nodes(f); i++) {
		const struct ibsm_snap_node *node = fabric_node(f, i);

		if (!node->present)
			continue;
		c->nodes++;
		c->switches += node->type == IBSM_NODE_SWITCH;
		c->cas += node->type == IBSM_NODE_CA;
		c->routers += node->type == IBSM_NODE_ROUTER;
		c->ports += node->ports;
		for (uint32_t p = 0; p < node->ports; p++)
			c->links += fabric_link_is_a(f, node->first_port + p);
		if (node->switch_index != IBSM_NONE)
			c->lft_mismatches +=
				!!(fabric_switch(f, i)->flags & IBSM_SWITCH_LFT_DIFFERS);
	}
}

int fabric_new(struct snapshot *snapshot, const struct node_name_map *map, struct fabric **ret)
{
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	size_t nodes = snapshot_nodes(snapshot);
	int r;

	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	atomic_init(&f->refs, 1);
	f->snapshot = snapshot_ref(snapshot);
	f->names = reallocarray(NULL, nodes + 1, sizeof(*f->names));
	f->descriptions = reallocarray(NULL, nodes + 1, sizeof(*f->descriptions));
	f->by_name = reallocarray(NULL, nodes + 1, sizeof(*f->by_name));
	if (!f->names || !f->descriptions || !f->by_name)
		return -ENOMEM;
	r = name_nodes(f, map);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < nodes; i++)
		f->by_name[i] = i;
	qsort_r(f->by_name, nodes, sizeof(*f->by_name), compare_names, f);
	r = index_ports(f);
	if (r < 0)
		return r;
	count(f);
	*ret = TAKE_PTR(f);
	return 0;
}

struct fabric *fabric_ref(struct fabric *fabric)
{
	atomic_fetch_add_explicit(&fabric->refs, 1, memory_order_relaxed);
	return fabric;
}

struct fabric *fabric_unref(struct fabric *fabric)
{
	if (!fabric || atomic_fetch_sub_explicit(&fabric->refs, 1, memory_order_acq_rel) != 1)
		return NULL;
	snapshot_unref(fabric->snapshot);
	free(fabric->names);
	free(fabric->descriptions);
	free(fabric->pool);
	free(fabric->by_name);
	free(fabric->by_port_guid);
	free(fabric->by_lid);
	free(fabric);
	return NULL;
}

uint32_t fabric_node_by_guid(const struct fabric *fabric, uint64_t node_guid)
{
	uint32_t low = 0, high = fabric_nodes(fabric);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t guid = fabric_node(fabric, middle)->node_guid;

		if (guid == node_guid)
			return middle;
		if (guid < node_guid)
			low = middle + 1;
		else
			high = middle;
	}
	return IBSM_NONE;
}

uint32_t fabric_port_by_guid(const struct fabric *fabric, uint64_t port_guid)
{
	uint32_t low = 0, high = fabric->end_ports;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (fabric_port(fabric, fabric->by_port_guid[middle])->port_guid < port_guid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < fabric->end_ports &&
	    fabric_port(fabric, fabric->by_port_guid[low])->port_guid == port_guid)
		return fabric->by_port_guid[low];
	return IBSM_NONE;
}

uint32_t fabric_port_by_lid(const struct fabric *fabric, uint16_t lid)
{
	return lid < fabric->lids ? fabric->by_lid[lid] : IBSM_NONE;
}

uint32_t fabric_node_port(const struct fabric *fabric, uint32_t node, uint8_t number)
{
	const struct ibsm_snap_node *n = fabric_node(fabric, node);
	uint32_t low = n->first_port, high = n->first_port + n->ports;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint8_t at = fabric_port(fabric, middle)->port;

		if (at == number)
			return middle;
		if (at < number)
			low = middle + 1;
		else
			high = middle;
	}
	return IBSM_NONE;
}

uint16_t fabric_node_lid(const struct fabric *fabric, uint32_t node)
{
	const struct ibsm_snap_node *n = fabric_node(fabric, node);

	for (uint32_t i = 0; i < n->ports; i++) {
		const struct ibsm_snap_port *port = fabric_port(fabric, n->first_port + i);

		if (!is_end_port(fabric, port))
			break;
		if (port->lid)
			return port->lid;
	}
	return n->switch_index == IBSM_NONE ? 0 : fabric_switch(fabric, node)->lid;
}

uint16_t fabric_port_lid(const struct fabric *fabric, uint32_t port)
{
	const struct ibsm_snap_port *p = fabric_port(fabric, port);

	return is_end_port(fabric, p) ? p->lid : fabric_node_lid(fabric, p->node);
}

/* Where in by_name the first node stands whose name is not less than `name`, or, with
 * `after_prefix`, does not begin with it and is greater. */
static size_t bisect_names(const struct fabric *f, const char *name, bool after_prefix)
{
	size_t length = strlen(name);
	size_t low = 0, high = fabric_nodes(f);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *at = fabric_node_name(f, f->by_name[middle]);
		int r = after_prefix ? strncmp(at, name, length) : strcmp(at, name);

		if (r < 0 || (after_prefix && r == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t fabric_nodes_by_name(const struct fabric *fabric, const char *name, const uint32_t **ret)
{
	size_t first = bisect_names(fabric, name, false);
	size_t last = first;

	while (last < fabric_nodes(fabric) &&
	       strcmp(fabric_node_name(fabric, fabric->by_name[last]), name) == 0)
		last++;
	*ret = fabric->by_name + first;
	return last - first;
}

size_t fabric_nodes_by_first_word(const struct fabric *fabric, const char *word,
				  const uint32_t **ret)
{
	char prefix[PRINTABLE_BYTES(IBSM_DESCRIPTION_BYTES * 4) + 1];
	size_t first;

	*ret = fabric->by_name;
	if ((size_t)snprintf(prefix, sizeof(prefix), "%s ", word) >= sizeof(prefix))
		return 0; /* no name is as long */
	first = bisect_names(fabric, prefix, false);
	*ret = fabric->by_name + first;
	return bisect_names(fabric, prefix, true) - first;
}

uint32_t fabric_node_by_any_guid(const struct fabric *fabric, uint64_t guid, uint32_t *ret_port,
				 uint32_t *ret_matches)
{
	uint32_t node = fabric_node_by_guid(fabric, guid);
	uint32_t port = IBSM_NONE, matches = 0;

	if (node == IBSM_NONE && guid) {
		port = fabric_port_by_guid(fabric, guid);
		if (port != IBSM_NONE)
			node = fabric_port(fabric, port)->node;
	}
	if (node != IBSM_NONE) {
		matches = 1;
	} else if (guid) {
		for (uint32_t i = fabric_nodes(fabric); i-- > 0;)
			if (fabric_node(fabric, i)->system_image_guid == guid) {
				node = i;
				matches++;
			}
	}
	if (ret_port)
		*ret_port = port;
	if (ret_matches)
		*ret_matches = matches;
	return node;
}
