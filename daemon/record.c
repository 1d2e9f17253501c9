// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a record from a plugin means: state of its SM, events, stories.
#include "daemon/record.h"

#include <inttypes.h>
#include <stdio.h>

#include "daemon/clock.h"
#include "daemon/follow.h"
#include "daemon/manager.h"
#include "daemon/sweeps.h"
#include "daemon/trap.h"
#include "fabric/names.h"

void record_counts(struct plugin *plugin, const struct ibsm_wire_ring_counts *control,
		   const struct ibsm_wire_ring_counts *bulk)
{
	struct ingest *ingest = &plugin->manager->ingest;
	uint64_t total = control->dropped_full + control->dropped_absent + bulk->dropped_full +
			 bulk->dropped_absent;
	uint64_t dropped = total - plugin->instance->dropped;

	/* The totals only ever grow. */
	if (total <= plugin->instance->dropped)
		return;
	plugin->instance->dropped = total;
	plugin->drops_untold += dropped;
	ingest->events_dropped += dropped;
	ingest->drop_monotonic_usec = now_monotonic_usec();
}

static void set_sm_state(struct plugin *plugin, uint8_t state, uint64_t sm_guid)
{
	bool same = plugin->sm_state == state;

	if (sm_guid)
		plugin->sm_guid = sm_guid;
	plugin->sm_state = state;
	health_self(plugin);
	if (!same)
		follow_choose(plugin->manager);
}

static void on_sm_state(struct plugin *plugin, const struct ibsm_wire_sm_state *record)
{
	char text[PLUGIN_TEXT_BYTES], message[PLUGIN_TEXT_BYTES + 64];
	struct event event = {
		.kind = EVENT_OWN_SM_STATE,
		.severity = FABRIC_SEVERITY_NOTICE,
		.realtime_usec = record->header.realtime_nsec / NSEC_PER_USEC,
		.monotonic_usec = record->header.monotonic_nsec / NSEC_PER_USEC,
		.message = message,
		.old = sm_state_name(record->old_state),
		.new = sm_state_name(record->new_state),
	};

	if (record->sm_port_guid)
		plugin->sm_guid = record->sm_port_guid;
	plugin->master_sm_guid = record->master_sm_guid;
	snprintf(message, sizeof(message), "%s went from %s to %s", plugin_text(plugin, text),
		 event.old, event.new);
	trap_find_end(plugin->manager->fabric, plugin->sm_guid, 0, &event);
	manager_event(plugin->manager, event_new(&event));
	set_sm_state(plugin, record->new_state, record->sm_port_guid);
}

void record_handle(struct plugin *plugin, const union ibsm_wire_record *record)
{
	/* The trap, then the sweep that it causes. LIDs of another subnet would name the wrong
	 * nodes. */
	if (record->header.type == IBSM_WIRE_TRAP && plugin->listened_to)
		trap_event(plugin, &record->trap);
	sweeps_record(plugin, record);
	switch (record->header.type) {
	case IBSM_WIRE_HEARTBEAT:
		set_sm_state(plugin, record->heartbeat.sm_state, record->heartbeat.sm_port_guid);
		break;
	case IBSM_WIRE_SM_STATE:
		on_sm_state(plugin, &record->sm_state);
		break;
	case IBSM_WIRE_SUBNET_UP:
		plugin->subnet_up_nsec = record->header.monotonic_nsec;
		follow_choose(plugin->manager);
		break;
	default:
		break;
	}
}
