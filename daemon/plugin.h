// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One plugin's connection: who it is, and how it ends.
#pragma once

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

/* Ref-counted by the ingest's list and by snapshots under way, all on the loop thread. */
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
	uint64_t sm_guid;	 /* port GUID; 0 unknown */
	uint64_t master_sm_guid; /* of the SM that it follows; 0 unknown */
	uint8_t sm_state;
	uint64_t subnet_up_nsec; /* of its last SUBNET_UP, CLOCK_MONOTONIC; 0 none */

	uint64_t since_realtime_usec;
	uint64_t since_monotonic_usec;
	uint64_t last_monotonic_usec; /* of the last heartbeat, or of HELLO */
	uint64_t records;
	uint64_t unknown_records;
	uint64_t drops_untold; /* dropped since the last event that says so */

	unsigned snapshots_pending;
	struct snapshot *snapshot; /* the last one read; the next may lean on it */
	bool listened_to;	   /* see sweeps.h */
	bool told_health;	   /* health_self() said so, and it was not taken back */
	struct story_teller *teller;
};

struct plugin *plugin_ref(struct plugin *plugin);
/* Accepts NULL, returns NULL. */
struct plugin *plugin_unref(struct plugin *plugin);

/* "opensm PID on HOST (SM 0x…)". */
#define PLUGIN_TEXT_BYTES 400
const char *plugin_text(const struct plugin *plugin, char buffer[static PLUGIN_TEXT_BYTES]);

/* End the connection, and the list's reference. @why goes to the log and becomes an event, NULL:
 * that was said already. Nothing where it has ended already. */
void plugin_close(struct plugin *plugin, const char *why);

/* Turn a plugin away: one log line (a repeated reason is not repeated), one event of @kind, and
 * close. Nothing where it has ended already. */
void plugin_refuse(struct plugin *plugin, enum event_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Raise the event of the drops that none has told of yet, if there are any. */
void plugin_tell_drops(struct plugin *plugin);
