// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Cables: which ports make one, which end is its first, and a walk over all.
#include "fabric.h"

uint32_t fabric_link_port(const struct fabric *fabric, uint32_t port)
{
	uint32_t remote = fabric_port(fabric, port)->remote;

	return remote != IBSM_NONE && fabric_port(fabric, remote)->remote == port ? remote
										  : IBSM_NONE;
}

bool fabric_link_is_a(const struct fabric *fabric, uint32_t port)
{
	uint32_t remote = fabric_link_port(fabric, port);
	const struct ibsm_snap_node *here, *there;
	bool here_switch, there_switch;

	if (remote == IBSM_NONE)
		return false;
	here = fabric_node(fabric, fabric_port(fabric, port)->node);
	there = fabric_node(fabric, fabric_port(fabric, remote)->node);
	if (!here->present || !there->present)
		return false;
	here_switch = here->type == IBSM_NODE_SWITCH;
	there_switch = there->type == IBSM_NODE_SWITCH;
	if (here_switch != there_switch)
		return here_switch;
	/* Rows stand by ascending node GUID, then port number. */
	return port <= remote;
}

bool fabric_link_next(const struct fabric *fabric, struct fabric_link_iterator *iterator,
		      struct fabric_link *ret)
{
	for (; iterator->node_rank < fabric_nodes(fabric);
	     iterator->node_rank++, iterator->port = 0) {
		const struct ibsm_snap_node *node =
			fabric_node(fabric, fabric->by_name[iterator->node_rank]);

		while (iterator->port < node->ports) {
			uint32_t port = node->first_port + iterator->port++;

			if (!fabric_link_is_a(fabric, port))
				continue;
			*ret = (struct fabric_link){port, fabric_link_port(fabric, port)};
			return true;
		}
	}
	return false;
}
