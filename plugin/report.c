// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a callback does: an event into its ring, and at certain points a snapshot.

/*
 * opensm calls us on the thread that raised the event, several at once, some under its exclusive
 * lock: a callback that waits there stops the subnet administration of the whole fabric. So an
 * event costs three clock reads, one slot of a preallocated ring and, if the sender sleeps, one
 * write to an eventfd. No lock, no allocation, no log, no cancellation point.
 */

#include "report.h"

static void put(struct plugin *plugin, struct ring *ring, const struct ring_claim *claim)
{
	ring_publish(ring, claim);
	wake_after_put(&plugin->wake, claim->used > ring_high_water(ring));
}

/*
 * The order matters: first the state last reported, then the state now. Two threads that see a
 * change at once agree on who reports it (compare-and-swap), and one that was stopped in between
 * cannot bring an old state back: what it reads is at least as new as what it compares with.
 */
void report_sm_state(struct plugin *plugin, const struct capture_time *now)
{
	uint8_t reported = atomic_load(&plugin->sm_state);
	uint8_t state = capture_state_now(plugin->osm);
	struct ring_claim claim;

	if (state == reported ||
	    !atomic_compare_exchange_strong(&plugin->sm_state, &reported, state))
		return;
	if (!ring_claim(&plugin->control, &claim)) {
		wake_after_put(&plugin->wake, true);
		return;
	}
	capture_sm_state(plugin->osm, reported, state, now, claim.record);
	put(plugin, &plugin->control, &claim);
}

static void queue_event(struct plugin *plugin, struct ring *ring, osm_epi_event_id_t event,
			void *data, const struct capture_time *now)
{
	struct ring_claim claim;

	if (!ring_claim(ring, &claim)) {
		wake_after_put(&plugin->wake, true);
		return;
	}
	capture_event(plugin->osm, event, data, now, claim.record);
	put(plugin, ring, &claim);
}

/*
 * All on the sweeper thread, which holds no lock in these events (and only in these): see
 * snapshot-take.c. SA_DB_DUMPED and HEAVY_SWEEP_START come when the last sweep is over and the next
 * one has not changed anything yet, so a snapshot that is owed can be taken there.
 */
static void take_snapshot(struct plugin *plugin, osm_epi_event_id_t event, const void *data)
{
	bool taken = false;

	switch (event) {
	case OSM_EVENT_ID_SUBNET_UP:
		taken = snapshots_take(&plugin->snapshots, IBSM_SNAPSHOT_SUBNET_UP);
		break;
	case OSM_EVENT_ID_UCAST_ROUTING_DONE:
		if ((uintptr_t)data == UCAST_ROUTING_REROUTE)
			taken = snapshots_take(&plugin->snapshots, IBSM_SNAPSHOT_REROUTE);
		break;
	case OSM_EVENT_ID_HEAVY_SWEEP_START:
	case OSM_EVENT_ID_SA_DB_DUMPED:
		taken = snapshots_catch_up(&plugin->snapshots, true);
		break;
	case OSM_EVENT_ID_HEAVY_SWEEP_DONE:
		snapshots_prepare(&plugin->snapshots);
		taken = snapshots_catch_up(&plugin->snapshots, false);
		break;
	case OSM_EVENT_ID_STATE_CHANGE:
		taken = snapshots_catch_up(&plugin->snapshots, false);
		break;
	default:
		break;
	}
	if (taken)
		wake_always(&plugin->wake);
}

void report_event(struct plugin *plugin, osm_epi_event_id_t event, void *data)
{
	struct capture_time now = capture_now();

	report_sm_state(plugin, &now);
	switch (capture_classify(event, data)) {
	case CAPTURE_CONTROL:
		queue_event(plugin, &plugin->control, event, data, &now);
		break;
	case CAPTURE_BULK:
		queue_event(plugin, &plugin->bulk, event, data, &now);
		break;
	case CAPTURE_ZERO:
		atomic_fetch_add_explicit(&plugin->zero_deltas, 1, memory_order_relaxed);
		break;
	case CAPTURE_UNKNOWN:
		atomic_fetch_add_explicit(&plugin->unknown_events, 1, memory_order_relaxed);
		break;
	}
	if (plugin->options.snapshots)
		take_snapshot(plugin, event, data);
	atomic_fetch_add_explicit(&plugin->callback_nsec,
				  capture_now().monotonic_nsec - now.monotonic_nsec,
				  memory_order_relaxed);
}
