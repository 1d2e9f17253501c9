// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Plugin connections: who may connect, what was read from whom, and which one the model follows.
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
 *
 * Of several plugins one is followed: its snapshots become the model, its sweeps the stories. It is
 * the one whose SM is master; of several masters the one whose subnet came up last; while there is
 * none, the one that was followed before, else the one that has been there longest. A plugin of
 * another subnet than the followed one's is refused. The claim to the subnet ends PluginTimeoutSec=
 * after its last plugin has left.
 *
 * Ownership: struct plugin is ref-counted by the ingest's list and by snapshots under way, all on
 * the loop thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <systemd/sd-event.h>

#include "daemon/event-kind.h"
#include "daemon/state.h"
#include "fabric/fabric.h"
#include "fabric/printable.h"
#include "ibsm/wire.h"

struct manager;
struct story_teller;

struct plugin {
	unsigned refs;
	struct plugin *next;
	struct manager *manager;
	sd_event_source *source;
	int fd; /* -1: the connection has ended */
	pid_t peer_pid;

	bool greeted; /* HELLO was read; all below is known from then on */
	bool followed;
	bool subnet_checked; /* its snapshot was compared with the model's */
	struct ibsm_wire_hello hello;
	char host[PRINTABLE_BYTES(64)]; /* printable forms */
	char opensm_version[PRINTABLE_BYTES(64)];
	char plugin_version[PRINTABLE_BYTES(32)];
	struct instance *instance; /* in the state; `users` counts us */
	bool heard;		   /* a heartbeat was read */
	struct ibsm_wire_heartbeat heartbeat;
	uint64_t sm_guid; /* port GUID; 0 unknown */
	uint8_t sm_state;
	uint64_t subnet_up_nsec; /* of its last SUBNET_UP, CLOCK_MONOTONIC; 0 none */

	uint64_t since_realtime_usec;
	uint64_t since_monotonic_usec;
	uint64_t last_monotonic_usec; /* of the last heartbeat, or of HELLO */
	uint64_t records;
	uint64_t unknown_records;
	uint64_t drops_untold; /* dropped since the last event that says so */

	unsigned snapshots_pending;
	struct snapshot *snapshot;   /* the last one read; the next may lean on it */
	struct story_teller *teller; /* since it was followed first; see sweeps.h */
};

struct ingest {
	int fd;	    /* listens */
	char *path; /* to unlink; NULL: systemd's */
	sd_event_source *source;
	struct plugin *plugins; /* in order of connecting */
	struct plugin *followed;
	uint64_t left_usec; /* CLOCK_MONOTONIC when the last followed one left; 0: never */

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

/* Once a second: connections that never said HELLO, silence, the claim to the subnet. */
void ingest_tick(struct manager *manager, uint64_t now_usec);

/* Turn a plugin away: one log line (a repeated reason is not repeated), one event of @kind, and
 * close. Nothing where it has ended already. */
void ingest_refuse(struct plugin *plugin, enum event_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Choose anew which plugin to follow. */
void ingest_choose(struct manager *manager);

/* Whether the subnet of the model is claimed by another plugin than this one, which is here or left
 * a moment ago. */
bool ingest_subnet_is_claimed(const struct plugin *plugin);

/* Fewer snapshots wait now: read on. */
void ingest_resume(struct plugin *plugin);

/* "opensm PID on HOST (SM 0x…)". */
#define PLUGIN_TEXT_BYTES 400
const char *plugin_text(const struct plugin *plugin, char buffer[static PLUGIN_TEXT_BYTES]);

struct plugin *plugin_ref(struct plugin *plugin);
struct plugin *plugin_unref(struct plugin *plugin);
