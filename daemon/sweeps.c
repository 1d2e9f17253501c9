// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The last N sweep stories, told from the records of the plugins of this subnet.
#include "daemon/sweeps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/clock.h"
#include "daemon/manager.h"
#include "fabric/names.h"
#include "util/duration.h"

int sweeps_init(struct sweeps *sweeps, size_t size)
{
	struct story **ring = calloc(size, sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	*sweeps = (struct sweeps){.ring = ring, .size = size};
	return 0;
}

void sweeps_clear(struct sweeps *sweeps)
{
	for (uint64_t n = sweeps_first(sweeps); n <= sweeps->newest && sweeps->kept; n++)
		story_unref(sweeps->ring[n % sweeps->size]);
	story_unref(sweeps->ended);
	story_unref(sweeps->failed);
	story_unref(sweeps->untold);
	free(sweeps->ring);
	*sweeps = (struct sweeps){0};
}

int sweeps_resize(struct sweeps *sweeps, size_t size)
{
	struct story **ring;

	if (size == sweeps->size)
		return 0;
	ring = calloc(size, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	for (uint64_t n = sweeps_first(sweeps); n <= sweeps->newest; n++) {
		struct story *story = sweeps->ring[n % sweeps->size];

		if (sweeps->newest - n >= size)
			story_unref(story);
		else
			ring[n % size] = story;
	}
	if (sweeps->kept > size)
		sweeps->kept = size;
	free(sweeps->ring);
	sweeps->ring = ring;
	sweeps->size = size;
	return 0;
}

struct story *sweeps_get(const struct sweeps *sweeps, uint64_t number)
{
	if (number < sweeps_first(sweeps) || number > sweeps->newest)
		return NULL;
	return sweeps->ring[number % sweeps->size];
}

static void append(struct manager *m, struct story *story)
{
	struct sweeps *sweeps = &m->sweeps;
	struct story **slot = &sweeps->ring[story->number % sweeps->size];

	if (sweeps->kept == sweeps->size) {
		story_unref(*slot);
		sweeps->kept--;
		limit_hit(&m->limits, LIMIT_SWEEPS, 1);
	}
	*slot = story_ref(story);
	sweeps->newest = story->number;
	sweeps->kept++;
	sweeps->count++;
}

static void story_event(struct manager *m, const struct story *story, enum event_kind kind,
			enum fabric_severity severity, uint64_t monotonic_usec,
			uint64_t realtime_usec, const char *message)
{
	manager_event(m, event_new(&(struct event){
				 .kind = kind,
				 .severity = severity,
				 .realtime_usec = realtime_usec,
				 .monotonic_usec = monotonic_usec,
				 .sweep = story->number,
				 .message = message,
			 }));
}

static bool has_cause(const struct story *story)
{
	return story->cause.kind != STORY_CAUSE_UNKNOWN && story->cause.kind != STORY_CAUSE_NO_TRAP;
}

static void tell_start(struct manager *m, const struct story *story)
{
	char cause[STORY_CAUSE_TEXT_BYTES], text[sizeof(cause) + 64];

	if (!has_cause(story))
		snprintf(text, sizeof(text), "heavy sweep %" PRIu64 " began", story->number);
	else
		snprintf(text, sizeof(text), "heavy sweep %" PRIu64 " began: %s", story->number,
			 story_cause_text(&story->cause, cause, sizeof(cause)));
	story_event(m, story, EVENT_SWEEP_STARTED, FABRIC_SEVERITY_INFO,
		    story->start_monotonic_usec, story->start_realtime_usec, text);
}

static void tell_end(struct manager *m, const struct story *story)
{
	enum fabric_severity severity = FABRIC_SEVERITY_INFO;
	enum event_kind kind = story->type == STORY_REROUTE ? EVENT_REROUTED : EVENT_SUBNET_UP;
	uint64_t duration = story_duration_usec(story);
	char text[256], took[48] = "", span[DURATION_BYTES];

	if (duration)
		snprintf(took, sizeof(took), " after %s", duration_format(span, duration));
	switch (story->result) {
	case STORY_UP:
		if (story->type == STORY_REROUTE)
			snprintf(text, sizeof(text), "reroute %" PRIu64 " ended%s", story->number,
				 took);
		else
			snprintf(text, sizeof(text), "heavy sweep %" PRIu64 ": subnet is up%s",
				 story->number, took);
		break;
	case STORY_UP_WITH_ERRORS:
		severity = FABRIC_SEVERITY_WARNING;
		snprintf(text, sizeof(text),
			 "heavy sweep %" PRIu64 ": subnet is up%s, with errors%s%s", story->number,
			 took, story->result_text ? ": " : "", story->result_text ?: "");
		break;
	default:
		severity =
			story_has_failed(story) ? FABRIC_SEVERITY_WARNING : FABRIC_SEVERITY_NOTICE;
		kind = EVENT_SWEEP_FAILED;
		snprintf(text, sizeof(text), "%s %" PRIu64 " ended%s: %s",
			 story->type == STORY_REROUTE ? "reroute" : "heavy sweep", story->number,
			 took, story->result_text ?: story_result_name(story->result));
	}
	story_event(m, story, kind, severity, story->end_monotonic_usec, story->end_realtime_usec,
		    text);
}

/* A standby's sweeps are told as well, but they are not the subnet's. */
static bool is_of_followed(const struct manager *m, const struct story *story)
{
	const struct plugin *followed = m->ingest.followed;

	return !followed || !followed->sm_guid || !story->sm_port_guid ||
	       followed->sm_guid == story->sm_port_guid;
}

static void tell_untold(struct manager *m)
{
	if (m->sweeps.untold)
		tell_start(m, m->sweeps.untold);
	m->sweeps.untold = story_unref(m->sweeps.untold);
}

void sweeps_tick(struct manager *m)
{
	if (m->sweeps.untold && now_monotonic_usec() - m->sweeps.untold_usec >= SWEEP_CAUSE_USEC)
		tell_untold(m);
}

static void on_told(struct story *story, enum story_step step, void *userdata)
{
	struct manager *m = userdata;

	/* Of two that run at once, the first one has waited long enough. */
	if (m->sweeps.untold && (m->sweeps.untold != story || step == STORY_ENDED))
		tell_untold(m);
	if (m->sweeps.untold && m->sweeps.untold == story && has_cause(story))
		tell_untold(m);
	if (step == STORY_OPENED) {
		append(m, story);
		if (is_of_followed(m, story))
			health_story(m, story);
		if (story->type == STORY_HEAVY) {
			m->sweeps.untold = story_ref(story);
			m->sweeps.untold_usec = now_monotonic_usec();
			if (has_cause(story))
				tell_untold(m);
		}
	}
	if (step == STORY_ENDED) {
		if (is_of_followed(m, story)) {
			story_unref(m->sweeps.ended);
			m->sweeps.ended = story_ref(story);
			health_story(m, story);
			if (story_has_failed(story)) {
				story_unref(m->sweeps.failed);
				m->sweeps.failed = story_ref(story);
			}
		}
		tell_end(m, story);
	}
}

void sweeps_record(struct plugin *plugin, const union ibsm_wire_record *record)
{
	if (plugin->teller &&
	    story_teller_record(plugin->teller, record, plugin->manager->fabric) < 0)
		log_error("no memory for a sweep's story, ignoring");
}

void sweeps_listen(struct plugin *plugin)
{
	union ibsm_wire_record hello = {.hello = plugin->hello};
	struct manager *m = plugin->manager;

	if (plugin->listened_to)
		return;
	plugin->listened_to = true;
	/* One may be there from an earlier connection of the same instance. */
	if (!plugin->teller &&
	    story_teller_new(&m->state.last_sweep, on_told, m, &plugin->teller) < 0) {
		log_error("no memory for sweep stories, ignoring");
		return;
	}
	sweeps_record(plugin, &hello);
	health_self(plugin);
}

const struct story *sweeps_running(const struct plugin *plugin)
{
	return plugin->teller ? story_teller_running(plugin->teller) : NULL;
}

struct story *sweeps_changes(struct plugin *plugin, const struct ibsm_snapshot_header *header,
			     const struct fabric_changes *changes)
{
	struct limits *limits = &plugin->manager->limits;
	struct story *story = NULL;

	if (!plugin->teller)
		return NULL;
	if (story_teller_changes(plugin->teller, header, changes, &story) < 0)
		log_error("no memory for the changes in a sweep's story, ignoring");
	if (story && story->changes_total > IBSM_SWEEP_EVENTS_MAX)
		limit_hit(limits, LIMIT_SWEEP_EVENTS, 1);
	return story;
}
