// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Finds what does not answer opensm although its link is up: the usual cause of slow sweeps.
#include "node-watch.h"

/* PortInfo: PortPhysicalState LinkUp; PortState Initialize, the first beyond Down. IBTA 14.2.5.6.
 */
#define PHYSICAL_LINK_UP 5
#define STATE_INIT 2

static struct node_suspect *find(struct node_watch *watch, uint64_t node_guid, uint8_t port)
{
	for (size_t i = 0; i < watch->count; i++)
		if (watch->suspects[i].node_guid == node_guid && watch->suspects[i].port == port)
			return &watch->suspects[i];
	return NULL;
}

/* The node at the other end of a port in the fabric before. */
static void who_was_there(const struct fabric *before, struct node_suspect *suspect)
{
	uint32_t node, port, remote;

	if (!before)
		return;
	node = fabric_node_by_guid(before, suspect->node_guid);
	if (node == IBSM_NONE)
		return;
	port = fabric_node_port(before, node, suspect->port);
	if (port == IBSM_NONE)
		return;
	remote = fabric_link_port(before, port);
	if (remote == IBSM_NONE)
		return;
	node = fabric_port(before, remote)->node;
	suspect->was_guid = fabric_node(before, node)->node_guid;
	sm_name_copy(suspect->was_name, fabric_node_name(before, node));
}

static void suspect(struct node_watch *watch, const struct fabric *fabric, uint32_t node,
		    uint8_t port, const struct detect_time *now)
{
	uint64_t guid = fabric_node(fabric, node)->node_guid;
	struct node_suspect *entry = find(watch, guid, port);

	if (!entry) {
		if (watch->count == NODE_SUSPECTS_MAX) {
			watch->left_out++;
			return;
		}
		entry = &watch->suspects[watch->count++];
		*entry = (struct node_suspect){
			.node_guid = guid,
			.port = port,
			.since_usec = now->monotonic_usec,
			.since_realtime_usec = now->realtime_usec,
		};
		if (port != 0)
			who_was_there(watch->before, entry);
	}
	sm_name_copy(entry->name, fabric_node_name(fabric, node));
	entry->snapshots++;
	entry->fresh = true;
}

static bool leads_to_nobody(const struct ibsm_snap_port *port)
{
	return port->port != 0 && port->remote == IBSM_NONE &&
	       port->physical_state == PHYSICAL_LINK_UP && port->state >= STATE_INIT;
}

static void drop_stale(struct node_watch *watch)
{
	size_t kept = 0;

	for (size_t i = 0; i < watch->count; i++)
		if (watch->suspects[i].fresh) {
			if (kept != i)
				watch->suspects[kept] = watch->suspects[i];
			kept++;
		}
	watch->count = kept;
}

/* All suspects in a fabric: those that are known already, or the new ones. */
static void look(struct node_watch *watch, const struct fabric *fabric, bool known,
		 const struct detect_time *now)
{
	for (uint32_t node = 0; node < fabric_nodes(fabric); node++) {
		const struct ibsm_snap_node *row = fabric_node(fabric, node);

		if (!row->present) {
			if ((find(watch, row->node_guid, 0) != NULL) == known)
				suspect(watch, fabric, node, 0, now);
			continue;
		}
		for (uint32_t i = 0; i < row->ports; i++) {
			const struct ibsm_snap_port *port =
				fabric_port(fabric, row->first_port + i);

			if (leads_to_nobody(port) &&
			    (find(watch, row->node_guid, port->port) != NULL) == known)
				suspect(watch, fabric, node, port->port, now);
		}
	}
}

void node_watch_fabric(struct node_watch *watch, struct fabric *fabric,
		       const struct detect_time *now)
{
	for (size_t i = 0; i < watch->count; i++)
		watch->suspects[i].fresh = false;
	watch->left_out = 0;
	/* Those that are suspects no more make room for new ones. */
	look(watch, fabric, true, now);
	drop_stale(watch);
	look(watch, fabric, false, now);
	fabric_unref(watch->before);
	watch->before = fabric_ref(fabric);
}

void node_watch_clear(struct node_watch *watch)
{
	watch->before = fabric_unref(watch->before);
	watch->count = 0;
	watch->left_out = 0;
}
