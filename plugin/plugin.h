// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the plugin's parts share: one instance per opensm that loaded us.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "options.h"
#include "osm.h"
#include "ring.h"
#include "snapshot-take.h"
#include "wake.h"

struct sender;

struct plugin {
	osm_opensm_t *osm;
	struct options options;

	struct ring control;
	struct ring bulk;
	struct wake wake;
	struct snapshots snapshots;

	/* Counters of the callbacks, read by the sender. */
	_Atomic uint64_t zero_deltas;
	_Atomic uint64_t unknown_events;
	_Atomic uint64_t callback_nsec;

	_Atomic uint8_t sm_state; /* the one last reported */

	struct sender *sender;
};
