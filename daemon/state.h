// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What outlives a restart: event and sweep numbers, and the last sequence of each plugin instance.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/limits.h"

/*
 * STATE-DIR/state.json, replaced atomically at a clean end, and every STATE_SAVE_USEC while it
 * changes. After an end that was not clean, numbers go on STATE_EVENTS_AHEAD and STATE_SWEEPS_AHEAD
 * further than the file has them, so that none is given twice: state_is_due() says so before that
 * many were given.
 */
#define STATE_SAVE_USEC (UINT64_C(30) * 1000000)
#define STATE_EVENTS_AHEAD 100000
#define STATE_SWEEPS_AHEAD 100

/* One loading of the plugin by one opensm. */
struct instance {
	uint64_t id;	    /* 0: slot is free */
	uint64_t sequence;  /* of the last record read from it */
	uint64_t dropped;   /* the last total that it reported, both rings */
	uint64_t used_usec; /* CLOCK_REALTIME, to find the oldest one; 0: slot is free */
	unsigned users;	    /* connections: never makes room; not kept in the file */
	bool may_be_older;  /* the file's numbers may be, after an end that was not clean */
};

struct state {
	uint64_t next_event; /* number of the next one, from 1 */
	uint64_t last_sweep; /* number of the last one, 0: none yet */
	struct instance instances[INSTANCES_MAX];

	uint64_t unclean_first; /* the end before was not clean: events from this number up to
				   next_event may have been given; 0: it was clean */

	uint64_t saved_usec; /* CLOCK_MONOTONIC; below: what the file has */
	uint64_t saved_event;
	uint64_t saved_sweep;
};

/**
 * Read the file. One that is not there means a fresh start; a broken one is moved aside to
 * state.json.broken.
 * @ret_why: of a broken one; "" otherwise
 * Returns 0; -EBADMSG: broken, *ret is a fresh start; or what open() said.
 */
int state_load(const char *directory, struct state *ret, char ret_why[256]);

/**
 * Write the file.
 * @clean: nothing happens after this; waits for the disk, too
 * Returns 0 or a negative errno; the old file stays then.
 */
int state_save(const char *directory, struct state *state, bool clean, uint64_t now_usec);

/* Should state_save() be called by now? @now_usec: CLOCK_MONOTONIC. */
bool state_is_due(const struct state *state, uint64_t now_usec);

/* The instance, made if it is not there; of those without users the one that was used longest ago
 * makes room, counted. There are more slots than connections. */
struct instance *state_instance(struct state *state, uint64_t id, uint64_t realtime_usec,
				struct limits *limits);
