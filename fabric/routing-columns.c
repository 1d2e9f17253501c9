// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Turns tables by switch into columns by destination: what the pass reads lies together.
#include "routing-worker.h"

#include <string.h>

/*
 * LIDs of one leaf may lie anywhere in the tables. 64 of them are a cache line of each table: all
 * that is wanted of it is taken at once, eight switches by eight LIDs in registers.
 */
#define BLOCK_LIDS 64

/* x[i] has byte j of row i; afterwards of row j. */
static inline void transpose(uint64_t x[8])
{
	for (int i = 0; i < 8; i += 2) {
		uint64_t t = (x[i] >> 8 ^ x[i + 1]) & UINT64_C(0x00ff00ff00ff00ff);

		x[i + 1] ^= t;
		x[i] ^= t << 8;
	}
	for (int i = 0; i < 8; i += i & 1 ? 3 : 1) {
		uint64_t t = (x[i] >> 16 ^ x[i + 2]) & UINT64_C(0x0000ffff0000ffff);

		x[i + 2] ^= t;
		x[i] ^= t << 16;
	}
	for (int i = 0; i < 4; i++) {
		uint64_t t = (x[i] >> 32 ^ x[i + 4]) & UINT64_C(0x00000000ffffffff);

		x[i + 4] ^= t;
		x[i] ^= t << 32;
	}
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

void routing_columns_take(struct routing_worker *w, const struct routing_dest *dests,
			  uint32_t count)
{
	const struct routing_graph *g = w->graph;

	memset(w->column_of, 0, sizeof(w->column_of));
	for (uint32_t i = 0; i < count; i++)
		w->column_of[dests[i].lid] = &w->columns[(size_t)i * w->column_stride];
	for (uint32_t block = 0; block <= IBSM_UNICAST_LID_MAX; block += BLOCK_LIDS) {
		uint32_t wanted = 0;

		for (uint32_t i = 0; i < BLOCK_LIDS; i++)
			wanted |= (uint32_t) !!w->column_of[block + i] << (i / 8);
		for (uint32_t sw = 0; wanted && sw < g->switches; sw += 8)
			for (uint32_t eight = 0; eight < BLOCK_LIDS / 8; eight++) {
				uint8_t *const *columns = &w->column_of[block + eight * 8];
				uint64_t x[8];

				if (!(wanted >> eight & 1))
					continue;
				for (uint32_t i = 0; i < 8; i++)
					x[i] = load_entries(g, sw + i, block + eight * 8);
				transpose(x);
				for (uint32_t i = 0; i < 8; i++)
					if (columns[i])
						memcpy(columns[i] + sw, &x[i], 8);
			}
	}
}
