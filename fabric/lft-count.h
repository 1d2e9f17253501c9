// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Counts LFT blocks by switch, while a sweep rewrites them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "story.h"
#include "string-pool.h"

/* Open addressing by node GUID; zeroed is empty. */
struct lft_counts {
	struct story_lft_switch *slots; /* blocks 0 and top false: free */
	size_t room;			/* a power of two, or 0 */
	size_t used;
	uint64_t blocks;
	struct fabric_strings *names;
};

void lft_counts_clear(struct lft_counts *counts);

/* One acknowledged block (or, with `top`, LinearFDBTop) of a switch; `name` is copied, NULL: not
 * known. Returns 0; -ENOMEM: not counted. */
int lft_counts_add(struct lft_counts *counts, uint64_t node_guid, const char *name, bool top);

/* Whether lft_counts_add() would like to know the name of this switch. */
bool lft_counts_unnamed(const struct lft_counts *counts, uint64_t node_guid);

/* The `max` switches with most blocks, most first, then by GUID. Returns how many. */
size_t lft_counts_top(const struct lft_counts *counts, struct story_lft_switch *ret, size_t max);

/* Forgets all but the top ones; `blocks` stays the sum of all. Does nothing without memory. */
void lft_counts_shrink(struct lft_counts *counts, size_t max);
