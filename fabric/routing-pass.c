// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One pass over all forwarding tables: what arrives, and what each channel carries.
#include "routing-internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "routing-worker.h"

/*
 * For one destination LID the tables are an in-tree: each switch has one next hop. Taking switches
 * so that each comes before its next hop, traffic adds up on its way in one visit a switch.
 *
 * The quick way takes all LIDs of one leaf together. Where each next hop is one step nearer to the
 * leaf, farthest first is such an order for all of them; that is verified hop by hop, and a LID
 * that fails is taken back and goes the careful way (routing-careful.c), which follows the tables
 * wherever they lead. So do LIDs that not all can reach, and LIDs that two ports claim.
 *
 * Sets of sources are kept of switches, as bits. Most hops are the first of their packets, from a
 * switch that nothing comes through: for these ("simple" ones) the in-channel is the set, and is in
 * the mask of in-channels already. Only what has gone through two switches or more ("deep") needs a
 * bit set.
 */

/* in_words is 1 nearly always: the compiler makes two versions of all that has it. */
#define ALWAYS_INLINE __attribute__((always_inline)) inline

/* A switch that traffic for one LID of the batch comes through. */
struct cell {
	uint32_t pairs;
	uint32_t set;	  /* in `pool`; valid where there are deep ones */
	uint64_t masks[]; /* in_words in-channels, then the deep ones among them */
};

struct batch {
	const struct routing_dest *dests;
	const uint8_t *columns;
	uint32_t count;
	uint64_t failed;		       /* bit by LID */
	uint32_t failed_at[ROUTING_BATCH_MAX]; /* place in `order` */
};

static ALWAYS_INLINE struct cell *cell_at(const struct routing_worker *w, uint32_t sw, uint32_t lid,
					  const uint32_t in_words)
{
	size_t size = sizeof(struct cell) + 2 * sizeof(uint64_t) * in_words;

	return (struct cell *)(void *)(w->cells + ((size_t)sw * w->batch + lid) * size);
}

/* The sources behind a cell: what came deep, and the switches of simple in-channels. */
static ALWAYS_INLINE const uint64_t *gather(struct routing_worker *w, uint32_t sw,
					    const struct cell *cell, const uint32_t in_words)
{
	const struct routing_graph *g = w->graph;
	uint64_t *known = &w->known_sets[(size_t)sw * w->source_words];
	uint64_t *key = &w->known_keys[(size_t)sw * in_words];
	const uint64_t *deep = NULL;
	bool same = true;

	for (uint32_t i = 0; i < in_words; i++) {
		same &= key[i] == (cell->masks[i] & ~cell->masks[in_words + i]);
		if (cell->masks[in_words + i])
			deep = &w->pool[(size_t)cell->set * w->source_words];
	}
	if (!same) {
		memset(known, 0, w->source_words * sizeof(*known));
		for (uint32_t i = 0; i < in_words; i++) {
			key[i] = cell->masks[i] & ~cell->masks[in_words + i];
			for (uint64_t bits = key[i]; bits; bits &= bits - 1) {
				uint32_t in =
					g->ins_first[sw] + i * 64 + (uint32_t)__builtin_ctzll(bits);
				uint32_t source = w->in_sources[in];

				known[source / 64] |= UINT64_C(1) << (source % 64);
			}
		}
	}
	if (!deep && !g->own[sw])
		return known;
	for (uint32_t i = 0; i < w->source_words; i++)
		w->gathered[i] = known[i] | (deep ? deep[i] : 0);
	if (g->own[sw])
		w->gathered[g->source_index[sw] / 64] |= UINT64_C(1) << (g->source_index[sw] % 64);
	return w->gathered;
}

static ALWAYS_INLINE const struct routing_hop *hop_at(const struct routing_worker *w,
						      const struct batch *batch, uint32_t lid,
						      uint32_t sw)
{
	return routing_column_hop(w, batch->columns + (size_t)lid * ROUTING_TILE, sw);
}

static ALWAYS_INLINE void arrive(struct routing_worker *w, const struct routing_hop *hop,
				 uint32_t lid, uint32_t pairs, const uint64_t *set,
				 const uint32_t in_words)
{
	struct cell *cell = cell_at(w, hop->next, lid, in_words);
	uint64_t bit = UINT64_C(1) << (hop->in % 64);
	uint32_t word = in_words == 1 ? 0 : hop->in / 64;

	if (!(w->live[hop->next] >> lid & 1)) {
		w->live[hop->next] |= UINT64_C(1) << lid;
		cell->pairs = 0;
		for (uint32_t i = 0; i < 2 * in_words; i++)
			cell->masks[i] = 0;
	}
	cell->pairs += pairs;
	cell->masks[word] |= bit;
	if (set) {
		uint64_t any = 0, *sum;

		for (uint32_t i = 0; i < in_words; i++)
			any |= cell->masks[in_words + i];
		if (!any)
			cell->set = w->pool_used++;
		sum = &w->pool[(size_t)cell->set * w->source_words];
		if (any)
			for (uint32_t i = 0; i < w->source_words; i++)
				sum[i] |= set[i];
		else
			for (uint32_t i = 0; i < w->source_words; i++)
				sum[i] = set[i];
		cell->masks[in_words + word] |= bit;
	}
}

static ALWAYS_INLINE void carry(struct routing_worker *w, uint32_t channel,
				const struct routing_dest *dest, uint32_t pairs)
{
	struct routing_load *load = &w->loads[channel];

	load->pairs += pairs;
	load->lids++;
	if (w->io_pairs && dest->io)
		w->io_pairs[channel] += pairs;
	if (w->stamps && w->stamps[channel] != dest->port) {
		w->stamps[channel] = dest->port;
		load->destinations++;
	}
}

/* Whether a hop is one step nearer to the leaf; else the LID fails here. */
static ALWAYS_INLINE bool is_nearer(struct batch *batch, uint32_t lid, uint32_t place,
				    const uint16_t *distances, uint32_t sw,
				    const struct routing_hop *hop)
{
	if (hop->kind == ROUTING_HOP_SWITCH && distances[hop->next] + 1 == distances[sw])
		return true;
	batch->failed |= UINT64_C(1) << lid;
	batch->failed_at[lid] = place;
	return false;
}

/*
 * Sends a switch's own sources' packets off, for LIDs for which nothing else comes through it: most
 * of the work. What does not change is in local variables, since the compiler must take any store
 * for one to the worker.
 */
static ALWAYS_INLINE void forward_own(struct routing_worker *w, struct batch *batch, uint32_t place,
				      uint64_t todo, const uint16_t *distances,
				      const uint32_t in_words)
{
	const struct routing_graph *g = w->graph;
	const size_t cell_bytes = sizeof(struct cell) + 2 * sizeof(uint64_t) * in_words;
	const uint32_t sw = w->order[place], own = g->own[sw], first = g->first_channel[sw];
	const uint32_t nearer = distances[sw] - 1u;
	const struct routing_hop *row = &g->hops[(size_t)sw * ROUTING_HOPS_ROW];
	const uint8_t *column =
		batch->columns + (sw / ROUTING_TILE) * w->tile_bytes + sw % ROUTING_TILE;
	const size_t row_bytes = w->batch * cell_bytes;
	const bool plain = !w->io_pairs && !w->stamps;
	const struct routing_dest *dests = batch->dests;
	struct routing_load *loads = &w->loads[first];
	uint8_t *from_own = &w->from_own[first];
	unsigned char *cells = w->cells;
	uint64_t *live = w->live;

	for (; todo; todo &= todo - 1) {
		const uint32_t lid = (uint32_t)__builtin_ctzll(todo);
		const struct routing_hop hop = row[column[(size_t)lid * ROUTING_TILE]];
		struct cell *cell;

		if (hop.kind != ROUTING_HOP_SWITCH || distances[hop.next] != nearer) {
			batch->failed |= UINT64_C(1) << lid;
			batch->failed_at[lid] = place;
			continue;
		}
		from_own[hop.channel] = 1;
		if (plain) {
			loads[hop.channel].pairs += own;
			loads[hop.channel].lids++;
		} else {
			carry(w, first + hop.channel, &dests[lid], own);
		}
		cell = (struct cell *)(void *)(cells + hop.next * row_bytes + lid * cell_bytes);
		if (!(live[hop.next] >> lid & 1)) {
			live[hop.next] |= UINT64_C(1) << lid;
			cell->pairs = 0;
			for (uint32_t i = 0; i < 2 * in_words; i++)
				cell->masks[i] = 0;
		}
		cell->pairs += own;
		cell->masks[in_words == 1 ? 0 : hop.in / 64] |= UINT64_C(1) << (hop.in % 64);
	}
}

/* Sends on what comes through a switch, with its own. */
static ALWAYS_INLINE void forward_all(struct routing_worker *w, struct batch *batch, uint32_t place,
				      uint64_t todo, const uint16_t *distances,
				      const uint32_t in_words)
{
	const struct routing_graph *g = w->graph;
	uint32_t sw = w->order[place], own = g->own[sw];

	for (; todo; todo &= todo - 1) {
		uint32_t lid = (uint32_t)__builtin_ctzll(todo);
		const struct routing_hop *hop = hop_at(w, batch, lid, sw);
		const struct cell *cell = cell_at(w, sw, lid, in_words);
		uint32_t channel = routing_hop_channel(g, sw, hop);
		const uint64_t *set;
		uint64_t deep = 0;

		if (!is_nearer(batch, lid, place, distances, sw, hop))
			continue;
		if (own)
			w->from_own[channel] = 1;
		carry(w, channel, &batch->dests[lid], cell->pairs + own);
		for (uint32_t i = 0; i < in_words; i++) {
			w->dependencies[(size_t)channel * in_words + i] |= cell->masks[i];
			deep |= cell->masks[in_words + i];
		}
		/* Nobody asks who has come to the leaf. */
		set = deep || distances[hop->next] ? gather(w, sw, cell, in_words) : NULL;
		if (!deep) {
			for (uint32_t i = 0; i < in_words; i++)
				w->simple[(size_t)channel * in_words + i] |= cell->masks[i];
		} else {
			uint64_t *sum = &w->sets[(size_t)channel * w->source_words];

			for (uint32_t i = 0; i < w->source_words; i++)
				sum[i] |= set[i];
		}
		arrive(w, hop, lid, cell->pairs + own, distances[hop->next] ? set : NULL, in_words);
	}
}

/* What has come to the leaf goes to the end port. */
static ALWAYS_INLINE void deliver(struct routing_worker *w, struct batch *batch, uint32_t sw,
				  uint32_t place, const uint32_t in_words)
{
	const struct routing_graph *g = w->graph;

	for (uint32_t lid = 0; lid < batch->count; lid++) {
		const struct routing_dest *dest = &batch->dests[lid];
		const struct routing_hop *hop = hop_at(w, batch, lid, sw);
		uint32_t pairs = g->own[sw] - 1, channel = routing_hop_channel(g, sw, hop);

		if (batch->failed >> lid & 1)
			continue;
		if (hop->kind != ROUTING_HOP_END || hop->next != dest->port) {
			batch->failed |= UINT64_C(1) << lid;
			batch->failed_at[lid] = place;
			continue;
		}
		if (pairs)
			w->from_own[channel] = 1;
		if (w->live[sw] >> lid & 1) {
			const struct cell *cell = cell_at(w, sw, lid, in_words);

			for (uint32_t i = 0; i < in_words; i++)
				w->dependencies[(size_t)channel * in_words + i] |= cell->masks[i];
			pairs += cell->pairs;
		}
		if (pairs)
			carry(w, channel, dest, pairs);
		if (pairs > w->loads[channel].most)
			w->loads[channel].most = pairs;
		w->validity[0].delivered += pairs;
		w->leaf_delivered++;
	}
}

/* Takes back the loads of LIDs that failed; what was only marked did happen, and stays. */
static void take_back(struct routing_worker *w, const struct batch *batch, uint32_t sw,
		      uint32_t delivered_place, const uint32_t in_words)
{
	const struct routing_graph *g = w->graph;

	for (uint32_t lid = 0; lid < batch->count; lid++) {
		const struct routing_dest *dest = &batch->dests[lid];

		if (!(batch->failed >> lid & 1))
			continue;
		for (uint32_t place = 0; place < batch->failed_at[lid]; place++) {
			uint32_t at = place == delivered_place ? sw : w->order[place];
			uint32_t pairs = at == sw ? g->own[at] - 1 : g->own[at];
			uint32_t channel = routing_hop_channel(g, at, hop_at(w, batch, lid, at));

			if (w->live[at] >> lid & 1)
				pairs += cell_at(w, at, lid, in_words)->pairs;
			if (at == sw) {
				w->validity[0].delivered -= pairs;
				w->leaf_delivered--;
			}
			if (!pairs)
				continue;
			w->loads[channel].pairs -= pairs;
			w->loads[channel].lids--;
			if (w->io_pairs && dest->io)
				w->io_pairs[channel] -= pairs;
			if (w->stamps && w->undo_stamps[channel] != 2 * dest->port) {
				w->undo_stamps[channel] = 2 * dest->port;
				w->loads[channel].destinations--;
			}
		}
	}
}

/* With LMC a port's LIDs go the same way, so that its channels count it once. */
static void fail_whole_ports(struct batch *batch, uint32_t delivered_place)
{
	for (uint32_t first = 0, end; first < batch->count; first = end) {
		uint64_t port;

		end = first;
		while (!batch->dests[end++].last)
			;
		port = (end == 64 ? ~UINT64_C(0) : (UINT64_C(1) << end) - 1) &
		       ~((UINT64_C(1) << first) - 1);
		if (!(batch->failed & port))
			continue;
		for (uint32_t i = first; i < end; i++)
			if (!(batch->failed >> i & 1))
				batch->failed_at[i] = delivered_place + 1;
		batch->failed |= port;
	}
}

static ALWAYS_INLINE void quick_batch(struct routing_worker *w, struct batch *batch, uint32_t leaf,
				      const uint32_t in_words)
{
	const struct routing_graph *g = w->graph;
	const uint16_t *distances = &g->distances[(size_t)leaf * g->switches];
	uint64_t all = batch->count == 64 ? ~UINT64_C(0) : (UINT64_C(1) << batch->count) - 1;

	memset(w->live, 0, g->switches * sizeof(*w->live));
	w->pool_used = 0;
	for (uint32_t i = 0; i < w->ordered; i++) {
		uint64_t live = w->live[w->order[i]] & ~batch->failed;
		uint64_t own = g->own[w->order[i]] ? all & ~live & ~batch->failed : 0;

		/* Ports are counted once if their LIDs follow each other: one by one. */
		for (uint64_t todo = w->stamps ? own | live : 0; todo; todo &= todo - 1) {
			uint64_t bit = todo & -todo;

			if (own & bit)
				forward_own(w, batch, i, bit, distances, in_words);
			else
				forward_all(w, batch, i, bit, distances, in_words);
		}
		if (w->stamps)
			continue;
		if (own)
			forward_own(w, batch, i, own, distances, in_words);
		if (live)
			forward_all(w, batch, i, live, distances, in_words);
	}
	deliver(w, batch, g->leaves[leaf].sw, w->ordered, in_words);
	if (batch->failed) {
		if (w->stamps)
			fail_whole_ports(batch, w->ordered);
		take_back(w, batch, g->leaves[leaf].sw, w->ordered, in_words);
	}
}

/* Farthest first, the leaf itself left out. False: some source has no way to the leaf at all. */
static bool find_order(struct routing_worker *w, uint32_t leaf)
{
	const struct routing_graph *g = w->graph;
	const uint16_t *distances = &g->distances[(size_t)leaf * g->switches];
	uint32_t far = 0, at = 0;

	for (uint32_t s = 0; s < g->switches; s++) {
		if (distances[s] == ROUTING_FAR) {
			if (g->own[s])
				return false;
			continue;
		}
		if (distances[s] > far)
			far = distances[s];
	}
	memset(w->places, 0, ((size_t)far + 2) * sizeof(*w->places));
	memset(w->by_distance, 0, ((size_t)far + 1) * sizeof(*w->by_distance));
	w->far = far;
	for (uint32_t s = 0; s < g->switches; s++)
		if (distances[s] != ROUTING_FAR) {
			w->places[distances[s]]++;
			w->by_distance[distances[s]] += g->own[s];
		}
	for (uint32_t d = far; d > 0; d--) {
		uint32_t count = w->places[d];

		w->places[d] = at;
		at += count;
	}
	w->ordered = at;
	for (uint32_t s = 0; s < g->switches; s++)
		if (distances[s] != ROUTING_FAR && distances[s] != 0)
			w->order[w->places[distances[s]]++] = s;
	return true;
}

/* How many of the destinations go together: whole ports, if they fit. 0: the first one does not. */
static uint32_t batch_size(const struct routing_worker *w, const struct routing_dest *dests,
			   uint32_t count)
{
	uint32_t size = count < w->batch_max ? count : w->batch_max;

	if (!w->stamps)
		return size;
	while (size && !dests[size - 1].last)
		size--;
	return size;
}

void routing_quick(struct routing_worker *w, uint32_t leaf, const uint8_t *columns)
{
	const struct routing_graph *g = w->graph;
	const struct routing_leaf *row = &g->leaves[leaf];
	bool ordered = find_order(w, leaf);
	uint32_t size;

	w->leaf_delivered = 0;
	for (uint32_t first = row->first; first < row->end; first += size) {
		struct batch batch = {.dests = &g->dests[first], .columns = columns};

		size = ordered ? batch_size(w, batch.dests, row->end - first) : 0;
		batch.count = w->batch = size;
		if (size == 0) {
			do
				routing_careful(w, &batch.dests[size],
						columns + (size_t)size * ROUTING_TILE, leaf);
			while (!batch.dests[size++].last);
			columns += (size_t)size * ROUTING_TILE;
			continue;
		}
		for (uint32_t i = 0; i < size; i++)
			if (!batch.dests[i].sole)
				batch.failed |= UINT64_C(1) << i;
		if (w->in_words == 1)
			quick_batch(w, &batch, leaf, 1);
		else
			quick_batch(w, &batch, leaf, w->in_words);
		for (uint64_t failed = batch.failed; failed; failed &= failed - 1) {
			uint32_t i = (uint32_t)__builtin_ctzll(failed);

			routing_careful(w, &batch.dests[i], columns + (size_t)i * ROUTING_TILE,
					leaf);
		}
		columns += (size_t)size * ROUTING_TILE;
	}
	if (!w->leaf_delivered)
		return;
	/* All of them the shortest ways: a leaf's own ports are at distance 0. */
	for (uint32_t d = 0; d <= w->far; d++) {
		uint64_t pairs = (uint64_t)w->by_distance[d] * w->leaf_delivered;
		uint32_t hops = d + 2 < ROUTING_HOPS_MAX ? d + 2 : ROUTING_HOPS_MAX - 1;

		w->validity[0].hops[hops] += d == 0 ? pairs - w->leaf_delivered : pairs;
	}
}
