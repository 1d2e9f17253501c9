// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// An event of opensm as a fixed-size wire record.
#pragma once

#include <stdint.h>

#include "osm.h"
#include "ring.h"

struct capture_time {
	uint64_t monotonic_nsec;
	uint64_t realtime_nsec;
};

/* Both clocks now. Any thread. */
struct capture_time capture_now(void);

/* Where a record goes. */
enum capture_verdict {
	CAPTURE_CONTROL, /* control ring */
	CAPTURE_BULK,	 /* bulk ring */
	CAPTURE_ZERO,	 /* counters that did not move: not queued */
	CAPTURE_UNKNOWN, /* an event id that this plugin does not know */
};

/* What to do with an event. Any thread; looks at the event's data alone. */
enum capture_verdict capture_classify(osm_epi_event_id_t event, const void *data);

/*
 * Fill `record` from an event that capture_classify() sends to a ring. In opensm's callback: reads
 * what `data` points to, and of *osm single fields that do not move; takes no lock. Secrets
 * (sm_key, the M_Key of trap 256) are never read.
 */
void capture_event(osm_opensm_t *osm, osm_epi_event_id_t event, const void *data,
		   const struct capture_time *now, union ring_record *record);

/* Fill `record` with a change of the SM's state. Any thread. */
void capture_sm_state(osm_opensm_t *osm, uint8_t old_state, uint8_t new_state,
		      const struct capture_time *now, union ring_record *record);

/* The SM's state now. Any thread. */
static inline uint8_t capture_state_now(osm_opensm_t *osm)
{
	return OSM_READ(osm->subn.sm_state);
}

/* enum ibsm_sweep_flags as they stand now. Any thread. */
uint32_t capture_sweep_flags(osm_opensm_t *osm);

/* Fill a record's header but for the sequence number. */
void capture_header(struct ibsm_wire_header *header, uint16_t type, const struct capture_time *now);
