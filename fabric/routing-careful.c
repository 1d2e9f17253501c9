// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Follows the tables for one destination LID wherever they lead: holes, detours and loops.
#include "routing-worker.h"

#include <string.h>

/*
 * A depth-first walk from each switch with sources: along the next hops until one that was visited.
 * `done` gets each switch after its next hop, a loop's switches all at once and before what leads
 * into it; backwards it is an order in which traffic adds up in one visit.
 */

/* Where an entry ends; ROUTE_DELIVERED also means: goes on to another switch. */
static enum route_end entry_end(const struct routing_graph *g, uint32_t sw,
				const struct routing_hop *hop, uint32_t lid)
{
	uint32_t port;

	switch ((enum routing_hop_kind)hop->kind) {
	case ROUTING_HOP_NONE:
	case ROUTING_HOP_DOWN:
		return ROUTE_PORT_DOWN;
	case ROUTING_HOP_HOLE:
		return g->lfts[sw] ? ROUTE_NO_PATH : ROUTE_NO_LFT;
	case ROUTING_HOP_SELF:
		port = fabric_node_port(g->fabric, g->nodes[sw], 0);
		break;
	case ROUTING_HOP_END:
		port = hop->next;
		break;
	case ROUTING_HOP_SWITCH:
	default:
		return ROUTE_DELIVERED;
	}
	return port != IBSM_NONE && routing_port_has_lid(fabric_port(g->fabric, port), lid)
		       ? ROUTE_DELIVERED
		       : ROUTE_WRONG_NODE;
}

/* Sources at a switch that send to the LID: all but those that have it. */
static void count_own(struct routing_worker *w, uint32_t lid)
{
	const struct routing_graph *g = w->graph;

	memcpy(w->own_left, g->own, g->switches * sizeof(*w->own_left));
	for (uint32_t i = routing_first_claim(g, lid);
	     i < g->source_count && g->sources[i].lid <= lid; i++)
		if (routing_claims(&g->sources[i], lid))
			w->own_left[g->sources[i].sw]--;
}

static uint16_t lowest_slid(const struct routing_worker *w, uint32_t sw, uint32_t lid)
{
	const struct routing_graph *g = w->graph;

	for (uint32_t i = g->own_first[sw]; i < g->own_first[sw + 1]; i++)
		if (!routing_claims(&g->sources[g->own_sources[i]], lid))
			return g->sources[g->own_sources[i]].lid;
	return UINT16_MAX;
}

static void enter(struct routing_worker *w, uint32_t sw, bool loads)
{
	uint32_t source = w->graph->source_index[sw];

	w->visits[sw] = 2 * w->visit + 1;
	w->pairs[sw] = w->own_left[sw];
	w->slids[sw] = UINT16_MAX;
	w->loop_ends[sw] = IBSM_NONE;
	if (!loads)
		return;
	memset(&w->masks[(size_t)sw * w->in_words], 0, w->in_words * sizeof(uint64_t));
	memset(&w->careful_sets[(size_t)sw * w->source_words], 0,
	       w->source_words * sizeof(uint64_t));
	if (w->own_left[sw])
		w->careful_sets[(size_t)sw * w->source_words + source / 64] |= UINT64_C(1)
									       << (source % 64);
}

/* Follows the tables from `start`. Returns how many there are in `done` now. */
static uint32_t walk(struct routing_worker *w, uint32_t start, uint32_t lid, bool loads,
		     uint32_t done)
{
	const struct routing_graph *g = w->graph;
	uint32_t length = 0, at = start;
	enum route_end end = ROUTE_DELIVERED;
	uint32_t depth = 0;

	for (;;) {
		const struct routing_hop *hop = routing_column_hop(w, w->column, at);

		enter(w, at, loads);
		w->way[length++] = at;
		if (hop->kind != ROUTING_HOP_SWITCH) {
			end = entry_end(g, at, hop, lid);
			break;
		}
		at = hop->next;
		if (w->visits[at] == 2 * w->visit) {
			end = (enum route_end)w->ends[at];
			depth = w->depths[at] + 1;
			break;
		}
		if (w->visits[at] == 2 * w->visit + 1) {
			uint32_t first = done;

			end = ROUTE_LOOP;
			do {
				uint32_t sw = w->way[--length];

				w->visits[sw] = 2 * w->visit;
				w->ends[sw] = (uint8_t)ROUTE_LOOP;
				w->depths[sw] = 0;
				w->loop_ends[sw] = first;
				w->done[done++] = sw;
			} while (w->done[done - 1] != at);
			break;
		}
	}
	w->bad |= end != ROUTE_DELIVERED;
	while (length > 0) {
		uint32_t sw = w->way[--length];

		w->visits[sw] = 2 * w->visit;
		w->ends[sw] = (uint8_t)end;
		w->depths[sw] = depth++;
		w->done[done++] = sw;
	}
	return done;
}

static void load_channel(struct routing_worker *w, uint32_t sw, const struct routing_hop *hop,
			 const struct routing_dest *dest, uint32_t pairs)
{
	uint32_t channel = routing_hop_channel(w->graph, sw, hop);
	struct routing_load *load = &w->loads[channel];
	uint64_t *sum = &w->sets[(size_t)channel * w->source_words];

	load->pairs += pairs;
	load->lids++;
	if (w->io_pairs && dest->io)
		w->io_pairs[channel] += pairs;
	if (w->undo_stamps && w->undo_stamps[channel] != 2 * dest->port + 1) {
		w->undo_stamps[channel] = 2 * dest->port + 1;
		load->destinations++;
	}
	if (w->own_left[sw])
		w->from_own[channel] = 1;
	for (uint32_t i = 0; i < w->in_words; i++)
		w->dependencies[(size_t)channel * w->in_words + i] |=
			w->masks[(size_t)sw * w->in_words + i];
	if (hop->kind == ROUTING_HOP_END) {
		if (pairs > load->most)
			load->most = pairs;
		return;
	}
	for (uint32_t i = 0; i < w->source_words; i++)
		sum[i] |= w->careful_sets[(size_t)sw * w->source_words + i];
}

/* Hands what is at a switch over to the next one: sources always, pairs where they go only once. */
static void hand_over(struct routing_worker *w, uint32_t sw, const struct routing_hop *hop,
		      bool pairs, bool loads)
{
	if (pairs)
		w->pairs[hop->next] += w->pairs[sw];
	if (w->slids[sw] < w->slids[hop->next])
		w->slids[hop->next] = w->slids[sw];
	if (!loads)
		return;
	w->masks[(size_t)hop->next * w->in_words + hop->in / 64] |= UINT64_C(1) << (hop->in % 64);
	for (uint32_t i = 0; i < w->source_words; i++)
		w->careful_sets[(size_t)hop->next * w->source_words + i] |=
			w->careful_sets[(size_t)sw * w->source_words + i];
}

/* A loop is done[first … last], backwards along its hops: all that comes in goes around it. */
static void go_around(struct routing_worker *w, uint32_t first, uint32_t last,
		      const struct routing_dest *dest, bool loads)
{
	struct routing_fault fault = {.end = ROUTE_LOOP,
				      .to_switches = !loads,
				      .lid_first = dest->lid,
				      .lid_last = dest->lid,
				      .dlid = dest->lid,
				      .lids = 1};
	uint64_t pairs = 0;
	int r;

	for (uint32_t i = first; i <= last; i++)
		pairs += w->pairs[w->done[i]];
	/* Twice around: then each switch knows all sources. done[] is against the hops. */
	for (int round = 0; round < 2; round++)
		for (uint32_t i = last + 1; i-- > first;)
			hand_over(w, w->done[i], routing_column_hop(w, w->column, w->done[i]),
				  false, loads);
	for (uint32_t i = first; i <= last && loads; i++)
		load_channel(w, w->done[i], routing_column_hop(w, w->column, w->done[i]), dest,
			     (uint32_t)pairs);
	/* In the order of hops, for the list. */
	for (uint32_t i = 0; i <= last - first; i++)
		w->way[i] = w->done[last - i];
	fault.pairs = pairs;
	fault.slid = w->slids[w->way[0]];
	r = routing_loop_add(w, &fault, w->way, last - first + 1);
	if (r < 0)
		w->error = r;
	w->validity[!loads].looping += pairs;
}

static void count_delivered(struct routing_worker *w, uint32_t sw, const struct routing_dest *dest,
			    uint32_t leaf)
{
	const struct routing_graph *g = w->graph;
	struct routing_validity *v = &w->validity[leaf == IBSM_NONE];
	uint32_t hops = w->depths[sw] + (leaf == IBSM_NONE ? 1 : 2), shortest;
	uint16_t slid;

	v->delivered += w->own_left[sw];
	v->hops[hops < ROUTING_HOPS_MAX ? hops : ROUTING_HOPS_MAX - 1] += w->own_left[sw];
	if (leaf == IBSM_NONE)
		return;
	shortest = g->distances[(size_t)leaf * g->switches + sw];
	if (w->depths[sw] <= shortest)
		return;
	v->detours += w->own_left[sw];
	slid = lowest_slid(w, sw, dest->lid);
	if (w->depths[sw] - shortest < v->detour_extra ||
	    (w->depths[sw] - shortest == v->detour_extra &&
	     (dest->lid > v->detour_dlid ||
	      (dest->lid == v->detour_dlid && slid >= v->detour_slid))))
		return;
	v->detour_extra = w->depths[sw] - shortest;
	v->detour_slid = slid;
	v->detour_dlid = dest->lid;
}

/* The entry of `sw` sends what has come there to an end, good or bad. */
static void arrive_at_end(struct routing_worker *w, uint32_t sw, const struct routing_hop *hop,
			  const struct routing_dest *dest, bool loads)
{
	const struct routing_graph *g = w->graph;
	uint32_t out = (uint32_t)(hop - &g->hops[(size_t)sw * ROUTING_HOPS_ROW]);
	struct routing_fault fault;
	int r;

	if (hop->kind == ROUTING_HOP_END && loads)
		load_channel(w, sw, hop, dest, w->pairs[sw]);
	if (w->ends[sw] == ROUTE_DELIVERED)
		return;
	fault = (struct routing_fault){.end = (enum route_end)w->ends[sw],
				       .node = g->nodes[sw],
				       .port = hop->kind == ROUTING_HOP_HOLE ? ROUTE_NO_PORT
									     : (int16_t)out,
				       .to_switches = !loads,
				       .lid_first = dest->lid,
				       .lid_last = dest->lid,
				       .lids = 1,
				       .pairs = w->pairs[sw],
				       .slid = w->slids[sw],
				       .dlid = dest->lid};
	r = routing_fault_add(w, &fault, sw, out);
	if (r < 0)
		w->error = r;
	w->validity[!loads].unreachable += w->pairs[sw];
}

/*
 * Nearly always a switch's LID is reached from everywhere, and all that is asked is over how many
 * hops. One number a switch: 0 not seen, ON_THE_WAY, else its hops + 1. Returns false where it is
 * not that simple, and nothing was counted.
 */
#define ON_THE_WAY UINT16_MAX

bool routing_reach(struct routing_worker *w, const struct routing_dest *dest, const uint8_t *column)
{
	const struct routing_graph *g = w->graph;
	uint64_t hops[ROUTING_HOPS_MAX] = {0}, delivered = 0;
	uint16_t *seen = w->seen;
	uint32_t *way = w->way;

	memset(seen, 0, g->switches * sizeof(*seen));
	for (uint32_t i = 0; i < g->source_switches; i++) {
		uint32_t sw = g->source_switch[i], length = 0, own = g->own[sw];
		uint16_t depth = 0;
		bool ended = false;

		while (!ended && seen[sw] == 0) {
			const struct routing_hop *hop = routing_column_hop(w, column, sw);

			seen[sw] = ON_THE_WAY;
			way[length++] = sw;
			if (hop->kind == ROUTING_HOP_SWITCH) {
				sw = hop->next;
				continue;
			}
			if (hop->kind != ROUTING_HOP_SELF || sw != dest->sw)
				return false;
			ended = true;
		}
		/* Else it came to where it is known how far that is, or around in a loop. */
		if (!ended) {
			if (seen[sw] == ON_THE_WAY)
				return false;
			depth = seen[sw];
		}
		while (length > 0)
			seen[way[--length]] = ++depth;
		depth = seen[g->source_switch[i]];
		hops[depth < ROUTING_HOPS_MAX ? depth : ROUTING_HOPS_MAX - 1] += own;
		delivered += own;
	}
	w->validity[1].delivered += delivered;
	for (uint32_t i = 0; i < ROUTING_HOPS_MAX; i++)
		w->validity[1].hops[i] += hops[i];
	return true;
}

void routing_careful(struct routing_worker *w, const struct routing_dest *dest,
		     const uint8_t *column, uint32_t leaf)
{
	const struct routing_graph *g = w->graph;
	bool loads = leaf != IBSM_NONE;
	uint32_t done = 0;

	w->bad = false;
	w->column = column;
	count_own(w, dest->lid);
	if (++w->visit == UINT32_MAX / 2) {
		memset(w->visits, 0, g->switches * sizeof(*w->visits));
		w->visit = 1;
	}
	for (uint32_t i = 0; i < g->source_switches; i++) {
		uint32_t sw = g->source_switch[i];

		if (!w->own_left[sw])
			continue;
		if (w->visits[sw] != 2 * w->visit)
			done = walk(w, sw, dest->lid, loads, done);
		if (w->ends[sw] == ROUTE_DELIVERED)
			count_delivered(w, sw, dest, leaf);
	}
	if (w->bad)
		for (uint32_t i = 0; i < done; i++)
			if (w->own_left[w->done[i]])
				w->slids[w->done[i]] = lowest_slid(w, w->done[i], dest->lid);
	/* All arrives, and of a switch's LID no more is asked. */
	if (!w->bad && !loads)
		return;
	while (done > 0) {
		uint32_t sw = w->done[--done];
		const struct routing_hop *hop = routing_column_hop(w, w->column, sw);

		if (w->loop_ends[sw] != IBSM_NONE) {
			go_around(w, w->loop_ends[sw], done, dest, loads);
			done = w->loop_ends[sw];
		} else if (hop->kind == ROUTING_HOP_SWITCH) {
			if (loads)
				load_channel(w, sw, hop, dest, w->pairs[sw]);
			hand_over(w, sw, hop, true, loads);
		} else {
			arrive_at_end(w, sw, hop, dest, loads);
		}
	}
}
