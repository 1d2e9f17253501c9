// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Where the SMs stand in the fabric: how far from its rim, behind which link, beside which other
// SM.
#include "sm-placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ibsm/wire.h"
#include "names.h"

/* Present switches as a graph, without direction, each neighbour once. Vertices are 0…count - 1. */
struct graph {
	uint32_t count;
	uint32_t *node;	  /* vertex → node index */
	uint32_t *vertex; /* node index → vertex, IBSM_NONE */
	uint32_t *first;  /* vertex → into `neighbours`; count + 1 entries */
	uint32_t *neighbours;
	/* Of the last search: */
	uint32_t *distance; /* SM_HOPS_UNKNOWN: not reached */
	uint32_t *queue;    /* reached vertices, nearest first */
	uint32_t reached;
	uint64_t work;
};

static void graph_clear(struct graph *g)
{
	free(g->node);
	free(g->vertex);
	free(g->first);
	free(g->neighbours);
	free(g->distance);
	free(g->queue);
}

static void add_neighbours(const struct fabric *fabric, struct graph *g, uint32_t v,
			   uint32_t *seen_for, uint32_t *end)
{
	const struct ibsm_snap_node *node = fabric_node(fabric, g->node[v]);

	g->first[v] = *end;
	for (uint32_t i = 0; i < node->ports; i++) {
		uint32_t remote = fabric_link_port(fabric, node->first_port + i);
		uint32_t w;

		if (remote == IBSM_NONE)
			continue;
		w = g->vertex[fabric_port(fabric, remote)->node];
		if (w == IBSM_NONE || w == v || seen_for[w] == v)
			continue;
		seen_for[w] = v;
		g->neighbours[(*end)++] = w;
	}
}

static int graph_init(const struct fabric *fabric, struct graph *g)
{
	_cleanup_free_ uint32_t *seen_for = NULL;
	uint32_t nodes = fabric_nodes(fabric);
	uint32_t end = 0;

	g->node = calloc(nodes + 1, sizeof(*g->node));
	g->vertex = calloc(nodes + 1, sizeof(*g->vertex));
	g->first = calloc(nodes + 1, sizeof(*g->first));
	g->neighbours = calloc(fabric_ports(fabric) + 1, sizeof(*g->neighbours));
	g->distance = calloc(nodes + 1, sizeof(*g->distance));
	g->queue = calloc(nodes + 1, sizeof(*g->queue));
	seen_for = calloc(nodes + 1, sizeof(*seen_for));
	if (!g->node || !g->vertex || !g->first || !g->neighbours || !g->distance || !g->queue ||
	    !seen_for)
		return -ENOMEM;
	for (uint32_t i = 0; i < nodes; i++) {
		g->vertex[i] = IBSM_NONE;
		if (fabric_node(fabric, i)->type == IBSM_NODE_SWITCH &&
		    fabric_node_present(fabric, i)) {
			g->vertex[i] = g->count;
			g->node[g->count++] = i;
		}
	}
	memset(seen_for, 0xff, nodes * sizeof(*seen_for));
	for (uint32_t v = 0; v < g->count; v++)
		add_neighbours(fabric, g, v, seen_for, &end);
	g->first[g->count] = end;
	return 0;
}

/* Breadth first from `v`; returns the distance of the farthest vertex reached. */
static uint32_t search(struct graph *g, uint32_t v)
{
	memset(g->distance, 0xff, g->count * sizeof(*g->distance));
	g->distance[v] = 0;
	g->queue[0] = v;
	g->reached = 1;
	for (uint32_t i = 0; i < g->reached; i++) {
		uint32_t u = g->queue[i];

		g->work += g->first[u + 1] - g->first[u] + 1;
		for (uint32_t j = g->first[u]; j < g->first[u + 1]; j++) {
			uint32_t w = g->neighbours[j];

			if (g->distance[w] != SM_HOPS_UNKNOWN)
				continue;
			g->distance[w] = g->distance[u] + 1;
			g->queue[g->reached++] = w;
		}
	}
	return g->distance[g->queue[g->reached - 1]];
}

/* The vertex that may be the best one, of those not searched from: smallest bound, then most
 * neighbours. IBSM_NONE: none can be better than `best`. */
static uint32_t most_promising(const struct graph *g, const uint32_t *lower, const bool *done,
			       uint32_t best)
{
	uint32_t found = IBSM_NONE;

	for (uint32_t v = 0; v < g->count; v++) {
		if (done[v] || lower[v] >= best)
			continue;
		if (found == IBSM_NONE || lower[v] < lower[found] ||
		    (lower[v] == lower[found] &&
		     g->first[v + 1] - g->first[v] > g->first[found + 1] - g->first[found]))
			found = v;
	}
	return found;
}

/* The switch with the smallest distance to the farthest one, within the part that `start` is in. */
static int find_best(const struct fabric *fabric, struct graph *g, uint32_t start,
		     struct sm_placement *ret)
{
	_cleanup_free_ uint32_t *lower = calloc((size_t)g->count + 1, sizeof(*lower));
	_cleanup_free_ bool *done = calloc((size_t)g->count + 1, sizeof(*done));
	uint32_t best = SM_HOPS_UNKNOWN, best_vertex = start, v = start;

	if (!lower || !done)
		return -ENOMEM;
	ret->best_is_exact = true;
	do {
		uint32_t farthest = search(g, v);

		if (v == start) /* what it does not reach is another fabric */
			for (uint32_t w = 0; w < g->count; w++)
				done[w] = g->distance[w] == SM_HOPS_UNKNOWN;
		done[v] = true;
		if (farthest < best) {
			best = farthest;
			best_vertex = v;
		}
		for (uint32_t i = 0; i < g->reached; i++) {
			uint32_t w = g->queue[i], d = g->distance[w];
			uint32_t bound = d > farthest - d ? d : farthest - d;

			if (bound > lower[w])
				lower[w] = bound;
		}
		v = most_promising(g, lower, done, best);
		if (v != IBSM_NONE && g->work >= SM_PLACEMENT_WORK_MAX) {
			ret->best_is_exact = false;
			break;
		}
	} while (v != IBSM_NONE);
	ret->best_hops = best;
	ret->best_switch_guid = fabric_node(fabric, g->node[best_vertex])->node_guid;
	sm_name_copy(ret->best_switch_name, fabric_node_name(fabric, g->node[best_vertex]));
	return 0;
}

/* ---- links ---- */

static int compare_rates(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The median rate of the end ports that are linked. */
static int usual_rate(const struct fabric *fabric, uint32_t *ret)
{
	_cleanup_free_ uint32_t *rates = calloc(fabric_ports(fabric) + 1, sizeof(*rates));
	uint32_t n = 0;

	if (!rates)
		return -ENOMEM;
	for (uint32_t i = 0; i < fabric_ports(fabric); i++) {
		const struct ibsm_snap_port *port = fabric_port(fabric, i);
		const struct ibsm_snap_node *node = fabric_node(fabric, port->node);

		if (node->present && node->type != IBSM_NODE_SWITCH &&
		    fabric_link_port(fabric, i) != IBSM_NONE && port_rate_mbps(port) > 0)
			rates[n++] = port_rate_mbps(port);
	}
	qsort(rates, n, sizeof(*rates), compare_rates);
	*ret = n > 0 ? rates[n / 2] : 0;
	return 0;
}

/* The fastest that two ends have both enabled and support; 0: not known. */
static uint32_t best_rate(const struct ibsm_snap_port *a, const struct ibsm_snap_port *b)
{
	uint8_t widths =
		a->width_enabled & a->width_supported & b->width_enabled & b->width_supported;
	uint32_t speeds = port_speeds_enabled(a) & port_speeds_supported(a) &
			  port_speeds_enabled(b) & port_speeds_supported(b);
	unsigned int lanes = 0;
	uint32_t lane_mbps = 0;

	for (unsigned int bit = 1; bit <= 16; bit <<= 1)
		if (widths & bit && width_lanes((uint8_t)bit) > lanes)
			lanes = width_lanes((uint8_t)bit);
	for (int speed = SPEED_UNKNOWN + 1; speed < SPEED_MAX; speed++)
		if (speeds & (1u << speed) && speed_lane_mbps((enum speed)speed) > lane_mbps)
			lane_mbps = speed_lane_mbps((enum speed)speed);
	return lanes * lane_mbps;
}

/* ---- places ---- */

/* The node index of the switch that `place` is at, or IBSM_NONE; fills in what the link says. */
static uint32_t locate(const struct fabric *fabric, uint32_t port, struct sm_place *place)
{
	const struct ibsm_snap_port *row = fabric_port(fabric, port), *remote_row;
	uint32_t remote, node;

	if (fabric_node(fabric, row->node)->type == IBSM_NODE_SWITCH) {
		place->embedded = true;
		return row->node;
	}
	remote = fabric_link_port(fabric, port);
	if (remote == IBSM_NONE)
		return IBSM_NONE;
	remote_row = fabric_port(fabric, remote);
	place->rate_mbps = port_rate_mbps(row);
	place->best_mbps = best_rate(row, remote_row);
	node = remote_row->node;
	if (fabric_node(fabric, node)->type != IBSM_NODE_SWITCH)
		return IBSM_NONE;
	place->switch_port = remote_row->port;
	return node;
}

static void measure(struct graph *g, uint32_t v, struct sm_place *place)
{
	uint64_t sum = 0;

	place->hops = search(g, v);
	for (uint32_t i = 0; i < g->reached; i++)
		sum += g->distance[g->queue[i]];
	if (g->reached > 1)
		place->mean_hops = (double)sum / (g->reached - 1);
}

static void judge(struct sm_place *place, const struct sm_placement *placement,
		  const struct sm_placement_config *config)
{
	if (place->hops != SM_HOPS_UNKNOWN && placement->best_hops != SM_HOPS_UNKNOWN &&
	    place->hops >= placement->best_hops + config->extra_hops)
		place->reasons |= SM_PLACED_FAR;
	if (place->rate_mbps > 0 && place->rate_mbps < placement->usual_mbps)
		place->reasons |= SM_PLACED_SLOW_LINK;
	if (place->rate_mbps > 0 && place->rate_mbps < place->best_mbps)
		place->reasons |= SM_PLACED_DEGRADED_LINK;
	if (place->embedded && placement->nodes > config->embedded_nodes_max)
		place->reasons |= SM_PLACED_EMBEDDED;
}

/* Standbys, if all of them are where the master is: one switch takes them all away. */
static void judge_standbys(struct sm_placement *placement)
{
	const struct sm_place *master = NULL;
	size_t standbys = 0, beside = 0;

	for (size_t i = 0; i < placement->count; i++)
		if (placement->places[i].state == IBSM_SM_MASTER)
			master = &placement->places[i];
	if (!master || master->switch_guid == 0)
		return;
	for (size_t i = 0; i < placement->count; i++)
		if (placement->places[i].state == IBSM_SM_STANDBY) {
			standbys++;
			beside += placement->places[i].switch_guid == master->switch_guid;
		}
	if (beside < standbys)
		return;
	for (size_t i = 0; i < placement->count; i++)
		if (placement->places[i].state == IBSM_SM_STANDBY)
			placement->places[i].reasons |= SM_PLACED_SAME_SWITCH;
}

static int find(const struct fabric *fabric, const struct sm_placement_config *config,
		struct graph *g, struct sm_placement *ret)
{
	const struct snapshot *snapshot = fabric->snapshot;
	uint32_t start = IBSM_NONE;
	int r;

	r = usual_rate(fabric, &ret->usual_mbps);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < snapshot_sms(snapshot) && ret->count < SM_TABLE_MAX; i++) {
		const struct ibsm_snap_sm *sm = snapshot_sm(snapshot, i);
		uint32_t port = fabric_port_by_guid(fabric, sm->port_guid), node;
		struct sm_place *place;

		if (port == IBSM_NONE ||
		    !fabric_node_present(fabric, fabric_port(fabric, port)->node))
			continue;
		place = &ret->places[ret->count++];
		*place = (struct sm_place){
			.port_guid = sm->port_guid, .state = sm->state, .hops = SM_HOPS_UNKNOWN};
		node = locate(fabric, port, place);
		if (node == IBSM_NONE || g->vertex[node] == IBSM_NONE)
			continue;
		place->switch_guid = fabric_node(fabric, node)->node_guid;
		sm_name_copy(place->switch_name, fabric_node_name(fabric, node));
		measure(g, g->vertex[node], place);
		if (start == IBSM_NONE || sm->state == IBSM_SM_MASTER)
			start = g->vertex[node];
	}
	if (start != IBSM_NONE) {
		r = find_best(fabric, g, start, ret);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < ret->count; i++)
		judge(&ret->places[i], ret, config);
	judge_standbys(ret);
	return 0;
}

int sm_placement_find(const struct fabric *fabric, const struct sm_placement_config *config,
		      struct sm_placement *ret)
{
	struct sm_placement placement = {
		.best_hops = SM_HOPS_UNKNOWN,
		.switches = fabric_counts(fabric)->switches,
		.nodes = fabric_counts(fabric)->nodes,
	};
	struct graph g = {0};
	int r = graph_init(fabric, &g);

	if (r >= 0)
		r = find(fabric, config, &g, &placement);
	graph_clear(&g);
	if (r < 0)
		return r;
	*ret = placement;
	return 0;
}

const char *sm_placement_reason_name(enum sm_placement_reason reason)
{
	switch (reason) {
	case SM_PLACED_FAR:
		return "far";
	case SM_PLACED_SLOW_LINK:
		return "slow-link";
	case SM_PLACED_DEGRADED_LINK:
		return "degraded-link";
	case SM_PLACED_SAME_SWITCH:
		return "same-switch";
	case SM_PLACED_EMBEDDED:
		return "embedded";
	case SM_PLACED_FLAPPING_LINK:
		return "flapping-link";
	}
	return NULL;
}
