// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Copies opensm's state into a private buffer, on opensm's sweeper thread.
#pragma once

#include "osm.h"
#include "snapshot-buffer.h"

#define SNAPSHOT_BUFFERS 2

/* What the sweeper and the sender share. */
struct snapshots {
	osm_opensm_t *osm;
	struct snapshot_buffer buffers[SNAPSHOT_BUFFERS];

	_Atomic uint64_t taken;
	_Atomic uint64_t skipped;
	_Atomic uint64_t lock_nsec;
	_Atomic uint64_t lock_max_nsec;

	_Atomic uint32_t owed; /* enum ibsm_snapshot_reason of one that came to nothing, 0 none */

	/* The sweeper's own. */
	bool complete;	      /* a whole snapshot was taken */
	uint64_t groups_nsec; /* when groups were last copied */
};

void snapshots_init(struct snapshots *snapshots, osm_opensm_t *osm);

/* No callback may run any more, and the sender must be gone. */
void snapshots_clear(struct snapshots *snapshots);

/*
 * Get memory for the next snapshot, faulted in. On the sweeper thread in HEAVY_SWEEP_DONE, without
 * opensm's lock; takes the shared lock for a moment.
 */
void snapshots_prepare(struct snapshots *snapshots);

/*
 * Copy everything and leave it for the sender; counted and owed when that cannot be. On the sweeper
 * thread, in SUBNET_UP or UCAST_ROUTING_DONE(reroute), without opensm's lock. Returns whether the
 * sender has something to do.
 */
bool snapshots_take(struct snapshots *snapshots, uint32_t reason);

/*
 * At any other event of the sweeper where it holds no lock: take what is owed if `idle` says that
 * the sweeper is between sweeps, else copy the multicast groups if it is time. Returns as
 * snapshots_take().
 */
bool snapshots_catch_up(struct snapshots *snapshots, bool idle);

/* Is a snapshot waiting for the sender? Any thread. */
bool snapshots_pending(struct snapshots *snapshots);

/* Take up the one that is waiting, NULL when none is. The sender's thread. */
struct snapshot_buffer *snapshots_receive(struct snapshots *snapshots);

/* Give it back. The sender's thread; `failed`: it came to nothing, so that it is owed now. */
void snapshots_return(struct snapshots *snapshots, struct snapshot_buffer *buffer, bool failed);
