// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Changes of the routing: engine, fallback, LFTs as acknowledged and as computed.
#include <string.h>

#include "diff-internal.h"
#include "ibsm/wire.h"
#include "printable.h"

static const char *engine_text(struct diff *diff, const char *engine)
{
	char text[256];

	if (!engine)
		return NULL;
	printable(engine, strlen(engine), text, sizeof(text));
	return diff_string(diff, text);
}

void diff_engine(struct diff *diff)
{
	const char *old = diff->old ? fabric_engine_used(diff->old) : NULL;
	const char *new = fabric_engine_used(diff->new);
	bool old_fell = diff->old && fabric_routing_fell_back(diff->old);
	bool new_fell = fabric_routing_fell_back(diff->new);
	struct fabric_change *change;

	if (diff->old && (!old != !new || (old && strcmp(old, new) != 0))) {
		change = diff_add(diff, FABRIC_CHANGE_ENGINE_USED);
		change->old_text = engine_text(diff, old);
		change->new_text = engine_text(diff, new);
	}
	if (old_fell != new_fell) {
		change = diff_add(diff, new_fell ? FABRIC_CHANGE_ROUTING_FELL_BACK
						 : FABRIC_CHANGE_ROUTING_FALL_BACK_OVER);
		change->new_text = engine_text(diff, new);
	}
}

/* An LFT's entry; no path where it has none. */
static uint8_t entry(const uint8_t *lft, uint32_t lids, uint32_t lid)
{
	return lft && lid < lids ? lft[lid] : IBSM_LFT_NO_PATH;
}

static void compare_lfts(const uint8_t *old, uint32_t old_lids, const uint8_t *new,
			 uint32_t new_lids, uint64_t *ret_blocks, uint64_t *ret_entries)
{
	uint32_t lids = old_lids > new_lids ? old_lids : new_lids;

	*ret_blocks = *ret_entries = 0;
	for (uint32_t first = 0; first < lids; first += IBSM_LFT_BLOCK_LIDS) {
		uint32_t end = first + IBSM_LFT_BLOCK_LIDS;
		uint64_t entries = 0;

		if (old && new &&end <= old_lids &&
		    end <= new_lids &&memcmp(old + first, new + first, IBSM_LFT_BLOCK_LIDS) == 0)
			continue;
		for (uint32_t lid = first; lid < end && lid < lids; lid++)
			entries += entry(old, old_lids, lid) != entry(new, new_lids, lid);
		*ret_entries += entries;
		*ret_blocks += entries != 0;
	}
}

static void diff_lft(struct diff *diff, uint32_t node, const struct ibsm_snap_switch *old,
		     const struct ibsm_snap_switch *new)
{
	const struct snapshot *os = diff->old->snapshot, *ns = diff->new->snapshot;
	struct fabric_change *change;
	uint64_t blocks, entries;

	if (snapshot_same_table(os, ns, IBSM_TABLE_LFT) && old->lft == new->lft &&
	    old->lft_lids == new->lft_lids)
		return;
	compare_lfts(snapshot_lft(os, old), old->lft_lids, snapshot_lft(ns, new), new->lft_lids,
		     &blocks, &entries);
	if (!blocks)
		return;
	diff->changes->lft_blocks += blocks;
	diff->changes->lft_switches++;
	change = diff_add(diff, FABRIC_CHANGE_LFT);
	change->a = diff_node_end(diff, diff->new, node);
	change->new = blocks;
	change->count = entries;
}

void diff_lfts(struct diff *diff)
{
	for (uint32_t n = 0; n < fabric_nodes(diff->new); n++) {
		const struct ibsm_snap_switch *new = fabric_switch(diff->new, n);
		const struct ibsm_snap_switch *old = NULL;
		uint32_t old_mismatch, new_mismatch;
		struct fabric_change *change;

		if (!new || !fabric_node_present(diff->new, n))
			continue;
		if (diff->old_of_new[n] != IBSM_NONE)
			old = fabric_switch(diff->old, diff->old_of_new[n]);
		if (old)
			diff_lft(diff, n, old, new);
		old_mismatch = old ? fabric_lft_mismatch(diff->old, old) : 0;
		new_mismatch = fabric_lft_mismatch(diff->new, new);
		if (old_mismatch == new_mismatch)
			continue;
		change = diff_add(diff, new_mismatch ? FABRIC_CHANGE_LFT_MISMATCH
						     : FABRIC_CHANGE_LFT_MISMATCH_OVER);
		change->a = diff_node_end(diff, diff->new, n);
		change->old = old_mismatch;
		change->new = new_mismatch;
	}
}
