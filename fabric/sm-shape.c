// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Whether the switches form a tree, as far as the choice of a routing engine asks.
#include <errno.h>
#include <stdlib.h>

#include "sm-config.h"

/* One link within a rank in so many: more of them is no tree. */
#define LATERAL_ONE_IN 20

/* Cables from a switch to CAs and routers; 0 for other nodes. */
static uint32_t end_links(const struct fabric *fabric, uint32_t node)
{
	const struct ibsm_snap_node *row = fabric_node(fabric, node);
	uint32_t n = 0;

	if (row->type != IBSM_NODE_SWITCH || !row->present)
		return 0;
	for (uint32_t i = 0; i < row->ports; i++) {
		uint32_t remote = fabric_link_port(fabric, row->first_port + i);

		if (remote != IBSM_NONE &&
		    fabric_node(fabric, fabric_port(fabric, remote)->node)->type !=
			    IBSM_NODE_SWITCH)
			n++;
	}
	return n;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* How many CAs make a switch a leaf: at least 2, and a quarter of what is usual among switches that
 * have any, since a few service nodes on a spine do not; 1 where no switch has more. */
static uint32_t leaf_threshold(uint32_t *counts, uint32_t n)
{
	uint32_t quarter;

	if (n == 0)
		return 2;
	qsort(counts, n, sizeof(*counts), compare);
	if (counts[n - 1] < 2)
		return 1;
	quarter = (counts[n / 2] + 3) / 4;
	return quarter > 2 ? quarter : 2;
}

/* The other end of a switch's port, if that is a switch that is there. */
static uint32_t next_switch(const struct fabric *fabric, uint32_t port)
{
	uint32_t remote = fabric_link_port(fabric, port), node;

	if (remote == IBSM_NONE)
		return IBSM_NONE;
	node = fabric_port(fabric, remote)->node;
	return fabric_node(fabric, node)->type == IBSM_NODE_SWITCH &&
			       fabric_node_present(fabric, node)
		       ? node
		       : IBSM_NONE;
}

int sm_config_find_shape(const struct fabric *fabric, enum sm_config_shape *ret)
{
	uint32_t nodes = fabric_nodes(fabric), switches = 0, with_ends = 0, reached = 0;
	uint64_t links = 0, lateral = 0, pairs = 0;
	_cleanup_free_ uint32_t *ends = calloc(nodes + 1, sizeof(*ends));
	_cleanup_free_ uint32_t *counts = calloc(nodes + 1, sizeof(*counts));
	_cleanup_free_ uint32_t *rank = calloc(nodes + 1, sizeof(*rank));
	_cleanup_free_ uint32_t *queue = calloc(nodes + 1, sizeof(*queue));
	_cleanup_free_ uint32_t *seen_from = calloc(nodes + 1, sizeof(*seen_from));
	uint32_t threshold, leaves;

	if (!ends || !counts || !rank || !queue || !seen_from)
		return -ENOMEM;
	for (uint32_t i = 0; i < nodes; i++) {
		rank[i] = IBSM_NONE;
		ends[i] = end_links(fabric, i);
		if (ends[i] > 0)
			counts[with_ends++] = ends[i];
		switches += fabric_node(fabric, i)->type == IBSM_NODE_SWITCH &&
			    fabric_node_present(fabric, i);
	}
	threshold = leaf_threshold(counts, with_ends);
	for (uint32_t i = 0; i < nodes; i++)
		if (ends[i] >= threshold) {
			rank[i] = 0;
			queue[reached++] = i;
		}
	leaves = reached;
	*ret = SM_SHAPE_ANY;
	if (switches < 2 || leaves == 0)
		return 0;
	for (uint32_t i = 0; i < reached; i++) {
		const struct ibsm_snap_node *row = fabric_node(fabric, queue[i]);

		for (uint32_t j = 0; j < row->ports; j++) {
			uint32_t next = next_switch(fabric, row->first_port + j);

			if (next != IBSM_NONE && rank[next] == IBSM_NONE) {
				rank[next] = rank[queue[i]] + 1;
				queue[reached++] = next;
			}
		}
	}
	for (uint32_t i = 0; i < reached; i++) {
		const struct ibsm_snap_node *row = fabric_node(fabric, queue[i]);

		for (uint32_t j = 0; j < row->ports; j++) {
			uint32_t next = next_switch(fabric, row->first_port + j);

			if (next == IBSM_NONE || next == queue[i])
				continue;
			links++;
			lateral += rank[next] == rank[queue[i]];
			pairs += seen_from[next] != i + 1;
			seen_from[next] = i + 1;
		}
	}
	/* Each pair of neighbours was seen from both; without a circle there is one less than
	 * switches. */
	if (pairs / 2 < reached)
		return 0;
	*ret = leaves == switches || lateral * LATERAL_ONE_IN > links ? SM_SHAPE_OTHER
								      : SM_SHAPE_TREE;
	return 0;
}
