// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Private memory that a snapshot is copied into under opensm's lock, and who owns it when.
#pragma once

/*
 * There are two buffers, since the sweeper must never wait for the sender. A buffer's state says
 * who may touch it; each change of owner is one compare-and-swap:
 *
 *   IDLE ──sweeper──▶ FILLING ──sweeper──▶ PENDING ──sender──▶ SENDING ──sender──▶ IDLE
 *                        ▲                    │
 *                        └──────sweeper───────┘  not yet taken up: overwritten by a newer one
 *
 * At most one buffer is PENDING, as the sweeper takes a pending one back before it looks for an
 * idle one. The second buffer gets its memory only when the first one is found busy.
 *
 * A buffer is a set of areas that grow: one for each table of the snapshot, in its final form but
 * for indices that only the whole can tell, and a few more with what the sender needs to find
 * those. An append that finds no room fails but is counted; the copy goes on in order to learn how
 * much is needed, the lock is released, the areas grow, and the copy is done again.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ibsm/snapshot.h"
#include "ibsm/wire.h"

/* Areas 1 … IBSM_TABLE_MAX - 1 are tables. */
enum snapshot_area {
	SNAPSHOT_NODE_BASES = IBSM_TABLE_MAX, /* struct snapshot_node_base, per row of NODES */
	SNAPSHOT_REMOTES,		      /* uintptr_t, per row of PORTS: the neighbour */
	SNAPSHOT_IN_SERVICE,		      /* uintptr_t: ports that have an osm_port_t */
	SNAPSHOT_MEMBER_PORTS,		      /* uint64_t, per row of GROUP_MEMBERS: port GUID */
	SNAPSHOT_SORT,			      /* scratch */
	SNAPSHOT_SORT_OTHER,		      /* scratch */
	SNAPSHOT_AREAS,
};

/* Where opensm keeps a node's ports. Addresses are compared, never followed. */
struct snapshot_node_base {
	uintptr_t first; /* of port number 0 */
	uint32_t slots;	 /* port numbers 0 … slots - 1 */
	uint32_t stride; /* bytes from one to the next */
};

struct snapshot_memory {
	uint8_t *data;
	size_t capacity; /* bytes that are mapped and faulted in */
	size_t used;	 /* bytes appended */
	size_t wanted;	 /* bytes that appends asked for, room or not */
};

enum snapshot_buffer_state {
	SNAPSHOT_IDLE,
	SNAPSHOT_FILLING,
	SNAPSHOT_PENDING,
	SNAPSHOT_SENDING,
};

struct snapshot_buffer {
	_Atomic int state; /* enum snapshot_buffer_state */
	struct snapshot_memory areas[SNAPSHOT_AREAS];
	uint32_t reason; /* enum ibsm_snapshot_reason; _GROUPS: those two tables only */
	uint64_t monotonic_nsec;
	uint64_t realtime_nsec;
	uint64_t lock_nsec; /* how long opensm's lock was held for it */
};

/* Forget the content; memory stays. Owner's thread. */
void snapshot_buffer_reset(struct snapshot_buffer *buffer);

/* Unmap all. No other thread may use it any more. */
void snapshot_buffer_clear(struct snapshot_buffer *buffer);

/*
 * Room for `bytes` more in an area, at a multiple of `align` (a power of two) from its start; NULL
 * when it must grow first. Not zeroed. Owner's thread; no system call.
 */
void *snapshot_append(struct snapshot_buffer *buffer, int area, size_t bytes, size_t align);

/* Did an append fail since the reset? */
bool snapshot_buffer_short(const struct snapshot_buffer *buffer);

/*
 * Give each area at least what was wanted of it, and an eighth more, faulted in. Loses the content.
 * Owner's thread, no lock held. Returns 0 or -ENOMEM.
 */
int snapshot_buffer_grow(struct snapshot_buffer *buffer);

/* Note that an area will want `bytes`; snapshot_buffer_grow() heeds it. */
void snapshot_buffer_want(struct snapshot_buffer *buffer, int area, size_t bytes);

/* Rows of a table in this buffer. */
static inline uint64_t snapshot_rows(const struct snapshot_buffer *buffer, int table)
{
	return buffer->areas[table].used / ibsm_snapshot_row_bytes((uint32_t)table);
}

/* Change the state from `from` to `to`; false when it was another. */
static inline bool snapshot_buffer_move(struct snapshot_buffer *buffer, int from, int to)
{
	return atomic_compare_exchange_strong(&buffer->state, &from, to);
}
