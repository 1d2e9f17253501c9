// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a callback does: an event into its ring, and at certain points a snapshot.
#pragma once

#include "capture.h"
#include "plugin.h"

/* One event of opensm. Any thread of opensm, any lock held; see report.c. */
void report_event(struct plugin *plugin, osm_epi_event_id_t event, void *data);

/* Queue an SM_STATE record if the SM's state differs from the one last reported. Any thread. */
void report_sm_state(struct plugin *plugin, const struct capture_time *now);
