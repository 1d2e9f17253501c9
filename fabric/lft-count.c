// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A hash of switches and their block counts.
#include "lft-count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 16

static bool is_free(const struct story_lft_switch *slot)
{
	return slot->blocks == 0 && !slot->top;
}

/* The slot of a switch, or the free one where it would go; there is always a free one. */
static struct story_lft_switch *find(const struct lft_counts *counts, uint64_t guid)
{
	/* Fibonacci hashing: GUIDs of one vendor differ in few bits. */
	size_t at = (size_t)((guid * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (counts->room - 1);

	while (!is_free(&counts->slots[at]) && counts->slots[at].node_guid != guid)
		at = (at + 1) & (counts->room - 1);
	return &counts->slots[at];
}

static int grow(struct lft_counts *counts)
{
	struct lft_counts bigger = *counts;

	bigger.room = counts->room ? counts->room * 2 : ROOM_FIRST;
	bigger.slots = calloc(bigger.room, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < counts->room; i++)
		if (!is_free(&counts->slots[i]))
			*find(&bigger, counts->slots[i].node_guid) = counts->slots[i];
	free(counts->slots);
	*counts = bigger;
	return 0;
}

void lft_counts_clear(struct lft_counts *counts)
{
	free(counts->slots);
	fabric_strings_free(counts->names);
	*counts = (struct lft_counts){0};
}

bool lft_counts_unnamed(const struct lft_counts *counts, uint64_t node_guid)
{
	return !counts->room || !find(counts, node_guid)->name;
}

int lft_counts_add(struct lft_counts *counts, uint64_t node_guid, const char *name, bool top)
{
	struct story_lft_switch *slot;

	if ((counts->used + 1) * 4 > counts->room * 3 && grow(counts) < 0)
		return -ENOMEM;
	if (name && !counts->names) {
		counts->names = fabric_strings_new();
		if (!counts->names)
			return -ENOMEM;
	}
	slot = find(counts, node_guid);
	counts->used += is_free(slot);
	slot->node_guid = node_guid;
	if (name && !slot->name)
		slot->name = fabric_strings_add(counts->names, name);
	if (top) {
		slot->top = true;
	} else {
		slot->blocks++;
		counts->blocks++;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct story_lft_switch *x = a, *y = b;

	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	return x->node_guid < y->node_guid ? -1 : x->node_guid > y->node_guid;
}

size_t lft_counts_top(const struct lft_counts *counts, struct story_lft_switch *ret, size_t max)
{
	size_t count = 0;

	/* Insertion into the few that are wanted: no memory, and rarely more than one comparison.
	 */
	for (size_t i = 0; i < counts->room; i++) {
		const struct story_lft_switch *slot = &counts->slots[i];
		size_t at;

		if (is_free(slot) || !max || (count == max && compare(slot, &ret[max - 1]) >= 0))
			continue;
		at = count < max ? count++ : max - 1;
		for (; at > 0 && compare(slot, &ret[at - 1]) < 0; at--)
			ret[at] = ret[at - 1];
		ret[at] = *slot;
	}
	return count;
}

void lft_counts_shrink(struct lft_counts *counts, size_t max)
{
	_cleanup_free_ struct story_lft_switch *kept = NULL;
	struct lft_counts smaller = {0};
	size_t count;

	if (counts->used <= max)
		return;
	kept = calloc(max + 1, sizeof(*kept));
	if (!kept)
		return;
	count = lft_counts_top(counts, kept, max);
	for (size_t i = 0; i < count; i++) {
		if (lft_counts_add(&smaller, kept[i].node_guid, kept[i].name, kept[i].top) < 0) {
			lft_counts_clear(&smaller);
			return;
		}
		find(&smaller, kept[i].node_guid)->blocks = kept[i].blocks;
	}
	smaller.blocks = counts->blocks;
	lft_counts_clear(counts);
	*counts = smaller;
}
