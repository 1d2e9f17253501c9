// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Finds leaves, ranks, and whether up and down mean something in a fabric.
#include "routing-internal.h"

#include <errno.h>
#include <stdlib.h>

/* One cable within a rank in so many: more of them is no tree. */
#define LATERAL_ONE_IN 20

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* How many sources make a leaf: two, and a quarter of what is usual among switches that have any,
 * since a few service nodes on a spine do not; one where no switch has more. */
static int leaf_threshold(const struct routing_graph *g, uint32_t *ret)
{
	_cleanup_free_ uint32_t *counts = calloc(g->switches + 1, sizeof(*counts));
	uint32_t n = 0, quarter;

	if (!counts)
		return -ENOMEM;
	for (uint32_t s = 0; s < g->switches; s++)
		if (g->own[s])
			counts[n++] = g->own[s];
	qsort(counts, n, sizeof(*counts), compare);
	*ret = 1;
	if (n == 0 || counts[n - 1] < 2)
		return 0;
	quarter = (counts[n / 2] + 3) / 4;
	*ret = quarter > 2 ? quarter : 2;
	return 0;
}

/* Breadth first from the switches whose `distance` is 0. */
static void spread(const struct routing_graph *g, uint32_t *distance, uint32_t *queue)
{
	uint32_t tail = 0;

	for (uint32_t s = 0; s < g->switches; s++)
		if (distance[s] == 0)
			queue[tail++] = s;
	for (uint32_t head = 0; head < tail; head++)
		for (uint32_t i = g->neighbours_first[queue[head]];
		     i < g->neighbours_first[queue[head] + 1]; i++) {
			uint32_t next = g->neighbours[i];

			if (distance[next] != IBSM_NONE)
				continue;
			distance[next] = distance[queue[head]] + 1;
			queue[tail++] = next;
		}
}

static const char *why_no_tree(const struct routing_graph *g, const struct routing_shape *shape,
			       uint32_t top, uint32_t channels)
{
	if (shape->leaves == 0)
		return "no switch has end ports";
	if (g->switches == 1)
		return "there is one switch";
	if (top == 0)
		return "each switch has end ports";
	if (shape->lateral * LATERAL_ONE_IN > channels)
		return "many cables join switches of one rank";
	if (top >= ROUTING_LEVELS_MAX)
		return "some switches are far from all end ports";
	return NULL;
}

int routing_find_shape(const struct routing_graph *g, struct routing_result *result)
{
	_cleanup_free_ uint32_t *rank = calloc(g->switches + 1, sizeof(*rank));
	_cleanup_free_ uint32_t *from_top = calloc(g->switches + 1, sizeof(*from_top));
	_cleanup_free_ uint32_t *queue = calloc(g->switches + 1, sizeof(*queue));
	struct routing_shape *shape = &result->shape;
	uint32_t threshold, top = 0, channels = 0;
	int r = leaf_threshold(g, &threshold);

	result->ranks = malloc(fabric_nodes(g->fabric) + 1);
	if (!rank || !from_top || !queue || !result->ranks || r < 0)
		return -ENOMEM;
	for (uint32_t s = 0; s < g->switches; s++) {
		rank[s] = g->own[s] >= threshold ? 0 : IBSM_NONE;
		shape->leaves += rank[s] == 0;
	}
	spread(g, rank, queue);
	for (uint32_t s = 0; s < g->switches; s++)
		if (rank[s] != IBSM_NONE && rank[s] > top)
			top = rank[s];
	for (uint32_t c = 0; c < g->channel_count; c++) {
		const struct routing_channel *channel = &result->channels[c];
		uint32_t from = g->channel_switch[c], to;

		if (!routing_is_link(g->fabric, channel))
			continue;
		to = g->by_node[fabric_port(g->fabric, channel->remote)->node];
		channels++;
		shape->lateral += rank[from] == rank[to];
	}
	shape->not_tree = why_no_tree(g, shape, top, channels);
	shape->tree = !shape->not_tree;
	shape->ranks = top + 1;
	for (uint32_t i = 0; i < fabric_nodes(g->fabric); i++) {
		uint32_t s = g->by_node[i];

		result->ranks[i] =
			s == IBSM_NONE || rank[s] >= UINT8_MAX ? UINT8_MAX : (uint8_t)rank[s];
	}
	if (!shape->tree)
		return 0;
	for (uint32_t s = 0; s < g->switches; s++)
		from_top[s] = rank[s] == top ? 0 : IBSM_NONE;
	spread(g, from_top, queue);
	for (uint32_t s = 0; s < g->switches; s++)
		shape->uneven += rank[s] != IBSM_NONE && rank[s] + from_top[s] != top;
	for (uint32_t c = 0; c < g->channel_count; c++) {
		struct routing_channel *channel = &result->channels[c];
		uint32_t from = rank[g->channel_switch[c]], to;

		if (channel->direction == ROUTING_TO_END)
			continue;
		to = rank[g->by_node[fabric_port(g->fabric, channel->remote)->node]];
		channel->direction = from == to	 ? ROUTING_LATERAL
				     : from < to ? ROUTING_UP
						 : ROUTING_DOWN;
		from = from < to ? from : to;
		channel->rank = from == IBSM_NONE ? 0 : (uint8_t)from;
	}
	return 0;
}
