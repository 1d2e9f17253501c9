// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// struct manager: one event loop and everything that hangs on it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include "daemon/conf.h"
#include "daemon/events.h"
#include "daemon/health.h"
#include "daemon/ingest.h"
#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/names.h"
#include "daemon/silence.h"
#include "daemon/state.h"
#include "daemon/sweeps.h"
#include "daemon/worker.h"
#include "fabric/fabric.h"
#include "varlink/server.h"

struct api;
struct outside;

struct manager_options {
	const char *config_path;
	bool config_required; /* it was named on the command line */
	const char *runtime_dir;
	const char *state_dir;
};

struct manager {
	struct manager_options options;
	sd_event *event;
	uint64_t start_realtime_usec;
	uint64_t start_monotonic_usec;

	struct conf conf;
	struct limits limits;
	struct log_once once;
	struct state state;
	struct names *names; /* node-name-map; NULL: none */
	struct events events;
	struct worker *worker;
	struct ingest ingest;
	struct sweeps sweeps;
	struct health health;
	struct outside *outside;
	struct silences silences;

	struct fabric *fabric; /* the adopted one; NULL: none yet */
	uint64_t fabric_realtime_usec;
	uint64_t model_instance; /* of the plugin that it is from; 0: none */

	struct api *api;
	int lock_fd;
	bool state_failed; /* told already that the state cannot be written */
	char status[256];  /* the last STATUS= line */
	sd_event_source *tick_source;
	sd_event_source *event_source;
};

/**
 * Make all modules and listen.
 * @options: the strings must outlive the manager
 * Returns 0 or a negative errno (logged).
 */
int manager_new(const struct manager_options *options, struct manager **ret);

/* Run until a signal ends it. Returns 0 or a negative errno. */
int manager_run(struct manager *manager);

/* Save the state, close all and free. Accepts NULL, returns NULL. */
struct manager *manager_free(struct manager *manager);

/* Raise an event: consumes @event, NULL is a lack of memory and is logged. Followers get it later
 * in this turn of the loop. */
void manager_event(struct manager *manager, struct event *event);

/* An event without ends, of now. */
void manager_event_text(struct manager *manager, enum event_kind kind,
			enum fabric_severity severity, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
