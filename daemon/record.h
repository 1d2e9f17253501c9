// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a record from a plugin means: state of its SM, events, stories.
#pragma once

#include "daemon/ingest.h"

/* A record behind HELLO, checked and counted; SNAPSHOT and connection records excepted. */
void record_handle(struct plugin *plugin, const union ibsm_wire_record *record);

/* The plugin told its counters, in HEARTBEAT or DROPS. */
void record_counts(struct plugin *plugin, const struct ibsm_wire_ring_counts *control,
		   const struct ibsm_wire_ring_counts *bulk);
