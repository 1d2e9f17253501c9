// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The last N sweep stories, told from the records of the plugins of this subnet.
#pragma once

#include "daemon/ingest.h"
#include "fabric/story.h"

/*
 * A plugin gets a teller as soon as it is known to be of this subnet: at its HELLO, or when it is
 * followed or its fabric was compared. It is listened to until it ends, followed or not: so a sweep
 * that ends in a handover is told to its end, and one that ends in becoming master from its start.
 */
struct sweeps {
	struct story **ring; /* by number modulo size */
	size_t size;
	uint64_t newest; /* number; 0: none */
	uint64_t kept;
	uint64_t count;	      /* since ibsmd started */
	struct story *ended;  /* the followed plugin's last one that has; NULL: none */
	struct story *untold; /* runs, and its start is not an event yet: see sweeps_tick() */
	uint64_t untold_usec; /* CLOCK_MONOTONIC: since when */
	struct story *failed; /* the last of those that story_has_failed(); NULL: none */
};

/* Returns 0 or -ENOMEM. */
int sweeps_init(struct sweeps *sweeps, size_t size);
void sweeps_clear(struct sweeps *sweeps);

/* Another size; keeps the newest. Returns 0 or -ENOMEM (all stays as it was). */
int sweeps_resize(struct sweeps *sweeps, size_t size);

/* The number of the oldest story kept; newest + 1 when there is none. */
static inline uint64_t sweeps_first(const struct sweeps *sweeps)
{
	return sweeps->newest + 1 - sweeps->kept;
}

/* By number; NULL when it is not kept. */
struct story *sweeps_get(const struct sweeps *sweeps, uint64_t number);

/* The plugin is of this subnet: listen to it. */
void sweeps_listen(struct plugin *plugin);

/* The next record of a plugin, HELLO included. */
void sweeps_record(struct plugin *plugin, const union ibsm_wire_record *record);

/*
 * Once a second. opensm may raise the start of a sweep before the trap that caused it; so the event
 * of a start without a cause waits for one, until the sweep has ended, or for SWEEP_CAUSE_USEC.
 */
#define SWEEP_CAUSE_USEC UINT64_C(1000000)
void sweeps_tick(struct manager *manager);

/* The story that runs at a plugin, or NULL. */
const struct story *sweeps_running(const struct plugin *plugin);

/* What a snapshot of a plugin brought. Returns the story that found it, one reference, or NULL. */
struct story *sweeps_changes(struct plugin *plugin, const struct ibsm_snapshot_header *header,
			     const struct fabric_changes *changes);
