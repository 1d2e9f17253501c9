// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What one thread of the routing analysis counts up, and its room to work in.
#pragma once

#include "routing-internal.h"

#define ROUTING_BATCH_MAX 64 /* LIDs that go together: bits of a word */

#define ROUTING_TILE 64 /* switches whose entries lie together, and bytes of a cache line */

struct routing_load {
	uint64_t pairs;
	uint32_t lids;
	uint32_t destinations; /* with LMC only */
	uint32_t most;	       /* to an end port: pairs of the LID with most */
};

/* Of one thread. Zeroed: nothing is listed. */
struct routing_fault_list {
	struct routing_fault *faults;
	uint32_t count;
	uint32_t room;
	uint32_t *loop_switches;
	uint32_t loop_used;
	uint32_t loop_room;
	uint32_t loops; /* listed */
	uint32_t loops_left_out;
};

struct routing_worker {
	const struct routing_graph *graph;
	uint32_t in_words;     /* of a mask of in-channels */
	uint32_t source_words; /* of a set of source switches */
	int error;

	/* Counted up, by channel. */
	struct routing_load *loads;
	uint64_t *io_pairs; /* NULL: no I/O nodes */
	uint64_t *dependencies;
	uint64_t *simple; /* in-channels through which whole switches came as their first hop */
	uint64_t *sets;	  /* source switches that came otherwise */
	uint8_t *from_own;
	struct routing_validity validity[2]; /* to end ports, to switches */
	struct routing_fault_list faults;
	uint32_t *loop_slots;	  /* 2 * ROUTING_FAULTS_MAX; number + 1 */
	uint32_t *fault_by_entry; /* [(switch * 256 + port) * 2 + to switches]: number + 1 */

	/* Entries of all switches, by destination of the piece of work. */
	uint8_t *columns; /* [switch / ROUTING_TILE][destination][switch % ROUTING_TILE] */
	size_t tile_bytes;
	uint32_t *column_of; /* by LID: number + 1; 8 more than there are; scratch */

	/* The quick way. */
	uint32_t batch_max;
	uint32_t batch;	  /* LIDs of this one */
	uint32_t *stamps; /* by channel: the last port counted there; NULL: no LMC */
	uint32_t *undo_stamps;
	uint32_t *in_sources; /* by `ins`: number of the source switch that it comes from */
	unsigned char *cells;
	uint64_t *live; /* by switch: LIDs with traffic through it */
	uint64_t *pool;
	uint32_t pool_used;
	uint64_t *known_keys; /* by switch: simple in-channels, and the sources behind them */
	uint64_t *known_sets;
	uint64_t *gathered;
	uint32_t *order;
	uint32_t ordered;
	uint32_t *places;
	uint32_t *by_distance; /* sources */
	uint32_t far;
	uint32_t leaf_delivered; /* LIDs */

	/* The careful way, by switch. */
	uint16_t *seen; /* for routing_reach() */
	const uint8_t *column;
	uint32_t *visits; /* 2 * the number of the visit: left; + 1: on the way */
	uint32_t visit;
	uint8_t *ends;	    /* enum route_end */
	uint32_t *depths;   /* hops to the end */
	uint32_t *own_left; /* sources that send */
	uint32_t *pairs;
	uint16_t *slids; /* lowest of a source */
	bool bad;	 /* not all arrives */
	uint64_t *masks;
	uint64_t *careful_sets;
	uint32_t *way;
	uint32_t *done;
	uint32_t *loop_ends; /* of a switch on a loop: where in `done` its loop ends */
};

int routing_worker_new(const struct routing_graph *graph, bool io, uint32_t columns,
		       struct routing_worker **ret);
struct routing_worker *routing_worker_free(struct routing_worker *worker);
DEFINE_CLEANUP(struct routing_worker *, routing_worker_free);

/* Fills in `columns` for these destinations, no more than there was room made for. */
void routing_columns_take(struct routing_worker *worker, const struct routing_dest *dests,
			  uint32_t count);

static inline const struct routing_hop *routing_column_hop(const struct routing_worker *w,
							   const uint8_t *column, uint32_t sw)
{
	return &w->graph->hops[(size_t)sw * ROUTING_HOPS_ROW +
			       column[(sw / ROUTING_TILE) * w->tile_bytes + sw % ROUTING_TILE]];
}

/* All LIDs of one leaf, from its first column on. */
void routing_quick(struct routing_worker *worker, uint32_t leaf, const uint8_t *columns);

/* A switch's LID. False: not all reach it, or the LID is claimed twice: routing_careful() counts.
 */
bool routing_reach(struct routing_worker *worker, const struct routing_dest *dest,
		   const uint8_t *column);

/* One LID, wherever the tables lead; `leaf` IBSM_NONE: a switch's own, for which only validity
 * counts. LIDs of one port must follow each other. */
void routing_careful(struct routing_worker *worker, const struct routing_dest *dest,
		     const uint8_t *column, uint32_t leaf);

/* One more destination that ends badly at an entry of `sw`, with `pairs`. */
int routing_fault_add(struct routing_worker *worker, const struct routing_fault *fault, uint32_t sw,
		      uint32_t out);

/* One more that goes around: the switches in the order of their hops. */
int routing_loop_add(struct routing_worker *worker, const struct routing_fault *fault,
		     const uint32_t *switches, uint32_t count);

/* Puts the lists of all threads together, sorted; they are emptied. */
int routing_faults_merge(struct routing_worker **workers, unsigned int count,
			 struct routing_result *result);
