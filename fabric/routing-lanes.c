// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Dependencies between channels by virtual lane, where each path has a service level of its own.
#include "routing-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct walker {
	const struct routing_graph *graph;
	struct routing_lanes *lanes;
	uint32_t *visits; /* by switch: 2 * number: done; + 1: on the way */
	uint32_t visit;
	uint16_t *used; /* by switch: lanes of what is there */
	uint32_t *way;
	uint32_t *done; /* each after its next hop; a loop's switches together */
	uint32_t done_count;
	bool loops;
};

void routing_lanes_clear(struct routing_lanes *lanes)
{
	for (uint32_t i = 0; i < ROUTING_LANES; i++)
		free(lanes->dependencies[i]);
	*lanes = (struct routing_lanes){0};
}

static void walk(struct walker *w, uint32_t sw, uint32_t lid)
{
	uint32_t length = 0;

	while (w->visits[sw] < 2 * w->visit) {
		const struct routing_hop *hop = routing_hop(w->graph, sw, lid);

		w->visits[sw] = 2 * w->visit + 1;
		w->way[length++] = sw;
		if (hop->kind != ROUTING_HOP_SWITCH)
			break;
		sw = hop->next;
		w->loops |= w->visits[sw] == 2 * w->visit + 1;
	}
	while (length > 0) {
		w->visits[w->way[--length]] = 2 * w->visit;
		w->done[w->done_count++] = w->way[length];
	}
}

/* Hands the lanes of what is at a switch over to the next one. */
static int hand_over(struct walker *w, uint32_t sw, uint32_t lid)
{
	const struct routing_graph *g = w->graph;
	const struct routing_hop *hop = routing_hop(g, sw, lid), *next;

	if (hop->kind != ROUTING_HOP_SWITCH)
		return 0;
	w->used[hop->next] |= w->used[sw];
	next = routing_hop(g, hop->next, lid);
	if (next->kind != ROUTING_HOP_SWITCH)
		return 0;
	for (uint32_t lane = 0; lane < ROUTING_LANES; lane++) {
		uint64_t **rows = &w->lanes->dependencies[lane];

		if (!(w->used[sw] >> lane & 1))
			continue;
		if (!*rows)
			*rows = calloc((size_t)g->channel_count * w->lanes->in_words,
				       sizeof(**rows));
		if (!*rows)
			return -ENOMEM;
		(*rows)[(size_t)routing_hop_channel(g, hop->next, next) * w->lanes->in_words +
			hop->in / 64] |= UINT64_C(1) << (hop->in % 64);
	}
	return 0;
}

static int walk_all_to(struct walker *w, const struct routing_config *config,
		       const uint8_t *sl_to_vl, uint32_t lid)
{
	const struct routing_graph *g = w->graph;

	memset(w->used, 0, g->switches * sizeof(*w->used));
	w->visit++;
	w->done_count = 0;
	w->loops = false;
	for (uint32_t i = 0; i < g->source_count; i++) {
		const struct routing_source *source = &g->sources[i];
		uint8_t level;

		if (routing_claims(source, lid))
			continue;
		level = config->path_sl(config->path_sl_userdata, source->lid, (uint16_t)lid) & 15;
		w->used[source->sw] |= (uint16_t)(1u << (sl_to_vl[level] & 15));
		walk(w, source->sw, lid);
	}
	/* Backwards each switch comes before its next hop; a loop needs to be gone around twice. */
	for (int round = 0; round < (w->loops ? 2 : 1); round++)
		for (uint32_t i = w->done_count; i > 0; i--) {
			int r = hand_over(w, w->done[i - 1], lid);

			if (r < 0)
				return r;
		}
	return 0;
}

int routing_lanes_fill(const struct routing_graph *graph, const struct routing_config *config,
		       const uint8_t *sl_to_vl, uint32_t in_words, struct routing_lanes *ret)
{
	_cleanup_(routing_lanes_clear) struct routing_lanes lanes = {.in_words = in_words};
	_cleanup_free_ uint32_t *visits = calloc(graph->switches + 1, sizeof(*visits));
	_cleanup_free_ uint16_t *used = calloc(graph->switches + 1, sizeof(*used));
	_cleanup_free_ uint32_t *way = calloc(graph->switches + 1, sizeof(*way));
	_cleanup_free_ uint32_t *done = calloc(graph->switches + 1, sizeof(*done));
	struct walker walker = {.graph = graph,
				.lanes = &lanes,
				.visits = visits,
				.used = used,
				.way = way,
				.done = done};

	if (!visits || !used || !way || !done)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->dest_count; i++) {
		int r = walk_all_to(&walker, config, sl_to_vl, graph->dests[i].lid);

		if (r < 0)
			return r;
		if (config->stop && atomic_load(config->stop))
			return -ECANCELED;
	}
	*ret = lanes;
	lanes = (struct routing_lanes){0};
	return 0;
}
