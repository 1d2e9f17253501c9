// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The one table of event kinds: what opensm and the plugin do, then what changed in the fabric.
#pragma once

#include <stdbool.h>

#include "fabric/diff.h"

enum event_kind {
	EVENT_PLUGIN_CONNECTED,
	EVENT_PLUGIN_DISCONNECTED,
	EVENT_PLUGIN_REFUSED,
	EVENT_PLUGIN_FOLLOWED,
	EVENT_RECORDS_DROPPED,
	EVENT_RECORDS_MISSED,
	EVENT_SNAPSHOT_REFUSED,
	EVENT_SUBNET_CHANGED,
	EVENT_OWN_SM_STATE,
	EVENT_TRAP,
	EVENT_SWEEP_STARTED,
	EVENT_SWEEP_FAILED,
	EVENT_REROUTED,
	EVENT_SUBNET_UP,
	EVENT_LFTS_CHANGED,
	EVENT_ALERT_RAISED,
	EVENT_ALERT_CLEARED,
	EVENT_UNCLEAN_END,
	EVENT_FABRIC_CHANGE, /* the first of FABRIC_CHANGE_KINDS kinds, see fabric/diff.h */
};

#define EVENT_KINDS (EVENT_FABRIC_CHANGE + FABRIC_CHANGE_KINDS)

/* Names, stable, part of the API; NULL out of range. */
const char *event_kind_name(unsigned kind);

/* A sentence on when it is raised, as the manual page has it; NULL out of range. */
const char *event_kind_text(unsigned kind);

/* Whether some kind has this name. */
bool event_kind_exists(const char *name);
