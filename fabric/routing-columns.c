// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Turns tables by switch into columns by destination: what the pass reads lies together.
#include "routing-worker.h"

#include <string.h>

/*
 * Columns stand in tiles of 64 switches: in a tile each has a line of 64 bytes, next to that of the
 * next destination. Tables are read straight on, eight at a time, and what a tile takes in
 * meanwhile stays in the cache; a batch of destinations later reads lines that follow each other.
 */
typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint16_t words __attribute__((vector_size(16)));
typedef uint32_t doubles __attribute__((vector_size(16)));
typedef uint64_t quads __attribute__((vector_size(16)));

/* Of clang, and of gcc from 12 on. */
#define LOW_WORDS(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_WORDS(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_DOUBLES(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_DOUBLES(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)

static inline words interleave(uint64_t a, uint64_t b)
{
	return (words)__builtin_shufflevector((bytes)(quads){a, 0}, (bytes)(quads){b, 0}, 0, 16, 1,
					      17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

/* x[i] has byte j of row i; afterwards of row j. In vectors by hand: what the compiler makes of
 * shifts and masks stores and loads over and over. */
static inline void transpose(uint64_t x[8])
{
	words ab = interleave(x[0], x[1]), cd = interleave(x[2], x[3]);
	words ef = interleave(x[4], x[5]), gh = interleave(x[6], x[7]);
	doubles abcd_low = (doubles)LOW_WORDS(ab, cd), abcd_high = (doubles)HIGH_WORDS(ab, cd);
	doubles efgh_low = (doubles)LOW_WORDS(ef, gh), efgh_high = (doubles)HIGH_WORDS(ef, gh);
	quads out[4] = {(quads)LOW_DOUBLES(abcd_low, efgh_low),
			(quads)HIGH_DOUBLES(abcd_low, efgh_low),
			(quads)LOW_DOUBLES(abcd_high, efgh_high),
			(quads)HIGH_DOUBLES(abcd_high, efgh_high)};

	memcpy(x, out, sizeof(out));
}

/* Eight entries of one switch's table, 255 beyond its end. */
static inline uint64_t load_entries(const struct routing_graph *g, uint32_t sw, uint32_t lid)
{
	uint64_t entries = ~UINT64_C(0);

	if (sw >= g->switches)
		return entries;
	if (lid + 8 <= g->lft_ends[sw])
		memcpy(&entries, g->lfts[sw] + lid, 8);
	else if (lid < g->lft_ends[sw])
		memcpy(&entries, g->lfts[sw] + lid, g->lft_ends[sw] - lid);
	return entries;
}

/* Eight switches' entries for all destinations into their tile. */
static void take_eight(struct routing_worker *w, uint32_t sw)
{
	const struct routing_graph *g = w->graph;
	uint8_t *tile = w->columns + (sw / ROUTING_TILE) * w->tile_bytes + sw % ROUTING_TILE;

	for (uint32_t lid = 0; lid < g->fabric->lids; lid += 8) {
		const uint32_t *columns = &w->column_of[lid];
		uint64_t x[8], any;

		memcpy(x, columns, 8 * sizeof(*columns));
		any = x[0] | x[1] | x[2] | x[3];
		if (!any)
			continue;
		for (uint32_t i = 0; i < 8; i++)
			x[i] = load_entries(g, sw + i, lid);
		transpose(x);
		for (uint32_t i = 0; i < 8; i++)
			if (columns[i])
				memcpy(tile + (size_t)(columns[i] - 1) * ROUTING_TILE, &x[i], 8);
	}
}

void routing_columns_take(struct routing_worker *w, const struct routing_dest *dests,
			  uint32_t count)
{
	const struct routing_graph *g = w->graph;

	memset(w->column_of, 0, ((size_t)g->fabric->lids + 8) * sizeof(*w->column_of));
	for (uint32_t i = 0; i < count; i++)
		w->column_of[dests[i].lid] = i + 1;
	w->tile_bytes = (size_t)count * ROUTING_TILE;
	for (uint32_t sw = 0; sw < g->switches; sw += 8)
		take_eight(w, sw);
}
