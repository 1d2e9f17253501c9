// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which row of PORTS is meant: neighbours, members and SMs of a copied snapshot, found on the
// sender.
#pragma once

#include "snapshot-buffer.h"

/* Rows of PORTS by the GUID of an end port (a CA's or router's port, a switch's port 0). */
struct port_index {
	struct port_index_entry {
		uint64_t guid;
		uint32_t row;
		uint16_t lid;
		uint32_t node;
	} * entries; /* ascending by GUID */
	size_t n;
};

void port_index_clear(struct port_index *index);

/* NULL when no end port has this GUID. */
const struct port_index_entry *port_index_find(const struct port_index *index, uint64_t guid);

/*
 * Fill in what snapshot_take left open. From a whole snapshot a new index is built; one of groups
 * alone is resolved against `last`, the index of the last whole one, and *ret_built is left empty.
 * The buffer is the caller's (SENDING). Returns 0 or -ENOMEM.
 */
int snapshot_resolve(struct snapshot_buffer *buffer, const struct port_index *last,
		     struct port_index *ret_built);
