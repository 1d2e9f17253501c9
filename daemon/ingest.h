// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Plugin connections: who may connect, and what was read from whom.
#pragma once

/*
 * A connection's life:
 *
 *   accept     peer's uid is root's or ibsmd's own, and a place is free; else closed at once
 *   HELLO      first record, within HELLO_TIMEOUT_USEC; names the instance. A connection of the
 *              same instance that is still there is read to its end first, since its records came
 *              before
 *   records    checked (wire_check()), counted, handed to record.c
 *   SNAPSHOT   handed to adopt.c; while SNAPSHOTS_PENDING_MAX of them wait, nothing is read
 *   end        closed by the plugin, or refused: said once in the log, raised as an event
 */

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "daemon/plugin.h"

struct ingest {
	int fd;	    /* listens */
	char *path; /* to unlink; NULL: systemd's */
	sd_event_source *source;
	struct plugin *plugins; /* in order of connecting */
	struct plugin *followed;
	uint64_t last_followed; /* instance; 0: none yet */
	bool stopping;		/* nobody is followed any more */
	uint64_t left_usec;	/* CLOCK_MONOTONIC when the last followed one left; 0: never */

	uint64_t events_received; /* records of opensm's events */
	uint64_t events_missed;
	uint64_t events_dropped; /* by plugins; of an instance that was known before: since then */
	uint64_t drop_monotonic_usec; /* when the last of them were told of; 0: never */
	uint64_t refused;
};

/* Take plugins from a listening socket, owned from here on; @path is unlinked at the end, may be
 * NULL. Returns 0 or a negative errno. */
int ingest_start(struct manager *manager, int fd, const char *path);
void ingest_stop(struct manager *manager);

/* Take in a connection as accept() would give it, @pid its peer; consumes @fd, also on failure.
 * Returns 0 or a negative errno. */
int ingest_add(struct manager *manager, int fd, pid_t pid);

/* Once a second: connections that never said HELLO. */
void ingest_tick(struct manager *manager, uint64_t now_usec);

/* Fewer snapshots wait now: read on. */
void ingest_resume(struct plugin *plugin);
