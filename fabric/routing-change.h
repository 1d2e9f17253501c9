// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What one routing has moved against the one before it.
#pragma once

#include "routing.h"

#define ROUTING_RISEN_MAX 16

/* A channel that carries more than before. */
struct routing_risen {
	uint32_t channel; /* of the later result */
	uint64_t before;
	uint64_t after;
};

struct routing_change {
	uint64_t entries;  /* of switches in both, for LIDs in use in both, that send elsewhere */
	uint32_t switches; /* with such entries */
	uint32_t lids;	   /* destinations with such entries */
	uint64_t pairs;	   /* whose source and destination are in both */
	uint64_t moved;	   /* of these: on another way, or in another place */
	uint32_t sources_come; /* end ports that send now, and did not */
	uint32_t sources_gone;
	uint32_t lids_come; /* destinations that are new, or whose LID another port had */
	uint32_t lids_gone;
	struct routing_risen risen[ROUTING_RISEN_MAX]; /* most first */
	uint32_t risen_count;
	uint32_t risen_channels; /* all that carry more */
};

/**
 * routing_compare - what moved from one routing to the next
 * @old, @new: results of routing_analyze(), of any two fabrics
 *
 * Nodes and ports are matched by GUID and number, destinations by LID and port GUID. An entry sends
 * elsewhere if its port is another, or leads to another place. Pure; any thread. Linear in the
 * tables, of which it reads but those of destinations that changed more than once.
 *
 * Returns 0; -ENOMEM.
 */
int routing_compare(const struct routing_result *old, const struct routing_result *new,
		    struct routing_change *ret);
