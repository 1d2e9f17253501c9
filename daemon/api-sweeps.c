// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ListSweeps and GetSweep: the sweeps' stories.
#include <errno.h>
#include <stdlib.h>

#include "daemon/api-internal.h"
#include "fabric/names.h"
#include "util/cleanup.h"

static json_t *sweep_json(const struct story *story)
{
	char cause[STORY_CAUSE_TEXT_BYTES];
	uint64_t duration = story_duration_usec(story);
	json_auto_t *object = NULL;

	object = json_pack(
		"{s:o, s:s, s:o, s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:I}", "number",
		json_number(story->number), "type", story_type_name(story->type),
		"start_realtime_usec", json_number(story->start_realtime_usec),
		"start_monotonic_usec", json_number(story->start_monotonic_usec), "cause",
		story_cause_kind_name(story->cause.kind), "cause_text",
		json_text(story_cause_text(&story->cause, cause, sizeof(cause))), "result",
		story_result_name(story->result), "sm_guid", json_guid(story->sm_port_guid),
		"changes", json_number(story->changes_total), "lft_blocks",
		json_number(story->lft_blocks), "lft_switches", (json_int_t)story->lft_switches);
	if (!object || (duration && !json_put(object, "duration_usec", json_number(duration))) ||
	    (story->result_text &&
	     !json_put(object, "result_text", json_text(story->result_text))) ||
	    (story->engine[0] && !json_put(object, "engine_used", json_text(story->engine))) ||
	    (story->mads_known && !json_put(object, "mads_sent", json_number(story->mads_sent))))
		return NULL;
	return TAKE_PTR(object);
}

static json_t *phases_json(const struct story *story)
{
	json_auto_t *list = json_array();

	for (unsigned i = 0; i < STORY_PHASES; i++) {
		const struct story_phase_times *times = &story->phases[i];
		json_auto_t *phase = NULL;

		if (!times->start_monotonic_usec)
			continue;
		phase = json_pack("{s:s, s:o}", "name", story_phase_name(i), "start_realtime_usec",
				  json_number(times->start_realtime_usec));
		if (!phase || (times->end_monotonic_usec &&
			       !json_put(phase, "duration_usec",
					 json_number(times->end_monotonic_usec -
						     times->start_monotonic_usec))))
			return NULL;
		json_array_append(list, phase);
	}
	return json_incref(list);
}

static json_t *cause_json(const struct story_cause *cause)
{
	char text[STORY_CAUSE_TEXT_BYTES];
	json_auto_t *object = NULL;

	object = json_pack("{s:s, s:o, s:o, s:I}", "kind", story_cause_kind_name(cause->kind),
			   "realtime_usec", json_number(cause->realtime_usec), "text",
			   json_text(story_cause_text(cause, text, sizeof(text))), "count",
			   (json_int_t)cause->count);
	if (!object || (cause->trap && !json_put(object, "trap", json_integer(cause->trap))) ||
	    (cause->sender.name && !json_put(object, "node", json_end(&cause->sender))))
		return NULL;
	return TAKE_PTR(object);
}

/* The main one first. */
static json_t *causes_json(const struct story *story)
{
	json_auto_t *list = json_array();

	if (json_array_append_new(list, cause_json(&story->cause)) < 0)
		return NULL;
	for (size_t i = 0; i < story->further_count; i++)
		if (json_array_append_new(list, cause_json(&story->further[i])) < 0)
			return NULL;
	return json_incref(list);
}

/* In the shape of events, at the time when the snapshot that shows them was taken. */
static json_t *changes_json(const struct story *story)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; story->changes && i < story->changes->count; i++) {
		struct event *event = event_from_change(&story->changes->changes[i]);
		int r;

		if (!event)
			return NULL;
		event->number = 0; /* absent */
		event->sweep = story->number;
		event->monotonic_usec = story->snapshot_monotonic_usec;
		event->realtime_usec =
			story->start_realtime_usec +
			(story->snapshot_monotonic_usec - story->start_monotonic_usec);
		r = json_array_append_new(list, json_event(event));
		event_free(event);
		if (r < 0)
			return NULL;
	}
	return json_incref(list);
}

static json_t *lft_json(const struct story *story, size_t *ret_listed)
{
	struct story_lft_switch top[STORY_LFT_TOP];
	size_t n = story_lft_top(story, top, ELEMENTSOF(top));
	json_auto_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		const char *name = top[i].name ?: GUID_STRING(top[i].node_guid);

		if (json_array_append_new(list, json_pack("{s:o, s:o, s:I}", "guid",
							  json_guid(top[i].node_guid), "name",
							  json_text(name), "blocks",
							  (json_int_t)top[i].blocks)) < 0)
			return NULL;
	}
	*ret_listed = n;
	return json_incref(list);
}

static json_t *story_json(const struct story *story)
{
	json_auto_t *changes = changes_json(story);
	size_t listed = 0;
	json_t *lft = lft_json(story, &listed);

	return json_pack("{s:o, s:o, s:O, s:o, s:o, s:o}", "phases", phases_json(story), "causes",
			 causes_json(story), "changes", changes, "changes_not_listed",
			 json_number(story->changes_total - json_array_size(changes)), "lft", lft,
			 "lft_not_listed", json_number(story->lft_switches - listed));
}

struct sweep_list {
	struct manager *manager;
	uint64_t next;
	uint64_t end; /* as it was at the call */
};

static int sweep_list_next(void *userdata, json_t **ret_item)
{
	struct sweep_list *list = userdata;
	const struct sweeps *sweeps = &list->manager->sweeps;

	/* Some may have gone since. */
	if (list->next < sweeps_first(sweeps))
		list->next = sweeps_first(sweeps);
	if (list->next > list->end)
		return 0;
	*ret_item = sweep_json(sweeps_get(sweeps, list->next++));
	return *ret_item ? 1 : -ENOMEM;
}

int api_list_sweeps(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;
	uint64_t count = UINT64_MAX;
	struct sweep_list *list;

	if (!api_number(parameters, "count", &count))
		return varlink_call_invalid_parameter(call, "count");
	list = malloc(sizeof(*list));
	if (!list)
		return -ENOMEM;
	*list = (struct sweep_list){
		.manager = m,
		.next = sweeps_first(&m->sweeps),
		.end = m->sweeps.newest,
	};
	if (count < m->sweeps.kept)
		list->next = m->sweeps.newest + 1 - count;
	return api_reply_list(call, "sweeps", sweep_list_next, free, list, NULL);
}

int api_get_sweep(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;
	uint64_t number = m->sweeps.newest;
	json_auto_t *error = NULL;
	const struct story *story;

	if (!api_number(parameters, "number", &number))
		return varlink_call_invalid_parameter(call, "number");
	story = sweeps_get(&m->sweeps, number);
	if (story)
		return varlink_call_reply(call, json_pack("{s:o, s:o}", "sweep", sweep_json(story),
							  "story", story_json(story)));
	error = json_pack("{s:o}", "number", json_number(number));
	if (m->sweeps.kept && (!json_put(error, "first", json_number(sweeps_first(&m->sweeps))) ||
			       !json_put(error, "last", json_number(m->sweeps.newest))))
		return -ENOMEM;
	return varlink_call_error(call, API_ERROR("NoSuchSweep"), TAKE_PTR(error));
}
