// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What ibsmd makes of what it hears: the detectors, what they are fed, what outlives a restart.
#pragma once

/*
 * The detectors are pure (fabric/detect-sm.h, fabric/detect-sweep.h, fabric/detect-state.h) and
 * report into one alert set. Here they get their inputs, with the time of the loop: records and
 * connections of plugins, stories, traps, adopted fabrics, answers to our own queries, and a tick a
 * second. What needs the whole fabric (placement, options, LIDs of an LFT that is not acknowledged)
 * is found in the worker, with the adoption of a snapshot.
 *
 * Everything on the loop thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/alert-set.h"
#include "fabric/detect-sm.h"
#include "fabric/detect-sweep.h"

struct fabric_changes;
struct manager;
struct plugin;

struct health {
	struct alert_set *alerts;
	struct detect_sm *sm;
	struct detect_sweep *sweep;
	uint64_t local_ports[SM_LOCAL_PORTS_MAX]; /* this host's, as the outside view told */
	size_t local_count;
	uint64_t save_monotonic_usec; /* of the last save */
	bool dirty;		      /* an alert, a silence or the history has changed since */
	bool saving;		      /* the worker writes */
	bool save_failed;	      /* and that was said */
	uint64_t masters;	      /* changes of the master, at the last look */
};

/* With the state of STATE-DIR/health.json. Returns 0 or a negative errno. */
int health_start(struct manager *manager);

/* Save, and free. Nothing where it has not started. */
void health_stop(struct manager *manager);

/* The subnet is another one: what was known of the former one's SMs, sweeps and alerts is over. */
void health_new_subnet(struct manager *manager);

/* The configuration has changed. */
void health_reload(struct manager *manager);

/* Once a second, and when something has changed that alerts follow from. */
void health_tick(struct manager *manager);

/* A plugin said something of its SM, or is known to be of this subnet from now on. */
void health_self(struct plugin *plugin);

/* Its connection has ended, or it is silent. */
void health_plugin_gone(struct plugin *plugin);

/* A story of the followed SM began or ended; a trap of a plugin of this subnet. */
void health_story(struct manager *manager, const struct story *story);
void health_trap(struct manager *manager, const struct trap_sample *trap);

/* Nobody is followed any more: whether a sweep runs is no longer known. */
void health_not_followed(struct manager *manager);

/* What the worker found in a fabric. */
struct health_findings {
	struct sm_placement placement;
	struct sm_config_result options[SM_CONFIG_CHECKS_MAX];
	size_t option_count;
};

/* In the worker. NULL without memory. */
struct health_findings *health_find(const struct fabric *fabric,
				    const struct sm_placement_config *placement,
				    const struct sm_config_limits *limits);

/* manager->fabric is a new one. @findings, @changes: of it; may be NULL. */
void health_fabric(struct manager *manager, const struct health_findings *findings,
		   const struct fabric_changes *changes);

/* The outside view: see daemon/outside.h. */
void health_reply(struct manager *manager, const struct sm_reply *reply);
void health_outside_lost(struct manager *manager);
void health_local_ports(struct manager *manager, const uint64_t *port_guids, size_t count);

/* Something that is saved has changed: it is, soon. */
void health_changed(struct manager *manager);
