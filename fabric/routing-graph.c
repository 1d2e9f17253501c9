// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Lays a fabric's switches, channels and destinations out for the pass over its tables.
#include "routing-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct routing_graph *routing_graph_free(struct routing_graph *g)
{
	if (!g)
		return NULL;
	free(g->nodes);
	free(g->by_node);
	free(g->lfts);
	free(g->lft_ends);
	free(g->hops);
	free(g->channels);
	free(g->first_channel);
	free(g->channel_switch);
	free(g->ins_first);
	free(g->ins);
	free(g->neighbours_first);
	free(g->neighbours);
	free(g->own);
	free(g->own_first);
	free(g->own_sources);
	free(g->source_index);
	free(g->source_switch);
	free(g->sources);
	free(g->dests);
	free(g->leaves);
	free(g->switch_dests);
	free(g->distances);
	free(g);
	return NULL;
}

/* The port at the other end of a cable between two nodes that are present, or IBSM_NONE. */
static uint32_t peer(const struct fabric *f, uint32_t port)
{
	uint32_t remote = fabric_link_port(f, port);

	return remote != IBSM_NONE && fabric_node_present(f, fabric_port(f, remote)->node) &&
			       fabric_node_present(f, fabric_port(f, port)->node)
		       ? remote
		       : IBSM_NONE;
}

static bool is_switch(const struct fabric *f, uint32_t node)
{
	return fabric_node(f, node)->type == IBSM_NODE_SWITCH;
}

static int add_switches(struct routing_graph *g, enum routing_tables tables)
{
	const struct fabric *f = g->fabric;
	uint32_t nodes = fabric_nodes(f);

	g->by_node = calloc(nodes + 1, sizeof(*g->by_node));
	if (!g->by_node)
		return -ENOMEM;
	for (uint32_t i = 0; i < nodes; i++)
		g->by_node[i] =
			is_switch(f, i) && fabric_node_present(f, i) ? g->switches++ : IBSM_NONE;
	if (g->switches > IBSM_UNICAST_LID_MAX)
		return -E2BIG;
	g->nodes = calloc(g->switches + 1, sizeof(*g->nodes));
	g->lfts = calloc(g->switches + 1, sizeof(*g->lfts));
	g->lft_ends = calloc(g->switches + 1, sizeof(*g->lft_ends));
	g->own = calloc(g->switches + 1, sizeof(*g->own));
	g->source_index = calloc(g->switches + 1, sizeof(*g->source_index));
	g->source_switch = calloc(g->switches + 1, sizeof(*g->source_switch));
	g->hops = calloc((size_t)g->switches * ROUTING_HOPS_ROW + 1, sizeof(*g->hops));
	if (!g->nodes || !g->lfts || !g->lft_ends || !g->own || !g->source_index ||
	    !g->source_switch || !g->hops)
		return -ENOMEM;
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t s = g->by_node[i];
		const struct ibsm_snap_switch *row;

		if (s == IBSM_NONE)
			continue;
		g->nodes[s] = i;
		row = fabric_switch(f, i);
		if (!row)
			continue;
		g->lfts[s] = snapshot_lft(f->snapshot, row);
		if (tables == ROUTING_COMPUTED && snapshot_new_lft(f->snapshot, row))
			g->lfts[s] = snapshot_new_lft(f->snapshot, row);
		if (g->lfts[s])
			g->lft_ends[s] =
				row->lft_lids <= row->lft_top ? row->lft_lids : row->lft_top + 1u;
	}
	return 0;
}

/* Channels in the order of their ports' rows, and the hops that use them. */
static int add_channels(struct routing_graph *g)
{
	const struct fabric *f = g->fabric;
	uint32_t at = 0, ins = 0;

	for (uint32_t s = 0; s < g->switches; s++) {
		const struct ibsm_snap_node *node = fabric_node(f, g->nodes[s]);

		for (uint32_t i = 0; i < node->ports; i++)
			g->channel_count += peer(f, node->first_port + i) != IBSM_NONE &&
					    fabric_port(f, node->first_port + i)->port != 0;
	}
	g->channels = calloc(g->channel_count + 1, sizeof(*g->channels));
	g->first_channel = calloc(g->switches + 1, sizeof(*g->first_channel));
	g->channel_switch = calloc(g->channel_count + 1, sizeof(*g->channel_switch));
	g->ins_first = calloc(g->switches + 1, sizeof(*g->ins_first));
	g->ins = calloc(g->channel_count + 1, sizeof(*g->ins));
	if (!g->channels || !g->first_channel || !g->channel_switch || !g->ins_first || !g->ins)
		return -ENOMEM;
	for (uint32_t s = 0; s < g->switches; s++) {
		const struct ibsm_snap_node *node = fabric_node(f, g->nodes[s]);
		struct routing_hop *row = &g->hops[(size_t)s * ROUTING_HOPS_ROW];

		row[0].kind = ROUTING_HOP_SELF;
		row[IBSM_LFT_NO_PATH].kind = ROUTING_HOP_HOLE;
		g->ins_first[s] = ins;
		g->first_channel[s] = at;
		for (uint32_t i = 0; i < node->ports; i++) {
			uint32_t port = node->first_port + i, remote = peer(f, port), other;
			uint8_t number = fabric_port(f, port)->port;
			struct routing_hop *hop = &row[number];

			if (remote == IBSM_NONE || number == 0)
				continue;
			other = g->by_node[fabric_port(f, remote)->node];
			hop->channel = (uint8_t)(at - g->first_channel[s]);
			hop->kind = number == IBSM_LFT_NO_PATH			? ROUTING_HOP_HOLE
				    : !routing_port_sends(fabric_port(f, port)) ? ROUTING_HOP_DOWN
				    : other == IBSM_NONE			? ROUTING_HOP_END
							 : ROUTING_HOP_SWITCH;
			hop->next = other == IBSM_NONE ? remote : other;
			g->channels[at] = (struct routing_channel){
				.port = port,
				.remote = remote,
				.direction = other == IBSM_NONE ? ROUTING_TO_END : ROUTING_LATERAL,
				.usable = hop->kind == ROUTING_HOP_END ||
					  hop->kind == ROUTING_HOP_SWITCH};
			g->channel_switch[at++] = s;
			/* For now the channel out of this port; match_ins() turns it around. */
			if (other != IBSM_NONE)
				g->ins[ins++] = at - 1;
		}
		if (ins - g->ins_first[s] > g->ins_max)
			g->ins_max = ins - g->ins_first[s];
	}
	g->ins_first[g->switches] = ins;
	g->first_channel[g->switches] = at;
	return 0;
}

/* A channel's number among the ins of the switch that it leads to is the number of the reverse
 * channel among the switch's own. */
static void match_ins(struct routing_graph *g)
{
	const struct fabric *f = g->fabric;

	for (uint32_t s = 0; s < g->switches; s++)
		for (uint32_t i = g->ins_first[s]; i < g->ins_first[s + 1]; i++) {
			const struct ibsm_snap_port *remote =
				fabric_port(f, g->channels[g->ins[i]].remote);
			struct routing_hop *reverse =
				&g->hops[(size_t)g->by_node[remote->node] * ROUTING_HOPS_ROW +
					 remote->port];

			reverse->in = (uint8_t)(i - g->ins_first[s]);
			g->ins[i] = routing_hop_channel(g, g->by_node[remote->node], reverse);
		}
}

static int add_neighbours(struct routing_graph *g)
{
	_cleanup_free_ uint32_t *seen = calloc(g->switches + 1, sizeof(*seen));
	uint32_t count = 0;

	g->neighbours_first = calloc(g->switches + 1, sizeof(*g->neighbours_first));
	g->neighbours = calloc(g->channel_count + 1, sizeof(*g->neighbours));
	if (!seen || !g->neighbours_first || !g->neighbours)
		return -ENOMEM;
	for (uint32_t s = 0; s < g->switches; s++) {
		g->neighbours_first[s] = count;
		for (uint32_t c = g->first_channel[s]; c < g->first_channel[s + 1]; c++) {
			const struct routing_channel *channel = &g->channels[c];
			uint32_t next = g->by_node[fabric_port(g->fabric, channel->remote)->node];

			if (!channel->usable || next == IBSM_NONE || next == s ||
			    seen[next] == s + 1)
				continue;
			seen[next] = s + 1;
			g->neighbours[count++] = next;
		}
	}
	g->neighbours_first[g->switches] = count;
	return 0;
}

static int compare_sources(const void *a, const void *b)
{
	const struct routing_source *x = a, *y = b;

	if (x->lid != y->lid)
		return x->lid < y->lid ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

/* End ports whose own side of the cable carries data send through the switch there. */
static int add_sources(struct routing_graph *g)
{
	const struct fabric *f = g->fabric;

	g->sources = calloc(g->channel_count + 1, sizeof(*g->sources));
	g->own_sources = calloc(g->channel_count + 1, sizeof(*g->own_sources));
	g->own_first = calloc(g->switches + 1, sizeof(*g->own_first));
	if (!g->sources || !g->own_sources || !g->own_first)
		return -ENOMEM;
	for (uint32_t c = 0; c < g->channel_count; c++) {
		const struct ibsm_snap_port *port = fabric_port(f, g->channels[c].remote);
		uint32_t s = g->channel_switch[c];

		if (g->channels[c].direction != ROUTING_TO_END || !routing_port_sends(port) ||
		    port->lid == 0)
			continue;
		g->own[s]++;
		g->sources[g->source_count++] =
			(struct routing_source){.lid = port->lid,
						.lmc = port->lmc & 7,
						.sw = s,
						.port = g->channels[c].remote};
		if ((port->lmc & 7) > g->lmc_max)
			g->lmc_max = port->lmc & 7;
	}
	qsort(g->sources, g->source_count, sizeof(*g->sources), compare_sources);
	for (uint32_t s = 0; s < g->switches; s++)
		g->own_first[s + 1] = g->own_first[s] + g->own[s];
	for (uint32_t i = 0; i < g->source_count; i++)
		g->own_sources[g->own_first[g->sources[i].sw]++] = i;
	for (uint32_t s = g->switches; s > 0; s--)
		g->own_first[s] = g->own_first[s - 1];
	g->own_first[0] = 0;
	for (uint32_t s = 0; s < g->switches; s++) {
		g->source_index[s] = g->own[s] ? g->source_switches : IBSM_NONE;
		if (g->own[s])
			g->source_switch[g->source_switches++] = s;
	}
	return 0;
}

static int compare_dests(const void *a, const void *b)
{
	const struct routing_dest *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return x->lid < y->lid ? -1 : x->lid > y->lid;
}

/* The first source that may have the LID; those that do are from there on up to the LID itself. */
uint32_t routing_first_claim(const struct routing_graph *g, uint32_t lid)
{
	const uint32_t reach = (1u << g->lmc_max) - 1;
	uint32_t low = 0, high = g->source_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (g->sources[middle].lid + reach < lid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many sources have a LID, and whether `port` is one of them. */
static uint32_t count_claims(const struct routing_graph *g, uint32_t lid, uint32_t port,
			     bool *ret_own)
{
	uint32_t claims = 0;

	*ret_own = false;
	for (uint32_t i = routing_first_claim(g, lid);
	     i < g->source_count && g->sources[i].lid <= lid; i++)
		if (routing_claims(&g->sources[i], lid)) {
			claims++;
			*ret_own |= g->sources[i].port == port;
		}
	return claims;
}

static void add_dest(struct routing_graph *g, const uint8_t *io_nodes, uint32_t lid)
{
	const struct fabric *f = g->fabric;
	uint32_t port = fabric_port_by_lid(f, (uint16_t)lid), remote;
	const struct ibsm_snap_port *row;
	struct routing_dest dest;
	bool own;

	if (port == IBSM_NONE || !fabric_node_present(f, fabric_port(f, port)->node))
		return;
	row = fabric_port(f, port);
	dest = (struct routing_dest){.port = port, .lid = (uint16_t)lid};
	if (is_switch(f, row->node)) {
		dest.sw = g->by_node[row->node];
		dest.sole = count_claims(g, lid, port, &own) == 0;
		g->switch_dests[g->switch_dest_count++] = dest;
		return;
	}
	remote = peer(f, port);
	if (remote == IBSM_NONE || !is_switch(f, fabric_port(f, remote)->node))
		return;
	dest.sw = g->by_node[fabric_port(f, remote)->node];
	dest.out = fabric_port(f, remote)->port;
	dest.io = io_nodes && io_nodes[row->node];
	dest.sole = count_claims(g, lid, port, &own) == 1 && own;
	if ((row->lmc & 7) > g->lmc_max)
		g->lmc_max = row->lmc & 7;
	g->dests[g->dest_count++] = dest;
}

static int add_dests(struct routing_graph *g, const uint8_t *io_nodes)
{
	const struct fabric *f = g->fabric;

	g->dests = calloc(f->lids + 1, sizeof(*g->dests));
	g->switch_dests = calloc(f->lids + 1, sizeof(*g->switch_dests));
	g->leaves = calloc(g->switches + 1, sizeof(*g->leaves));
	if (!g->dests || !g->switch_dests || !g->leaves)
		return -ENOMEM;
	for (uint32_t lid = 1; lid < f->lids; lid++)
		add_dest(g, io_nodes, lid);
	qsort(g->dests, g->dest_count, sizeof(*g->dests), compare_dests);
	for (uint32_t i = 0; i < g->dest_count; i++) {
		const struct routing_dest *dest = &g->dests[i];

		g->dests[i].last = i + 1 == g->dest_count || dest[1].port != dest->port;
		if (i == 0 || dest->sw != dest[-1].sw)
			g->leaves[g->leaf_count++] =
				(struct routing_leaf){.sw = dest->sw, .first = i};
		g->leaves[g->leaf_count - 1].end = i + 1;
	}
	return 0;
}

/*
 * Distances from all switches to all leaves: one breadth-first search, in which each switch holds a
 * bit set of the leaves that it has a way to.
 */
static int find_distances(struct routing_graph *g)
{
	size_t words = routing_words(g->leaf_count), all = words * g->switches;
	_cleanup_free_ uint64_t *reached = calloc(all + 1, sizeof(*reached));
	_cleanup_free_ uint64_t *before = calloc(all + 1, sizeof(*before));
	_cleanup_free_ uint64_t *now = calloc(all + 1, sizeof(*now));
	bool more = g->leaf_count > 0;

	g->distances = malloc(((size_t)g->leaf_count * g->switches + 1) * sizeof(*g->distances));
	if (!reached || !before || !now || !g->distances)
		return -ENOMEM;
	memset(g->distances, 0xff, (size_t)g->leaf_count * g->switches * sizeof(*g->distances));
	for (uint32_t i = 0; i < g->leaf_count; i++) {
		uint64_t bit = UINT64_C(1) << (i % 64);
		size_t at = g->leaves[i].sw * words + i / 64;

		reached[at] |= bit;
		before[at] |= bit;
		g->distances[(size_t)i * g->switches + g->leaves[i].sw] = 0;
	}
	for (uint32_t distance = 1; more && distance < ROUTING_FAR; distance++) {
		uint64_t *swap;

		more = false;
		for (uint32_t s = 0; s < g->switches; s++) {
			uint64_t *row = &now[s * words];

			memset(row, 0, words * sizeof(*row));
			for (uint32_t i = g->neighbours_first[s]; i < g->neighbours_first[s + 1];
			     i++) {
				const uint64_t *from = &before[g->neighbours[i] * words];

				for (size_t w = 0; w < words; w++)
					row[w] |= from[w];
			}
			for (size_t w = 0; w < words; w++) {
				row[w] &= ~reached[s * words + w];
				reached[s * words + w] |= row[w];
				for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
					size_t leaf = w * 64 + (size_t)__builtin_ctzll(bits);

					g->distances[leaf * g->switches + s] = (uint16_t)distance;
					more = true;
				}
			}
		}
		swap = before;
		before = now;
		now = swap;
	}
	return 0;
}

int routing_graph_new(const struct fabric *fabric, enum routing_tables tables,
		      const uint8_t *io_nodes, bool distances, struct routing_graph **ret)
{
	_cleanup_(routing_graph_freep) struct routing_graph *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return -ENOMEM;
	g->fabric = fabric;
	r = add_switches(g, tables);
	if (r == 0)
		r = add_channels(g);
	if (r < 0)
		return r;
	match_ins(g);
	r = add_neighbours(g);
	if (r == 0)
		r = add_sources(g);
	if (r == 0)
		r = add_dests(g, io_nodes);
	if (r == 0 && distances)
		r = find_distances(g);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(g);
	return 0;
}
